variable "kafka_brokers" {
  type        = number
  default     = 6
  description = "Brokers; a multiple of the number of zones, and enough for the replicas of all partitions: docs/capacity.md."
}

variable "kafka_instance_type" {
  type        = string
  default     = "kafka.m7g.large"
  description = "Size of a broker."
}

variable "kafka_volume_size" {
  type        = number
  default     = 100
  description = "GiB of a broker at first."
}

variable "kafka_volume_size_max" {
  type        = number
  default     = 1000
  description = "GiB to which it may grow."
}

variable "kafka_replication" {
  type        = number
  default     = 3
  description = "The setting kafka_replication."
}

variable "redis_node_type" {
  type        = string
  default     = "cache.r7g.large"
  description = "Size of a node of Redis."
}

variable "redis_nodes" {
  type        = number
  default     = 2
  description = "Primary and replicas of Redis."

  validation {
    condition     = contains(range(1, 7), var.redis_nodes)
    error_message = "redis_nodes must be a whole number from 1 to 6."
  }
}

variable "redis_replicas" {
  type        = number
  default     = 0
  description = "The setting redis_replicas."
}

variable "redis_password" {
  type        = string
  sensitive   = true
  description = "Password of Redis; it ends in the state, which has to be guarded."
}

variable "zookeeper_nodes" {
  type        = number
  default     = 3
  description = "Nodes of ZooKeeper."
}

variable "zookeeper_instance_type" {
  type        = string
  default     = "m7g.medium"
  description = "Size of a node of ZooKeeper."
}

variable "cassandra_nodes" {
  type        = number
  default     = 3
  description = "Nodes of Cassandra."
}

variable "cassandra_instance_type" {
  type        = string
  default     = "r7g.xlarge"
  description = "Size of a node of Cassandra."
}

variable "cassandra_volume_size" {
  type        = number
  default     = 500
  description = "GiB of a node of Cassandra."
}

variable "cassandra_heap_size" {
  type        = string
  default     = "8G"
  description = "Java heap of a node of Cassandra."
}

variable "cassandra_replication" {
  type        = number
  default     = 3
  description = "The setting cassandra_replication."
}

variable "opensearch_nodes" {
  type        = number
  default     = 0
  description = "Nodes of OpenSearch, 1, 3, 5 or 7; 0: none, or one that settings.opensearch names, such as Amazon OpenSearch."
}

variable "opensearch_instance_type" {
  type        = string
  default     = "m7g.large"
  description = "Size of a node of OpenSearch."
}

variable "opensearch_volume_size" {
  type        = number
  default     = 100
  description = "GiB of a node of OpenSearch."
}

variable "opensearch_heap_size" {
  type        = string
  default     = "4G"
  description = "Java heap of a node of OpenSearch."
}

variable "index_workers" {
  type        = number
  default     = 0
  description = "Workers of the index on EC2; 0: none."

  validation {
    condition     = var.index_workers == 0 || var.opensearch_nodes > 0 || can(var.settings.opensearch)
    error_message = "index_workers must be 0 where there is no OpenSearch: opensearch_nodes or settings.opensearch."
  }
}

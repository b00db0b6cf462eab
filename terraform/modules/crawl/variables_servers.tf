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
  description = "Nodes of OpenSearch on machines of its own, 1, 3, 5 or 7; 0: none, or Amazon OpenSearch, or one that settings.opensearch names."
}

variable "opensearch_domain_nodes" {
  type        = number
  default     = 0
  description = "Nodes of Amazon OpenSearch instead, a multiple of the number of zones, or one; 0: none."

  validation {
    condition     = var.opensearch_domain_nodes == 0 || (var.opensearch_nodes == 0 && !can(var.settings.opensearch))
    error_message = "opensearch_domain_nodes must be 0 where there is another OpenSearch: opensearch_nodes or settings.opensearch."
  }
}

variable "opensearch_domain_instance_type" {
  type        = string
  default     = "m7g.large.search"
  description = "Size of a node of Amazon OpenSearch."
}

variable "opensearch_domain_managers" {
  type        = number
  default     = 0
  description = "Nodes of Amazon OpenSearch that lead and hold nothing: 0, 3 or 5."
}

variable "opensearch_password" {
  type        = string
  default     = null
  sensitive   = true
  description = "Password of the workers' user of Amazon OpenSearch; it ends in the state, which has to be guarded."

  validation {
    condition     = var.opensearch_domain_nodes == 0 || var.opensearch_password != null
    error_message = "opensearch_password must be given with opensearch_domain_nodes."
  }
}

variable "opensearch_instance_type" {
  type        = string
  default     = "m7g.large"
  description = "Size of a node of OpenSearch."
}

variable "opensearch_volume_size" {
  type        = number
  default     = 100
  description = "GiB of a node of OpenSearch, be it Amazon's."
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
    condition     = var.index_workers == 0 || var.opensearch_nodes + var.opensearch_domain_nodes > 0 || can(var.settings.opensearch)
    error_message = "index_workers must be 0 where there is no OpenSearch: opensearch_nodes, opensearch_domain_nodes or settings.opensearch."
  }
}

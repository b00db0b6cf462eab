variable "region" {
  type        = string
  default     = "us-east-1"
  description = "The AWS region."

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be an AWS region, for example us-east-1."
  }
}

variable "zones" {
  type        = list(string)
  default     = ["us-east-1a", "us-east-1b", "us-east-1c"]
  description = "Its availability zones."

  validation {
    condition     = alltrue([for zone in var.zones : startswith(zone, var.region)])
    error_message = "zones must be availability zones of the region."
  }
}

variable "name" {
  type        = string
  default     = "gregor"
  description = "What everything is named after."
}

variable "crawl" {
  type        = string
  default     = "crawl"
  description = "The setting crawl."
}

variable "partitions" {
  type        = number
  default     = 256
  description = "The setting partitions; fixed once per crawl."
}

variable "user_agent" {
  type        = string
  description = "The setting user_agent, with a contact."
}

variable "settings" {
  type        = any
  default     = {}
  description = "More settings, named as the config's fields."
}

variable "image" {
  type        = string
  description = "The crawler's image, by digest or version."
}

variable "repository_arn" {
  type        = string
  default     = ""
  description = "The image's repository in ECR; empty: another registry."
}

variable "redis_password" {
  type        = string
  sensitive   = true
  description = "Password of Redis; it ends in the state, which has to be guarded."
}

variable "mail" {
  type        = list(string)
  default     = []
  description = "Who hears alarms."
}

variable "workers_min" {
  type        = number
  default     = 3
  description = "Workers at least."
}

variable "workers_max" {
  type        = number
  default     = 30
  description = "Workers at most."
}

variable "spot" {
  type        = bool
  default     = true
  description = "Spot machines for workers beyond the first."
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
  default     = 2500
  description = "GiB of a node of Cassandra."
}

variable "budget" {
  type        = number
  default     = 5500
  description = "USD a month, of the whole account."
}

variable "schedules" {
  type        = map(object({ recurrence = string, workers = number }))
  default     = {}
  description = "By name: at which times (cron, UTC) how many workers; 0 stops the crawl, which goes on later."
}

variable "kafka_brokers" {
  type        = number
  default     = 6
  description = "Brokers of Kafka; a multiple of the number of zones, and enough for the replicas of all partitions: docs/capacity.md."
}

variable "kafka_instance_type" {
  type        = string
  default     = "kafka.m7g.large"
  description = "Size of a broker."
}

variable "kafka_volume_size" {
  type        = number
  default     = 250
  description = "GiB of a broker at first."
}

variable "kafka_volume_size_max" {
  type        = number
  default     = 1000
  description = "GiB to which it may grow."
}

variable "redis_node_type" {
  type        = string
  default     = "cache.r7g.large"
  description = "Size of a node of Redis."
}

variable "redis_nodes" {
  type        = number
  default     = 3
  description = "Primary and replicas of Redis; one replica has whatever is taken as written."
}

variable "worker_instance_type" {
  type        = string
  default     = "c7g.medium"
  description = "Size of a worker's machine; a worker uses one core."
}

variable "opensearch_nodes" {
  type        = number
  default     = 0
  description = "Nodes of OpenSearch on machines of its own, which has the index of what is crawled; 0: none."
}

variable "index_workers" {
  type        = number
  default     = 0
  description = "Workers of the index."
}

variable "opensearch_domain_nodes" {
  type        = number
  default     = 0
  description = "Nodes of Amazon OpenSearch instead, a multiple of the number of zones; 0: none."
}

variable "opensearch_password" {
  type        = string
  default     = null
  sensitive   = true
  description = "Password of its user; it ends in the state, which has to be guarded."
}

variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "cidr" {
  type        = string
  default     = "10.80.0.0/16"
  description = "The addresses of the VPC."
}

variable "zones" {
  type        = list(string)
  description = "Availability zones."

  validation {
    condition     = length(var.zones) >= 2 && length(var.zones) <= 3
    error_message = "zones must be two or three availability zones: MSK takes no other number."
  }
}

variable "one_nat" {
  type        = bool
  default     = false
  description = "One NAT gateway for all zones."
}

variable "endpoints" {
  type        = list(string)
  default     = []
  description = "AWS services that are reached without the NAT, besides S3: ecr.api, ecr.dkr, logs, secretsmanager."
}

variable "workers_on" {
  type        = string
  default     = "ec2"
  description = "Where workers run: ec2, or kubernetes, which is not made here."

  validation {
    condition     = contains(["ec2", "kubernetes"], var.workers_on)
    error_message = "workers_on must be ec2 or kubernetes."
  }
}

variable "exports_keep_days" {
  type        = number
  default     = 365
  description = "Days after which an export is deleted."
}

variable "exports_force_destroy" {
  type        = bool
  default     = false
  description = "Whether `terraform destroy` deletes exports; else it stops at a bucket that holds any."
}

variable "crawl" {
  type        = string
  default     = "crawl"
  description = "The setting crawl."

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{0,62}$", var.crawl))
    error_message = "crawl must be at most 63 of a-z, 0-9 and -."
  }
}

variable "partitions" {
  type        = number
  default     = 256
  description = "The setting partitions; fixed once per crawl."

  validation {
    condition     = var.partitions >= 1 && var.partitions <= 65536 && floor(var.partitions) == var.partitions
    error_message = "partitions must be a whole number from 1 to 65536."
  }
}

variable "user_agent" {
  type        = string
  description = "The setting user_agent, with a contact."

  validation {
    condition     = can(regex("^[!-~][ -~]*(https?://|@)", var.user_agent))
    error_message = "user_agent must name a contact: a URL or a mail address."
  }
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

variable "worker_instance_type" {
  type        = string
  default     = "c7g.medium"
  description = "Size of a worker's machine."
}

variable "workers_min" {
  type        = number
  default     = 2
  description = "Workers at least."
}

variable "workers_max" {
  type        = number
  default     = 10
  description = "Workers at most."
}

variable "spot" {
  type        = bool
  default     = false
  description = "Spot machines for workers beyond the first."
}

variable "kafka_brokers" {
  type        = number
  default     = 3
  description = "Brokers; a multiple of the number of zones."
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
    condition     = var.redis_nodes >= 1 && var.redis_nodes <= 6
    error_message = "redis_nodes must be from 1 to 6."
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

variable "mail" {
  type        = list(string)
  default     = []
  description = "Who hears alarms."
}

variable "budget" {
  type        = number
  default     = 500
  description = "USD a month, of the whole account."
}

variable "schedules" {
  type        = map(object({ recurrence = string, workers = number }))
  default     = {}
  description = "By name: at which times (cron, UTC) how many workers; 0 stops the crawl, which goes on later."
}

variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "vpc_id" {
  type        = string
  description = "The VPC."
}

variable "client_security_group_id" {
  type        = string
  description = "The security group of the workers, the only clients."
}

variable "kms_key_arn" {
  type        = string
  description = "The key that encrypts what is at rest."
}

variable "subnet_ids" {
  type        = list(string)
  description = "Private subnets, one a zone; MSK wants two or three."

  validation {
    condition     = contains([2, 3], length(var.subnet_ids))
    error_message = "subnet_ids must be the subnets of two or three zones: MSK takes no other number."
  }
}

variable "crawl" {
  type        = string
  description = "The setting crawl: topics and group are named after it."
}

variable "kafka_replication" {
  type        = number
  default     = 3
  description = "The setting kafka_replication."

  validation {
    condition     = var.kafka_replication >= 1 && var.kafka_replication <= var.brokers && floor(var.kafka_replication) == var.kafka_replication
    error_message = "kafka_replication must be a whole number from 1 to the number of brokers."
  }
}

variable "kafka_version" {
  type        = string
  default     = "3.9.x.kraft"
  description = "Version of MSK."

  validation {
    condition     = can(regex("^[0-9]+[.][0-9]+[.]([0-9]+|x)([.]kraft)?$", var.kafka_version))
    error_message = "kafka_version must be a version as MSK names it, for example 3.9.x.kraft."
  }
}

variable "brokers" {
  type        = number
  default     = 3
  description = "Brokers; a multiple of the number of subnets."

  validation {
    condition     = var.brokers >= 1 && var.brokers % length(var.subnet_ids) == 0
    error_message = "brokers must be a multiple of the number of subnets."
  }
}

variable "instance_type" {
  type        = string
  default     = "kafka.m7g.large"
  description = "Size of a broker."

  validation {
    condition     = startswith(var.instance_type, "kafka.")
    error_message = "instance_type must be one of MSK's, for example kafka.m7g.large."
  }
}

variable "volume_size" {
  type        = number
  default     = 100
  description = "GiB of a broker. It grows by itself when it fills up; then say here what it has grown to: MSK takes no smaller one."

  validation {
    condition     = var.volume_size >= 1 && var.volume_size <= var.volume_size_max && floor(var.volume_size) == var.volume_size
    error_message = "volume_size must be a whole number from 1 to volume_size_max."
  }
}

variable "volume_size_max" {
  type        = number
  default     = 1000
  description = "GiB to which it may grow."

  validation {
    condition     = var.volume_size_max <= 16384 && floor(var.volume_size_max) == var.volume_size_max
    error_message = "volume_size_max must be a whole number of at most 16384."
  }
}

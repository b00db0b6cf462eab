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
  description = "Private subnets, one a zone."
}

variable "node_type" {
  type        = string
  default     = "cache.r7g.large"
  description = "Size of a node."

  validation {
    condition     = startswith(var.node_type, "cache.")
    error_message = "node_type must be one of ElastiCache's, for example cache.r7g.large."
  }
}

variable "replicas" {
  type        = number
  default     = 1
  description = "Replicas of the primary, in other zones; 0: a loss is rebuilt from Cassandra."

  validation {
    condition     = contains(range(6), var.replicas)
    error_message = "replicas must be a whole number from 0 to 5."
  }
}

variable "redis_replicas" {
  type        = number
  default     = 0
  description = "The setting redis_replicas: how many must have what is written."

  validation {
    condition     = contains(range(var.replicas + 1), var.redis_replicas)
    error_message = "redis_replicas must be a whole number from 0 to the number of replicas."
  }
}

variable "redis_password" {
  type        = string
  sensitive   = true
  description = "Its password, 16 to 128 letters and digits."

  validation {
    condition     = can(regex("^[A-Za-z0-9]{16,128}$", var.redis_password))
    error_message = "redis_password must be 16 to 128 letters and digits."
  }
}

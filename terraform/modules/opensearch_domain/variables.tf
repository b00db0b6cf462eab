variable "name" {
  type        = string
  description = "What everything is named after, the domain too."

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,27}$", var.name))
    error_message = "name must be 3 to 28 of a-z, 0-9 and -, a letter first: Amazon OpenSearch takes no other."
  }
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
  description = "Private subnets, one a zone: one, two or three."

  validation {
    condition     = contains([1, 2, 3], length(var.subnet_ids))
    error_message = "subnet_ids must be one, two or three subnets."
  }
}

variable "engine_version" {
  type        = string
  default     = "OpenSearch_2.19"
  description = "Its version, 2.11 or later."

  validation {
    condition     = can(regex("^OpenSearch_(2[.](1[1-9]|[2-9][0-9])|[3-9][.][0-9]+)$", var.engine_version))
    error_message = "engine_version must be OpenSearch_2.11 or later."
  }
}

variable "instance_type" {
  type        = string
  default     = "m7g.large.search"
  description = "Size of a node."

  # Smaller ones know neither encryption nor users of their own.
  validation {
    condition     = can(regex("^[a-z0-9]+[.][a-z0-9]+[.]search$", var.instance_type)) && !can(regex("^(t2|m3)[.]", var.instance_type))
    error_message = "instance_type must be one of Amazon OpenSearch's that encrypts, for example m7g.large.search."
  }
}

variable "nodes" {
  type        = number
  default     = 3
  description = "Nodes that hold the index; over several zones a multiple of their number."

  validation {
    condition     = var.nodes >= 1 && var.nodes <= 80 && var.nodes % max(1, length(var.subnet_ids)) == 0
    error_message = "nodes must be a whole number from 1 to 80, and a multiple of the number of subnets."
  }
}

variable "managers" {
  type        = number
  default     = 0
  description = "Nodes that lead the cluster and hold nothing: 3 or 5; 0: those that hold the index do it, which takes three of them."

  validation {
    condition     = contains([0, 3, 5], var.managers)
    error_message = "managers must be 0, 3 or 5."
  }
}

variable "manager_instance_type" {
  type        = string
  default     = "m7g.medium.search"
  description = "Size of a node that leads."

  validation {
    condition     = endswith(var.manager_instance_type, ".search")
    error_message = "manager_instance_type must be one of Amazon OpenSearch's, for example m7g.medium.search."
  }
}

variable "volume_size" {
  type        = number
  default     = 100
  description = "GiB of a node's disk."

  validation {
    condition     = var.volume_size >= 10 && var.volume_size <= 16384 && floor(var.volume_size) == var.volume_size
    error_message = "volume_size must be a whole number from 10 to 16384."
  }
}

variable "username" {
  type        = string
  default     = "gregor"
  description = "The user by which workers ask: the setting opensearch_username."

  validation {
    condition     = can(regex("^[A-Za-z0-9._-]{1,64}$", var.username))
    error_message = "username must be 1 to 64 letters, digits, dots, dashes and underscores."
  }
}

variable "opensearch_password" {
  type        = string
  sensitive   = true
  description = "Its password: 12 to 128 characters without spaces, of each of capitals, small letters, digits and others."

  validation {
    condition = alltrue([
      for form in ["^[!-~]{12,128}$", "[A-Z]", "[a-z]", "[0-9]", "[^A-Za-z0-9]"] : can(regex(form, var.opensearch_password))
    ])
    error_message = "opensearch_password must be 12 to 128 characters without spaces, with a capital, a small letter, a digit and another one."
  }
}

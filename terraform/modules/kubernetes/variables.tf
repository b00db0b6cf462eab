variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "subnets" {
  type        = map(string)
  description = "Private subnets by zone."

  validation {
    condition     = length(var.subnets) >= 2
    error_message = "subnets must be those of at least two zones: EKS takes no fewer."
  }
}

variable "security_group_id" {
  type        = string
  description = "The security group of the workers, which the servers let in."
}

variable "kms_key_arn" {
  type        = string
  description = "The key that encrypts what is at rest."
}

variable "policy" {
  type        = string
  description = "The IAM policy of a worker: what Kafka lets it do, and where exports go."
}

variable "kubernetes_version" {
  type        = string
  default     = "1.34"
  description = "Version of EKS."

  validation {
    condition     = can(regex("^1[.][0-9]{2}$", var.kubernetes_version))
    error_message = "kubernetes_version must be like 1.34."
  }
}

variable "api_cidrs" {
  type        = list(string)
  default     = []
  description = "Networks that may reach the Kubernetes API from outside the VPC; empty: none."

  validation {
    condition     = alltrue([for cidr in var.api_cidrs : can(cidrnetmask(cidr)) && !endswith(cidr, "/0")])
    error_message = "api_cidrs must be IPv4 networks, and not the whole world."
  }
}

# Only of these types EC2 encrypts what goes from machine to machine.
variable "instance_type" {
  type        = string
  default     = "c7g.xlarge"
  description = "Size of a node: four CPUs hold three workers."

  validation {
    condition     = can(regex("^[a-z]+(5n|5dn|6i|6in|6id|6a|6g|6gd|6gn|7i|7a|7g|7gd|7gn|8g|8gd)[.]xlarge$", var.instance_type))
    error_message = "instance_type must be an xlarge whose traffic EC2 encrypts by itself, for example c7g.xlarge."
  }
}

variable "workers" {
  type        = number
  default     = 3
  description = "Workers that the nodes have to hold."

  validation {
    condition     = var.workers >= 1 && floor(var.workers) == var.workers
    error_message = "workers must be a whole number from 1."
  }
}

variable "index_workers" {
  type        = number
  default     = 0
  description = "Workers of the index that the nodes have to hold besides."

  validation {
    condition     = var.index_workers >= 0 && floor(var.index_workers) == var.index_workers
    error_message = "index_workers must be a whole number from 0."
  }
}

variable "spot" {
  type        = bool
  default     = false
  description = "Spot machines: cheaper, taken back with two minutes' notice, which is enough to let go."
}

variable "namespace" {
  type        = string
  default     = "crawl"
  description = "The namespace of the release."

  validation {
    condition     = can(regex("^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", var.namespace))
    error_message = "namespace must be at most 63 of a-z, 0-9 and -."
  }
}

variable "release" {
  type        = string
  default     = "crawl"
  description = "The name of the chart's release; the workers' service account is named after it."

  validation {
    condition     = can(regex("^[a-z0-9]([-a-z0-9]{0,41}[a-z0-9])?$", var.release))
    error_message = "release must be at most 43 of a-z, 0-9 and -."
  }
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

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

variable "subnets" {
  type        = map(string)
  description = "Private subnets by zone."
}

variable "zone_id" {
  type        = string
  description = "The private DNS zone of the nodes' names."
}

variable "domain" {
  type        = string
  description = "Its name."
}

variable "volume_size" {
  type        = number
  default     = 100
  description = "GiB of a node's disk."

  validation {
    condition     = var.volume_size >= 8 && var.volume_size <= 16384 && floor(var.volume_size) == var.volume_size
    error_message = "volume_size must be a whole number from 8 to 16384."
  }
}

# Only of these types EC2 encrypts what goes from machine to machine, which is the encryption in transit here.
variable "instance_type" {
  type        = string
  default     = "m7g.large"
  description = "Size of a node."

  validation {
    condition     = can(regex("^[a-z]+(5n|5dn|6i|6in|6id|6a|6g|6gd|6gn|7i|7a|7g|7gd|7gn|8g|8gd)[.]", var.instance_type))
    error_message = "instance_type must be one whose traffic EC2 encrypts by itself, for example m7g.large."
  }
}

variable "nodes" {
  type        = number
  default     = 3
  description = "Nodes; an odd number, so that more than half can agree."

  validation {
    condition     = contains([1, 3, 5, 7], var.nodes)
    error_message = "nodes must be 1, 3, 5 or 7."
  }
}

variable "heap_size" {
  type        = string
  default     = "4G"
  description = "Java heap of a node: half of its memory at most."

  validation {
    condition     = can(regex("^[1-9][0-9]*[MG]$", var.heap_size))
    error_message = "heap_size must be a number of M or G, for example 4G."
  }
}

variable "snapshots" {
  type        = number
  default     = 1
  description = "How many daily snapshots of each disk are kept: the index can be made anew from what is stored."
}

variable "image" {
  type        = string
  default     = "docker.io/opensearchproject/opensearch:3.9.0"
  description = "Its container image."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

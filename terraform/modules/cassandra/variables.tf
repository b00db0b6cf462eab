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
  default     = 500
  description = "GiB of a node's disk."

  validation {
    condition     = var.volume_size >= 8 && var.volume_size <= 16384 && floor(var.volume_size) == var.volume_size
    error_message = "volume_size must be a whole number from 8 to 16384."
  }
}

# Only of these types EC2 encrypts what goes from machine to machine, which is the encryption in transit here.
variable "instance_type" {
  type        = string
  default     = "r7g.xlarge"
  description = "Size of a node."

  validation {
    condition     = can(regex("^[a-z]+(5n|5dn|6i|6in|6id|6a|6g|6gd|6gn|7i|7a|7g|7gd|7gn|8g|8gd)[.]", var.instance_type))
    error_message = "instance_type must be one whose traffic EC2 encrypts by itself, for example m7g.large."
  }
}

variable "nodes" {
  type        = number
  default     = 3
  description = "Nodes."

  validation {
    condition     = contains(range(1, 100), var.nodes)
    error_message = "nodes must be a whole number from 1 to 99."
  }
}

variable "cassandra_replication" {
  type        = number
  default     = 3
  description = "The setting cassandra_replication."

  validation {
    condition     = contains(range(1, var.nodes + 1), var.cassandra_replication)
    error_message = "cassandra_replication must be a whole number from 1 to the number of nodes."
  }
}

variable "cassandra_datacenter" {
  type        = string
  default     = "crawl"
  description = "The setting cassandra_datacenter."

  validation {
    condition     = can(regex("^[A-Za-z0-9_-]+$", var.cassandra_datacenter))
    error_message = "cassandra_datacenter must be letters, digits, _ and -."
  }
}

variable "heap_size" {
  type        = string
  default     = "8G"
  description = "Java heap of a node, about a quarter of its memory."

  validation {
    condition     = can(regex("^[1-9][0-9]*[MG]$", var.heap_size))
    error_message = "heap_size must be like 8G or 800M."
  }
}

variable "image" {
  type        = string
  default     = "docker.io/library/cassandra:5.0.6"
  description = "Its container image."
}

variable "snapshots" {
  type        = number
  default     = 7
  description = "How many daily snapshots of each disk are kept."

  validation {
    condition     = var.snapshots >= 1 && var.snapshots <= 1000 && floor(var.snapshots) == var.snapshots
    error_message = "snapshots must be a whole number from 1 to 1000."
  }
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

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
  default     = 20
  description = "GiB of a node's disk."

  validation {
    condition     = var.volume_size >= 8 && var.volume_size <= 16384 && floor(var.volume_size) == var.volume_size
    error_message = "volume_size must be a whole number from 8 to 16384."
  }
}

# Only of these types EC2 encrypts what goes from machine to machine, which is the encryption in transit here.
variable "instance_type" {
  type        = string
  default     = "m7g.medium"
  description = "Size of a node."

  validation {
    condition     = can(regex("^[a-z]+(5n|5dn|6i|6in|6id|6a|6g|6gd|6gn|7i|7a|7g|7gd|7gn|8g|8gd)[.]", var.instance_type))
    error_message = "instance_type must be one whose traffic EC2 encrypts by itself, for example m7g.large."
  }
}

variable "nodes" {
  type        = number
  default     = 3
  description = "Nodes, spread over the zones."
}

variable "kind" {
  type        = string
  description = "What they are, a part of their names."
}

variable "architecture" {
  type        = string
  default     = "arm64"
  description = "Of the instance type: arm64 or x86_64."
}

variable "image" {
  type        = string
  description = "The server's container image."
}

variable "user" {
  type        = string
  description = "UID:GID of the server in its image."
}

variable "mount" {
  type        = string
  description = "Where the server keeps its data."
}

variable "environment" {
  type        = map(string)
  description = "Environment of the server."
}

variable "environment_by_node" {
  type        = map(string)
  default     = {}
  description = "More of it, in which NODE stands for its number, OTHERS for the names of other nodes, ZONE for its zone, ADDRESS for its address."
}

variable "before" {
  type        = string
  default     = ""
  description = "Shell before each start of the server, with number, address, others, joined (yes, if it ever was ready) and data (its disk): what it prints is added to the server's environment."
}

variable "ready" {
  type        = string
  default     = "true"
  description = "Shell that succeeds once the node is one of them."
}

variable "timers" {
  type        = map(object({ on = string, command = string }))
  default     = {}
  description = "What is done from time to time, by name: when (a calendar of systemd; DAY stands for another weekday for each node), and a command."
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

variable "client_port" {
  type        = number
  description = "What clients connect to."
}

variable "metrics_ports" {
  type        = list(number)
  default     = []
  description = "Where the server itself, or its agent, serves Prometheus; the machine does at 9100."
}

variable "node_exporter_image" {
  type        = string
  default     = "docker.io/prom/node-exporter:v1.9.1"
  description = "node_exporter, for the machine's disks and memory."
}

variable "agent_config" {
  type        = string
  default     = ""
  description = "What jmx_exporter tells of the server's Java machine, at port 7070; empty: there is none."
}

variable "agent_options" {
  type        = string
  default     = "JVM_EXTRA_OPTS"
  description = "The variable by which the server's image takes options of its Java machine."
}

variable "agent_image" {
  type        = string
  default     = "docker.io/library/maven:3.9.11-eclipse-temurin-17"
  description = "Maven, which fetches the agent."
}

variable "peer_ports" {
  type        = list(number)
  description = "What the nodes connect to among themselves."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

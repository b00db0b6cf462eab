variable "name" {
  type        = string
  description = "What everything is named after."

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,20}$", var.name))
    error_message = "name must begin with a letter and have at most 21 of a-z, 0-9 and -."
  }
}

variable "cidr" {
  type        = string
  default     = "10.80.0.0/16"
  description = "The addresses of the VPC, a /16 to /20."

  validation {
    condition     = can(cidrnetmask(var.cidr)) && tonumber(split("/", var.cidr)[1]) >= 16 && tonumber(split("/", var.cidr)[1]) <= 20
    error_message = "cidr must be an IPv4 network from /16 to /20, for example 10.80.0.0/16."
  }
}

variable "zones" {
  type        = list(string)
  description = "Availability zones; three for servers that survive the loss of one."

  validation {
    condition     = length(var.zones) >= 1 && length(var.zones) <= 6 && length(distinct(var.zones)) == length(var.zones)
    error_message = "zones must be one to six different availability zones."
  }
}

variable "one_nat" {
  type        = bool
  default     = false
  description = "One NAT gateway for all zones: cheaper, and gone with its zone."
}

variable "endpoints" {
  type        = list(string)
  default     = []
  description = "AWS services that are reached without the NAT, besides S3: ecr.api, ecr.dkr, logs, secretsmanager."

  validation {
    condition     = length(setsubtract(var.endpoints, ["ecr.api", "ecr.dkr", "logs", "secretsmanager"])) == 0
    error_message = "endpoints may hold ecr.api, ecr.dkr, logs and secretsmanager."
  }
}

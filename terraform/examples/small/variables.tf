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
  default     = ["us-east-1a", "us-east-1b"]
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
  default     = 32
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

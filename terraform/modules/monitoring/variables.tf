variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "kms_key_arn" {
  type        = string
  description = "The key that encrypts what is at rest."
}

variable "mail" {
  type        = list(string)
  default     = []
  description = "Who hears alarms; without anybody there is no budget alarm."

  validation {
    condition     = alltrue([for address in var.mail : can(regex("^[^@\\s]+@[^@\\s]+$", address))])
    error_message = "mail must be a list of mail addresses."
  }
}

variable "budget" {
  type        = number
  default     = 500
  description = "USD a month, of the whole account."

  validation {
    condition     = var.budget > 0
    error_message = "budget must be more than 0."
  }
}

variable "kafka_cluster" {
  type        = string
  description = "The MSK cluster's name."
}

variable "kafka_brokers" {
  type        = number
  description = "How many brokers it has."
}

variable "redis_nodes" {
  type        = list(string)
  description = "Names of Redis's nodes."
}

variable "nat_gateways" {
  type        = map(string)
  description = "NAT gateways by zone."
}

variable "server_groups" {
  type        = list(string)
  description = "Auto-scaling groups of servers, each of one machine."
}

variable "domains" {
  type        = list(string)
  default     = []
  description = "Domains of Amazon OpenSearch."
}

variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "cidr" {
  type        = string
  default     = "10.80.0.0/16"
  description = "The addresses of the VPC."
}

variable "zones" {
  type        = list(string)
  description = "Availability zones."

  validation {
    condition     = length(var.zones) >= 2 && length(var.zones) <= 3
    error_message = "zones must be two or three availability zones: MSK takes no other number."
  }
}

variable "one_nat" {
  type        = bool
  default     = false
  description = "One NAT gateway for all zones."
}

variable "endpoints" {
  type        = list(string)
  default     = []
  description = "AWS services that are reached without the NAT, besides S3: ecr.api, ecr.dkr, logs, secretsmanager."
}

variable "workers_on" {
  type        = string
  default     = "ec2"
  description = "Where workers run: ec2, or kubernetes, which is not made here."

  validation {
    condition     = contains(["ec2", "kubernetes"], var.workers_on)
    error_message = "workers_on must be ec2 or kubernetes."
  }
}

variable "console" {
  type        = bool
  default     = false
  description = "A machine for the console of the whole crawl; each worker shows itself anyway."
}

variable "recrawl" {
  type        = string
  default     = ""
  description = "When the console's machine asks that all is visited again, as systemd's OnCalendar has it (daily, *-*-* 03:00:00); empty: never. With Kubernetes the chart has recrawl.schedule."
}

variable "exports_keep_days" {
  type        = number
  default     = 365
  description = "Days after which an export is deleted."
}

variable "exports_force_destroy" {
  type        = bool
  default     = false
  description = "Whether `terraform destroy` deletes exports; else it stops at a bucket that holds any."
}

variable "crawl" {
  type        = string
  default     = "crawl"
  description = "The setting crawl."

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{0,62}$", var.crawl))
    error_message = "crawl must be at most 63 of a-z, 0-9 and -."
  }
}

variable "partitions" {
  type        = number
  default     = 256
  description = "The setting partitions; fixed once per crawl."

  validation {
    condition     = var.partitions >= 1 && var.partitions <= 65536 && floor(var.partitions) == var.partitions
    error_message = "partitions must be a whole number from 1 to 65536."
  }
}

variable "user_agent" {
  type        = string
  description = "The setting user_agent, with a contact."

  validation {
    condition     = can(regex("^[!-~][ -~]*(https?://|@)", var.user_agent))
    error_message = "user_agent must name a contact: a URL or a mail address."
  }
}

variable "settings" {
  type        = any
  default     = {}
  description = "More settings, named as the config's fields; no tables, no secrets. The output settings checks them."
}

variable "image" {
  type        = string
  description = "The crawler's image, by digest or version."

  validation {
    condition     = can(regex("(@sha256:[0-9a-f]{64}|:[0-9][^/]*)$", var.image))
    error_message = "image must end in a version or a digest, not in a tag that moves."
  }
}

variable "repository_arn" {
  type        = string
  default     = ""
  description = "The image's repository in ECR; empty: another registry."
}

variable "worker_instance_type" {
  type        = string
  default     = "c7g.medium"
  description = "Size of a worker's machine."
}

variable "workers_min" {
  type        = number
  default     = 2
  description = "Workers at least."
}

variable "workers_max" {
  type        = number
  default     = 10
  description = "Workers at most."
}

variable "spot" {
  type        = bool
  default     = false
  description = "Spot machines for workers beyond the first."
}

variable "mail" {
  type        = list(string)
  default     = []
  description = "Who hears alarms."
}

variable "runbook" {
  type        = string
  default     = "https://github.com/gregor-crawler/gregor/blob/main/docs/runbook.md"
  description = "Where alerts send who is woken, and each adds its anchor: a copy of docs/runbook.md of your own, perhaps."
}

variable "budget" {
  type        = number
  default     = 500
  description = "USD a month, of the whole account."
}

variable "schedules" {
  type        = map(object({ recurrence = string, workers = number }))
  default     = {}
  description = "By name: at which times (cron, UTC) how many workers; 0 stops the crawl, which goes on later."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "command" {
  type        = string
  default     = "worker"
  description = "What the machines run: worker, or console, which shows and steers the whole crawl and owns no partition."

  validation {
    condition     = contains(["worker", "console", "index"], var.command)
    error_message = "command must be worker, console or index."
  }
}

variable "subnets" {
  type        = map(string)
  description = "Private subnets by zone."
}

variable "security_group_id" {
  type        = string
  description = "The security group of the workers; the servers' groups name it."
}

variable "kms_key_arn" {
  type        = string
  description = "The key that encrypts what is at rest."
}

variable "settings" {
  type        = any
  description = "Settings, named as the config's fields; without tables and secrets."
}

variable "secrets" {
  type        = map(string)
  default     = {}
  description = "ARNs in Secrets Manager by what they are: redis_password, viewer_token, operator_token, …"

  validation {
    condition     = alltrue([for name in keys(var.secrets) : can(regex("^(kafka|zookeeper|redis|cassandra|opensearch)_password$|^(viewer|operator)_token$", name))])
    error_message = "secrets must be named kafka_password, zookeeper_password, redis_password, cassandra_password, opensearch_password, viewer_token or operator_token."
  }
}

variable "policy" {
  type        = string
  description = "The IAM policy of a worker: what Kafka lets it do, and where exports go."
}

variable "image" {
  type        = string
  description = "The crawler's image, by digest or version."
}

variable "repository_arn" {
  type        = string
  default     = ""
  description = "The image's repository in ECR; empty: another registry, without a login."

  validation {
    condition     = var.repository_arn == "" || can(regex("^arn:[^:]+:ecr:[^:]+:[0-9]+:repository/", var.repository_arn))
    error_message = "repository_arn must be that of a repository in ECR, or empty."
  }
}

# Only of these types EC2 encrypts what goes from machine to machine.
variable "instance_type" {
  type        = string
  default     = "c7g.medium"
  description = "Size of a worker's machine; a worker uses one core."

  validation {
    condition     = can(regex("^[a-z]+(5n|5dn|6i|6in|6id|6a|6g|6gd|6gn|7i|7a|7g|7gd|7gn|8g|8gd)[.]", var.instance_type))
    error_message = "instance_type must be one whose traffic EC2 encrypts by itself, for example c7g.medium."
  }
}

variable "workers_min" {
  type        = number
  default     = 2
  description = "Workers at least."

  validation {
    condition     = var.workers_min >= 0 && var.workers_min <= var.workers_max && floor(var.workers_min) == var.workers_min
    error_message = "workers_min must be a whole number from 0 to workers_max."
  }
}

variable "workers_max" {
  type        = number
  default     = 10
  description = "Workers at most; more than partitions are of no use."

  validation {
    condition     = var.workers_max >= 1 && floor(var.workers_max) == var.workers_max
    error_message = "workers_max must be a whole number from 1."
  }
}

variable "spot" {
  type        = bool
  default     = false
  description = "Spot machines beyond the first: cheaper, taken back with two minutes' notice, which is enough to let go."
}

variable "schedules" {
  type        = map(object({ recurrence = string, workers = number }))
  default     = {}
  description = "By name: at which times (cron, UTC) how many workers; 0 stops the crawl, which goes on later."

  validation {
    condition     = alltrue([for one in var.schedules : can(regex("^([0-9A-Za-z*,/-]+ ){4}[0-9A-Za-z*,/-]+$", one.recurrence)) && can(regex("^[0-9]+$", one.workers))])
    error_message = "schedules must have recurrence as five fields of cron, and workers as a whole number from 0."
  }
}

variable "topic_arn" {
  type        = string
  default     = ""
  description = "The SNS topic that the console's Alertmanager writes to."

  validation {
    condition     = var.command != "console" || can(regex("^arn:[^:]+:sns:", var.topic_arn))
    error_message = "topic_arn must be that of an SNS topic where the command is console: its alerts go there."
  }
}

variable "runbook" {
  type        = string
  default     = "https://github.com/gregor-crawler/gregor/blob/main/docs/runbook.md"
  description = "Where alerts send who is woken, and each adds its anchor: a copy of docs/runbook.md of your own, perhaps."

  validation {
    condition     = can(regex("^https?://[0-9A-Za-z._~/:?=%-]+$", var.runbook))
    error_message = "runbook must be an http(s) URL without a fragment."
  }
}

variable "kafka_brokers" {
  type        = list(string)
  default     = []
  description = "Names of MSK's brokers with open monitoring, which the console's Prometheus asks."
}

variable "redis_endpoints" {
  type        = map(string)
  default     = {}
  description = "Redis by TLS, by what it is (primary, replica): address and port. The console's redis_exporter asks them."
}

variable "redis_exporter_image" {
  type        = string
  default     = "docker.io/oliver006/redis_exporter:v1.74.0"
  description = "redis_exporter, beside the console."
}

variable "prometheus_image" {
  type        = string
  default     = "docker.io/prom/prometheus:v3.5.0"
  description = "Prometheus, beside the console."
}

variable "alertmanager_image" {
  type        = string
  default     = "docker.io/prom/alertmanager:v0.28.1"
  description = "Alertmanager, beside the console."
}

variable "grafana_image" {
  type        = string
  default     = "docker.io/grafana/grafana:12.1.1"
  description = "Grafana, beside the console."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of machines and their disks, which the provider's default tags do not reach."
}

variable "recrawl" {
  type        = string
  default     = ""
  description = "When all is visited again, as systemd's OnCalendar has it (daily, *-*-* 03:00:00); empty: never. For one machine of a crawl."
}

variable "name" {
  type        = string
  description = "What everything is named after."
}

variable "kms_key_arn" {
  type        = string
  description = "The key that encrypts what is at rest."
}

variable "keep_days" {
  type        = number
  default     = 365
  description = "Days after which an export is deleted."

  validation {
    condition     = var.keep_days > 30 && floor(var.keep_days) == var.keep_days
    error_message = "keep_days must be a whole number over 30, when exports become cheap to keep."
  }
}

variable "force_destroy" {
  type        = bool
  default     = false
  description = "Whether `terraform destroy` deletes exports; else it stops at a bucket that holds any."
}

output "settings" {
  description = "`config` of the chart's values."
  value       = module.crawl.settings
}

output "gregor_toml" {
  description = "gregor.toml of a worker; it holds no secret."
  value       = module.crawl.gregor_toml
}

output "secret_arns" {
  description = "Secrets whose values have to be put in."
  value       = module.crawl.secret_arns
}

output "exports_bucket" {
  description = "Where exports go: on a worker's machine, gregor export jsonl | aws s3 cp - s3://…"
  value       = module.crawl.exports_bucket
}

output "console_group" {
  description = "The auto-scaling group of the console's machine."
  value       = module.crawl.console_group
}

output "workers_group" {
  description = "The auto-scaling group of the workers."
  value       = module.crawl.workers_group
}

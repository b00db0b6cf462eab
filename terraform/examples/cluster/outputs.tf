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

output "settings" {
  description = "Settings of a worker, named as the config's fields: `config` of the chart's values."
  value       = local.settings
}

output "gregor_toml" {
  description = "gregor.toml of a worker; it holds no secret."
  value       = module.workers.toml
}

output "secret_arns" {
  description = "Secrets whose values have to be put in: viewer_token and operator_token."
  value       = { for field, secret in aws_secretsmanager_secret.this : field => secret.arn }
}

output "workers_group" {
  description = "The auto-scaling group of the workers."
  value       = module.workers.group_name
}

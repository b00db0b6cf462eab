output "settings" {
  description = "Settings of a worker, named as the config's fields: `config` of the chart's values."
  value       = local.settings

  precondition {
    condition     = length(local.refused) == 0
    error_message = "settings: ${join("; ", local.refused)}. See docs/configuration.md."
  }
}

output "gregor_toml" {
  description = "gregor.toml of a worker on EC2; it holds no secret."
  value       = one(module.workers[*].toml)
}

output "secret_arns" {
  description = "Secrets whose values have to be put in: viewer_token and operator_token; opensearch_password, where settings.opensearch_username is given. That of Amazon OpenSearch's user is put in."
  value       = local.secrets
}

output "exports_bucket" {
  description = "Where exports go."
  value       = module.exports.bucket
}

output "workers_group" {
  description = "The auto-scaling group of workers on EC2."
  value       = one(module.workers[*].group_name)
}

output "console_group" {
  description = "The auto-scaling group of the console's machine."
  value       = one(module.console[*].group_name)
}

output "worker_policy" {
  description = "The IAM policy of a worker, without its secrets."
  value       = data.aws_iam_policy_document.worker.json
}

output "network" {
  description = "Where workers may run: VPC, its addresses, private subnets by zone, the security group that servers let in."

  value = {
    vpc_id            = module.network.vpc_id
    cidr              = module.network.cidr
    subnets           = module.network.subnets
    security_group_id = aws_security_group.workers.id
  }
}

output "kms_key_arn" {
  description = "The key of all that the crawl keeps."
  value       = aws_kms_key.this.arn
}

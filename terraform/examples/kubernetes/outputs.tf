locals {
  digest     = split("@", var.image)
  tag        = split(":", basename(local.digest[0]))
  repository = trimsuffix(local.digest[0], length(local.tag) > 1 ? ":${local.tag[1]}" : "")
}

output "values" {
  description = "Values of the chart: terraform output -json values > values.json; helm install … -f values.json."

  value = {
    config          = module.crawl.settings
    image           = { repository = local.repository, tag = try(local.tag[1], ""), digest = try(local.digest[1], "") }
    files           = { for field, _ in module.crawl.secret_arns : "${field}_file" => { secret = "gregor", key = field } }
    env             = { AWS_REGION = var.region }
    workers         = { replicas = var.workers }
    index           = { replicas = var.index_workers }
    service_account = { annotations = { "eks.amazonaws.com/role-arn" = module.kubernetes.worker_role_arn } }
    network_policy  = { servers = [module.crawl.network.cidr] }
  }
}

output "cluster_name" {
  description = "For `aws eks update-kubeconfig --name`."
  value       = module.kubernetes.cluster_name
}

output "service_accounts" {
  description = "Service accounts that may take the workers' role."
  value       = module.kubernetes.service_accounts
}

output "secret_arns" {
  description = "Secrets whose values have to be put in, and copied into the namespace's secret gregor."
  value       = module.crawl.secret_arns
}

output "exports_bucket" {
  description = "Where exports go."
  value       = module.crawl.exports_bucket
}

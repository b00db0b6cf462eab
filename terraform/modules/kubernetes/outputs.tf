output "cluster_name" {
  description = "For `aws eks update-kubeconfig --name`."
  value       = aws_eks_cluster.this.name
}

output "worker_role_arn" {
  description = "For the chart's service_account.annotations."
  value       = aws_iam_role.worker.arn
}

output "service_accounts" {
  description = "Who may take that role in the namespace."
  value       = local.service_accounts
}

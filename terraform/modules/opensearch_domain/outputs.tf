output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    opensearch          = ["${aws_opensearch_domain.this.endpoint}:443"]
    opensearch_tls      = true
    opensearch_username = var.username
    opensearch_replicas = min(1, var.nodes - 1)
  }
}

output "domain_name" {
  description = "The domain's name, for alarms."
  value       = aws_opensearch_domain.this.domain_name
}

output "security_group_id" {
  description = "The domain's security group."
  value       = aws_security_group.this.id
}

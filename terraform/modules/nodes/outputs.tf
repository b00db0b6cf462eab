output "addresses" {
  description = "NAME:PORT of each node."
  value       = [for node in sort(keys(local.names)) : "${local.names[node]}:${var.client_port}"]
}

output "group_names" {
  description = "For alarms."
  value       = [for group in aws_autoscaling_group.this : group.name]
}

output "security_group_id" {
  description = "The nodes' security group."
  value       = aws_security_group.this.id
}

output "group_name" {
  description = "For alarms."
  value       = aws_autoscaling_group.this.name
}

output "role_arn" {
  description = "The workers' role."
  value       = aws_iam_role.this.arn
}

output "toml" {
  description = "gregor.toml of a worker; it holds no secret."
  value       = local.toml
}

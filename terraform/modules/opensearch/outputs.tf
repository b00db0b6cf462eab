output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    opensearch          = module.nodes.addresses
    opensearch_replicas = min(1, var.nodes - 1)
  }
}

output "group_names" {
  description = "For alarms."
  value       = module.nodes.group_names
}

output "security_group_id" {
  description = "The nodes' security group."
  value       = module.nodes.security_group_id
}

output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value       = { zookeeper = module.nodes.addresses }
}

output "group_names" {
  description = "For alarms."
  value       = module.nodes.group_names
}

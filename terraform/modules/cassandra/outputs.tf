output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    cassandra             = module.nodes.addresses
    cassandra_datacenter  = var.cassandra_datacenter
    cassandra_replication = var.cassandra_replication
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

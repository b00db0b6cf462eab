output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    redis          = ["${aws_elasticache_replication_group.this.primary_endpoint_address}:6379"]
    redis_tls      = true
    redis_replicas = var.redis_replicas
  }
}

output "nodes" {
  description = "Names of the nodes, for alarms."
  value       = [for number in range(1 + var.replicas) : format("%s-%03d", var.name, number + 1)]
}

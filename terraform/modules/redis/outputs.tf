output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    redis          = ["${aws_elasticache_replication_group.this.primary_endpoint_address}:6379"]
    redis_tls      = true
    redis_replicas = var.redis_replicas
  }
}

output "replication_group_id" {
  description = "For alarms."
  value       = aws_elasticache_replication_group.this.replication_group_id
}

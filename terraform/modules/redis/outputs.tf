output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    redis          = ["${aws_elasticache_replication_group.this.primary_endpoint_address}:6379"]
    redis_tls      = true
    redis_replicas = var.redis_replicas
  }
}

output "endpoints" {
  description = "By what it is, for metrics: the primary, and where there are replicas one of them."
  value = merge(
    { primary = "${aws_elasticache_replication_group.this.primary_endpoint_address}:6379" },
    var.replicas == 0 ? {} : { replica = "${aws_elasticache_replication_group.this.reader_endpoint_address}:6379" },
  )
}

output "nodes" {
  description = "Names of the nodes, for alarms."
  value       = [for number in range(1 + var.replicas) : format("%s-%03d", var.name, number + 1)]
}

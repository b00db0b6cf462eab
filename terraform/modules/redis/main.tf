# ElastiCache: a primary and replicas over zones, TLS, a password, nothing evicted.

resource "aws_security_group" "this" {
  name_prefix = "${var.name}-redis-"
  description = "Redis of ${var.name}"
  vpc_id      = var.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  security_group_id            = aws_security_group.this.id
  description                  = "Workers, by TLS and password"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = 6379
  to_port                      = 6379
}

resource "aws_elasticache_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_elasticache_parameter_group" "this" {
  name   = var.name
  family = "redis7"

  # The seen set may forget nothing by itself.
  parameter {
    name  = "maxmemory-policy"
    value = "noeviction"
  }
}

resource "aws_elasticache_replication_group" "this" {
  # checkov:skip=CKV2_AWS_50:It is on wherever there is a replica; the example small has none
  replication_group_id       = var.name
  description                = "URL-seen and content fingerprints of ${var.name}"
  engine                     = "redis"
  engine_version             = "7.1"
  node_type                  = var.node_type
  num_cache_clusters         = 1 + var.replicas
  automatic_failover_enabled = var.replicas > 0
  multi_az_enabled           = var.replicas > 0
  parameter_group_name       = aws_elasticache_parameter_group.this.name
  subnet_group_name          = aws_elasticache_subnet_group.this.name
  security_group_ids         = [aws_security_group.this.id]
  port                       = 6379
  at_rest_encryption_enabled = true
  kms_key_id                 = var.kms_key_arn
  transit_encryption_enabled = true
  auth_token                 = var.redis_password # the provider has no write-only argument for it: guard the state
  auth_token_update_strategy = "ROTATE"
  snapshot_retention_limit   = 7
  auto_minor_version_upgrade = true

  lifecycle {
    prevent_destroy = true
  }
}

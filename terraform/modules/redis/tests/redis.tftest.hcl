variables {
  name                     = "gregor"
  vpc_id                   = "vpc-0123456789abcdef0"
  client_security_group_id = "sg-0123456789abcdef0"
  kms_key_arn              = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnet_ids               = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
  redis_password           = "0123456789abcdefXY"
}

run "closed_encrypted_and_forgets_nothing" {
  assert {
    condition = (
      aws_elasticache_replication_group.this.transit_encryption_enabled &&
      tobool(aws_elasticache_replication_group.this.at_rest_encryption_enabled) &&
      aws_elasticache_replication_group.this.kms_key_id == var.kms_key_arn
    )
    error_message = "All is encrypted, in transit and at rest."
  }

  assert {
    condition     = aws_vpc_security_group_ingress_rule.clients.referenced_security_group_id == var.client_security_group_id
    error_message = "Workers alone are let in."
  }

  assert {
    condition     = one([for parameter in aws_elasticache_parameter_group.this.parameter : parameter.value if parameter.name == "maxmemory-policy"]) == "noeviction"
    error_message = "Nothing is evicted."
  }

  assert {
    condition     = aws_elasticache_replication_group.this.automatic_failover_enabled && aws_elasticache_replication_group.this.multi_az_enabled
    error_message = "A replica in another zone takes over."
  }
}

run "alone" {
  variables {
    replicas = 0
  }

  assert {
    condition     = !aws_elasticache_replication_group.this.automatic_failover_enabled && length(output.nodes) == 1
    error_message = "Without a replica nothing takes over."
  }
}

run "wrong_values" {
  command = plan

  variables {
    node_type      = "r7g.large"
    replicas       = 9
    redis_password = "short"
  }

  expect_failures = [var.node_type, var.replicas, var.redis_password]
}

run "more_than_there_are" {
  command = plan

  variables {
    redis_replicas = 2
  }

  expect_failures = [var.redis_replicas]
}

variables {
  name                     = "gregor"
  vpc_id                   = "vpc-0123456789abcdef0"
  client_security_group_id = "sg-0123456789abcdef0"
  kms_key_arn              = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnet_ids               = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
  opensearch_password      = "Abcdefghijk1!"
}

run "closed_and_encrypted" {
  assert {
    condition     = aws_vpc_security_group_ingress_rule.clients.referenced_security_group_id == var.client_security_group_id && aws_vpc_security_group_ingress_rule.clients.from_port == 443
    error_message = "Workers alone reach it, by TLS."
  }

  assert {
    condition     = aws_opensearch_domain.this.encrypt_at_rest[0].enabled && aws_opensearch_domain.this.encrypt_at_rest[0].kms_key_id == var.kms_key_arn && aws_opensearch_domain.this.node_to_node_encryption[0].enabled && aws_opensearch_domain.this.domain_endpoint_options[0].enforce_https
    error_message = "What is kept and what travels is encrypted."
  }

  assert {
    condition     = aws_opensearch_domain.this.advanced_security_options[0].enabled && aws_opensearch_domain.this.advanced_security_options[0].internal_user_database_enabled && !coalesce(aws_opensearch_domain.this.advanced_security_options[0].anonymous_auth_enabled, false)
    error_message = "It asks for a user."
  }

  assert {
    condition     = length(aws_opensearch_domain.this.vpc_options[0].subnet_ids) == 3 && aws_opensearch_domain.this.cluster_config[0].zone_awareness_config[0].availability_zone_count == 3
    error_message = "A copy of a shard is in another zone."
  }
}

run "what_workers_are_told" {
  assert {
    condition     = endswith(output.settings.opensearch[0], ".es.amazonaws.com:443") && output.settings.opensearch_tls && output.settings.opensearch_username == "gregor" && output.settings.opensearch_replicas == 1
    error_message = "Its name, TLS, the user."
  }

  assert {
    condition     = !strcontains(jsonencode(output.settings), var.opensearch_password)
    error_message = "The settings hold no secret."
  }
}

run "alone" {
  variables {
    nodes      = 1
    subnet_ids = ["subnet-0123456789abcdef0"]
  }

  assert {
    condition     = output.settings.opensearch_replicas == 0 && !aws_opensearch_domain.this.cluster_config[0].zone_awareness_enabled
    error_message = "A copy has no other node to be on."
  }
}

run "led_by_others" {
  variables {
    managers = 3
  }

  assert {
    condition     = aws_opensearch_domain.this.cluster_config[0].dedicated_master_count == 3
    error_message = "Three that hold nothing."
  }
}

run "wrong_values" {
  command = plan

  variables {
    name                  = "Gregor_Search"
    engine_version        = "OpenSearch_2.9"
    instance_type         = "m7g.large"
    nodes                 = 4
    managers              = 2
    manager_instance_type = "m7g.large"
    volume_size           = 1
    username              = "a b"
    opensearch_password   = "tooplain"
  }

  expect_failures = [
    var.name, var.engine_version, var.instance_type, var.nodes, var.managers, var.manager_instance_type, var.volume_size,
    var.username, var.opensearch_password,
  ]
}

run "too_many_zones" {
  command = plan

  variables {
    nodes      = 4
    subnet_ids = ["subnet-0", "subnet-1", "subnet-2", "subnet-3"]
  }

  expect_failures = [var.subnet_ids]
}

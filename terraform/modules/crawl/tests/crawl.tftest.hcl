variables {
  name           = "gregor"
  zones          = ["us-east-1a", "us-east-1b", "us-east-1c"]
  user_agent     = "test/1.0 (+https://example.org/bot)"
  image          = "registry.example.org/gregor:0.1.0"
  redis_password = "0123456789abcdefXY"
}

run "closed_and_encrypted" {
  assert {
    condition     = length(coalesce(aws_security_group.workers.ingress, [])) == 0 && aws_vpc_security_group_ingress_rule.api.referenced_security_group_id == aws_security_group.workers.id
    error_message = "Nobody from outside connects to a worker."
  }

  assert {
    condition     = aws_kms_key.this.enable_key_rotation && alltrue([for secret in aws_secretsmanager_secret.this : secret.kms_key_id == aws_kms_key.this.arn])
    error_message = "One key, renewed, for all that is kept."
  }

  assert {
    condition = alltrue([
      for statement in jsondecode(aws_kms_key.this.policy).Statement : statement.Sid == "Account" || can(statement.Condition)
    ])
    error_message = "Whoever else may use the key may do so under a condition."
  }

  assert {
    condition     = !strcontains(output.gregor_toml, var.redis_password)
    error_message = "The settings hold no secret."
  }
}

run "workers_elsewhere" {
  command = plan

  variables {
    workers_on = "kubernetes"
  }

  assert {
    condition     = output.gregor_toml == null && output.workers_group == null
    error_message = "No worker on EC2."
  }
}

run "amazon_opensearch" {
  variables {
    opensearch_domain_nodes = 3
    opensearch_password     = "Abcdefghijk1!"
    index_workers           = 2
  }

  assert {
    condition     = output.settings.opensearch_username == "gregor" && output.settings.opensearch_tls && contains(keys(aws_secretsmanager_secret.this), "opensearch_password")
    error_message = "Workers get its user, and its password as a secret."
  }
}

run "one_opensearch" {
  command = plan

  variables {
    opensearch_nodes        = 3
    opensearch_domain_nodes = 3
  }

  expect_failures = [var.opensearch_domain_nodes]
}

run "its_password" {
  command = plan

  variables {
    opensearch_domain_nodes = 3
  }

  expect_failures = [var.opensearch_password]
}

run "wrong_values" {
  command = plan

  variables {
    zones       = ["us-east-1a"]
    crawl       = "Crawl"
    partitions  = 0.5
    user_agent  = "anonymous"
    workers_on  = "lambda"
    redis_nodes = 0
    image       = "gregor:latest"

    index_workers = 1
  }

  expect_failures = [var.index_workers, var.zones, var.crawl, var.partitions, var.user_agent, var.workers_on, var.redis_nodes, var.image]
}

run "wrong_settings" {
  command = plan

  variables {
    settings = { max_page = 1, scope = "hosts", delay = "fast", retries = 1.5, canonical = ["all"], weights = [4, 3, 2, 1] }
  }

  expect_failures = [output.settings]
}

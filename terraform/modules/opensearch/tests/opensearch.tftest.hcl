variables {
  name                     = "gregor"
  vpc_id                   = "vpc-0123456789abcdef0"
  client_security_group_id = "sg-0123456789abcdef0"
  kms_key_arn              = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnets                  = { us-east-1a = "subnet-0123456789abcdef0", us-east-1b = "subnet-0123456789abcdef1" }
  zone_id                  = "Z0123456789ABCDEFGHIJ"
  domain                   = "gregor.internal"
}

run "what_workers_are_told" {
  assert {
    condition     = output.settings.opensearch[2] == "opensearch-3.gregor.internal:9200" && output.settings.opensearch_replicas == 1
    error_message = "Nodes are known by names that stay."
  }
}

run "alone" {
  variables {
    nodes = 1
  }

  assert {
    condition     = output.settings.opensearch_replicas == 0
    error_message = "A copy has no other node to be on."
  }
}

run "wrong_values" {
  command = plan

  variables {
    volume_size   = 1
    instance_type = "t3.large"
    nodes         = 2
    heap_size     = "much"
  }

  expect_failures = [var.volume_size, var.instance_type, var.nodes, var.heap_size]
}

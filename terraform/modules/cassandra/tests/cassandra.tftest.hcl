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
    condition     = output.settings.cassandra_replication == 3 && length(output.settings.cassandra) == 3
    error_message = "Three nodes have each row."
  }
}

run "wrong_values" {
  command = plan

  variables {
    volume_size          = 1
    instance_type        = "t3.large"
    nodes                = 0
    cassandra_datacenter = "the first"
    heap_size            = "much"
    snapshots            = 0
  }

  expect_failures = [
    var.volume_size, var.instance_type, var.nodes, var.cassandra_datacenter, var.heap_size, var.snapshots,
  ]
}

run "more_than_there_are" {
  command = plan

  variables {
    cassandra_replication = 4
  }

  expect_failures = [var.cassandra_replication]
}

variables {
  name                     = "gregor"
  vpc_id                   = "vpc-0123456789abcdef0"
  client_security_group_id = "sg-0123456789abcdef0"
  kms_key_arn              = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnet_ids               = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
  crawl                    = "news"
}

run "closed_and_encrypted" {
  assert {
    condition     = aws_msk_cluster.this.broker_node_group_info[0].connectivity_info[0].public_access[0].type == "DISABLED"
    error_message = "MSK is not public."
  }

  assert {
    condition     = !aws_msk_cluster.this.client_authentication[0].unauthenticated && aws_msk_cluster.this.client_authentication[0].sasl[0].iam
    error_message = "Kafka knows a worker by its role."
  }

  assert {
    condition = (
      aws_msk_cluster.this.encryption_info[0].encryption_in_transit[0].client_broker == "TLS" &&
      aws_msk_cluster.this.encryption_info[0].encryption_at_rest_kms_key_arn == var.kms_key_arn
    )
    error_message = "All is encrypted, in transit and at rest."
  }

  assert {
    condition     = aws_vpc_security_group_ingress_rule.clients.referenced_security_group_id == var.client_security_group_id
    error_message = "Workers alone are let in."
  }
}

run "brokers_and_their_machines_tell_how_they_are" {
  assert {
    condition = (
      aws_msk_cluster.this.open_monitoring[0].prometheus[0].jmx_exporter[0].enabled_in_broker &&
      aws_msk_cluster.this.open_monitoring[0].prometheus[0].node_exporter[0].enabled_in_broker &&
      keys(aws_vpc_security_group_ingress_rule.metrics) == ["11001", "11002"] &&
      alltrue([for rule in aws_vpc_security_group_ingress_rule.metrics : rule.referenced_security_group_id == var.client_security_group_id])
    )
    error_message = "Prometheus may ask each broker, and nobody else may."
  }

  assert {
    condition     = length(output.broker_names) == 3
    error_message = "All of them are named."
  }
}

run "what_the_frontier_needs" {
  assert {
    condition = alltrue([
      for line in ["auto.create.topics.enable=false", "min.insync.replicas=2", "unclean.leader.election.enable=false", "offsets.retention.minutes=525600"] :
      contains(split("\n", aws_msk_configuration.this.server_properties), line)
    ])
    error_message = "Two replicas have each record, no replica that lacks one may lead, and watermarks outlive a pause."
  }

  assert {
    condition     = aws_appautoscaling_policy.storage.target_tracking_scaling_policy_configuration[0].disable_scale_in
    error_message = "Disks only grow."
  }

  assert {
    condition     = output.settings.kafka_security == "sasl_ssl" && output.settings.kafka_sasl_mechanism == "AWS_MSK_IAM"
    error_message = "Workers are told so."
  }
}

run "as_large_as_is_said" {
  variables {
    volume_size = 250
  }

  assert {
    condition     = aws_msk_cluster.this.broker_node_group_info[0].storage_info[0].ebs_storage_info[0].volume_size == 250
    error_message = "A larger disk is made of a larger volume_size, also later."
  }
}

run "another_zone_moves_no_broker" {
  variables {
    subnet_ids = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1", "subnet-0123456789abcdef3"]
  }

  assert {
    condition     = contains(aws_msk_cluster.this.broker_node_group_info[0].client_subnets, "subnet-0123456789abcdef2")
    error_message = "Brokers stay in the subnets they were made in."
  }
}

run "a_worker_may_touch_its_own_crawl" {
  assert {
    condition = alltrue([
      for statement in jsondecode(output.client_policy).Statement :
      !anytrue([for action in flatten([statement.Action]) : strcontains(action, "*")]) &&
      alltrue([for resource in flatten([statement.Resource]) : can(regex(":cluster/gregor/|/news[.]", resource))])
    ])
    error_message = "No action is wider than named, no topic or group is another crawl's."
  }
}

run "wrong_values" {
  command = plan

  variables {
    subnet_ids      = ["subnet-0123456789abcdef0"]
    kafka_version   = "latest"
    instance_type   = "m7g.large"
    volume_size_max = 20000
  }

  expect_failures = [var.subnet_ids, var.kafka_version, var.instance_type, var.volume_size_max]
}

run "more_than_there_are" {
  command = plan

  variables {
    kafka_replication = 9
    volume_size       = 2000
  }

  expect_failures = [var.kafka_replication, var.volume_size]
}

run "not_as_many_in_each_zone" {
  command = plan

  variables {
    brokers = 4
  }

  expect_failures = [var.brokers]
}

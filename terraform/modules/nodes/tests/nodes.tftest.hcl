variables {
  name                     = "gregor"
  vpc_id                   = "vpc-0123456789abcdef0"
  client_security_group_id = "sg-0123456789abcdef0"
  kms_key_arn              = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnets                  = { us-east-1a = "subnet-0123456789abcdef0", us-east-1b = "subnet-0123456789abcdef1" }
  zone_id                  = "Z0123456789ABCDEFGHIJ"
  domain                   = "gregor.internal"
  kind                     = "cassandra"
  image                    = "docker.io/library/cassandra:5.0.6"
  user                     = "999:999"
  mount                    = "/var/lib/cassandra"
  environment              = { A = "1" }
  environment_by_node      = { B = "NODE ZONE ADDRESS", C = "OTHERS" }
  timers                   = { repair = { on = "DAY 05:00", command = "true" } }
  client_port              = 9042
  peer_ports               = [7000]
}

run "closed_and_encrypted" {
  assert {
    condition = alltrue([
      for template in aws_launch_template.this : template.metadata_options[0].http_tokens == "required" &&
      template.metadata_options[0].http_put_response_hop_limit == 1 &&
      !tobool(template.network_interfaces[0].associate_public_ip_address) &&
      tobool(template.block_device_mappings[0].ebs[0].encrypted)
    ])
    error_message = "IMDSv2 only, no public address, encrypted disks."
  }

  assert {
    condition     = alltrue([for volume in aws_ebs_volume.data : volume.encrypted && volume.kms_key_id == var.kms_key_arn])
    error_message = "Data is encrypted with the crawl's key."
  }

  assert {
    condition = (
      aws_vpc_security_group_ingress_rule.clients.referenced_security_group_id == var.client_security_group_id &&
      alltrue([for rule in aws_vpc_security_group_ingress_rule.peers : rule.referenced_security_group_id == aws_security_group.this.id])
    )
    error_message = "Workers and the nodes themselves are let in, nobody else."
  }

  assert {
    condition = alltrue([
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : statement.Sid == "Shell" ||
      !contains(flatten([statement.Resource]), "*") && !anytrue([for action in flatten([statement.Action]) : strcontains(action, "*")])
    ])
    error_message = "The role names what it may do, and with what."
  }
}

run "a_dead_node_comes_back_as_itself" {
  assert {
    condition     = alltrue([for group in aws_autoscaling_group.this : group.min_size == 1 && group.max_size == 1 && length(group.vpc_zone_identifier) == 1])
    error_message = "Each is alone in its group, in the zone of its disk."
  }

  assert {
    condition     = alltrue([for node, record in aws_route53_record.this : one(record.records) == aws_network_interface.this[node].private_ip])
    error_message = "Its name is that of an address which stays."
  }

  assert {
    condition = alltrue([
      for node, template in aws_launch_template.this : alltrue([
        for kept in [aws_ebs_volume.data[node].id, aws_network_interface.this[node].id, "B=${node} ${aws_ebs_volume.data[node].availability_zone} ${aws_network_interface.this[node].private_ip}"] :
        strcontains(base64decode(template.user_data), kept)
      ])
    ])
    error_message = "A new machine takes the disk and the address, and its server is told both."
  }

  assert {
    condition     = output.addresses == ["cassandra-1.gregor.internal:9042", "cassandra-2.gregor.internal:9042", "cassandra-3.gregor.internal:9042"]
    error_message = "Workers know the nodes by names."
  }
}

run "nobody_asks_itself" {
  assert {
    condition = alltrue([
      for node, template in aws_launch_template.this : anytrue([
        for line in split("\n", base64decode(template.user_data)) : startswith(line, "C=") && !strcontains(line, "cassandra-${node}.") && length(split(",", line)) == 2
      ])
    ])
    error_message = "A node asks the others for what they know, never itself."
  }
}

run "machines_are_watched_by_the_clients_alone" {
  assert {
    condition = (
      keys(aws_vpc_security_group_ingress_rule.metrics) == ["9100"] &&
      alltrue([for rule in aws_vpc_security_group_ingress_rule.metrics : rule.referenced_security_group_id == var.client_security_group_id]) &&
      alltrue([for template in aws_launch_template.this : strcontains(base64decode(template.user_data), "prom/node-exporter:v1.9.1 --path.rootfs=/host")])
    )
    error_message = "node_exporter runs on each machine, and Prometheus alone reaches it."
  }
}

run "what_is_kept" {
  assert {
    condition = (
      aws_dlm_lifecycle_policy.this.state == "ENABLED" &&
      aws_dlm_lifecycle_policy.this.policy_details[0].schedule[0].retain_rule[0].count == 7 &&
      alltrue([for volume in aws_ebs_volume.data : volume.tags["Snapshots"] == aws_dlm_lifecycle_policy.this.policy_details[0].target_tags["Snapshots"]])
    )
    error_message = "Each disk has a snapshot every day."
  }

  assert {
    condition = length(distinct([
      for template in aws_launch_template.this : regex("OnCalendar=(... 05:00)", base64decode(template.user_data))[0]
    ])) == 3
    error_message = "Each node has a day of its own for what is done from time to time."
  }
}

run "another_zone_moves_nobody" {
  variables {
    subnets = {
      us-east-1a = "subnet-0123456789abcdef0", us-east-1b = "subnet-0123456789abcdef1", us-east-1c = "subnet-0123456789abcdef2"
    }
    nodes = 4
  }

  assert {
    condition     = [for node in ["1", "2", "3", "4"] : aws_ebs_volume.data[node].availability_zone] == ["us-east-1a", "us-east-1b", "us-east-1a", "us-east-1a"]
    error_message = "A node stays where its disk is; one that comes goes where it is wanted."
  }

  assert {
    condition     = alltrue([for node, group in aws_autoscaling_group.this : one(group.vpc_zone_identifier) == var.subnets[aws_ebs_volume.data[node].availability_zone]])
    error_message = "Its machine is where its disk is."
  }
}

run "a_zone_with_a_disk_stays" {
  command = plan

  variables {
    subnets = { us-east-1a = "subnet-0123456789abcdef0" }
    nodes   = 4
  }

  expect_failures = [aws_network_interface.this]
}

run "wrong_values" {
  command = plan

  variables {
    volume_size   = 1
    instance_type = "t3.large"
    snapshots     = 0
  }

  expect_failures = [var.volume_size, var.instance_type, var.snapshots]
}

variables {
  name              = "gregor"
  kms_key_arn       = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnets           = { us-east-1a = "subnet-0123456789abcdef0", us-east-1b = "subnet-0123456789abcdef1" }
  security_group_id = "sg-0123456789abcdef0"
  settings          = { stop_grace = 20, server_timeout = 5 }
  secrets = {
    viewer_token        = "arn:aws:secretsmanager:us-east-1:123456789012:secret:gregor/viewer_token-AbCdEf"
    opensearch_password = "arn:aws:secretsmanager:us-east-1:123456789012:secret:gregor/opensearch_password-AbCdEf"
  }
  policy         = "{\"Version\": \"2012-10-17\", \"Statement\": []}"
  image          = "123456789012.dkr.ecr.us-east-1.amazonaws.com/gregor:0.1.0"
  repository_arn = "arn:aws:ecr:us-east-1:123456789012:repository/gregor"
}

run "closed_and_encrypted" {
  assert {
    condition = (
      aws_launch_template.this.metadata_options[0].http_tokens == "required" &&
      aws_launch_template.this.metadata_options[0].http_put_response_hop_limit == 1 &&
      !tobool(aws_launch_template.this.network_interfaces[0].associate_public_ip_address) &&
      tobool(aws_launch_template.this.block_device_mappings[0].ebs[0].encrypted)
    )
    error_message = "IMDSv2 only, no public address, encrypted disks."
  }

  assert {
    condition = alltrue([
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : contains(["Shell", "LogInToRegistry"], statement.Sid) ||
      !contains(flatten([statement.Resource]), "*") && !anytrue([for action in flatten([statement.Action]) : strcontains(action, "*")])
    ])
    error_message = "The role names what it may do, and with what."
  }

  assert {
    condition     = strcontains(output.toml, "viewer_token_file = \"/run/gregor/viewer_token\"")
    error_message = "A secret is a file in memory."
  }
}

run "a_machine_waits_for_the_hand_over" {
  assert {
    condition     = aws_autoscaling_lifecycle_hook.drain.heartbeat_timeout > 20 + 3 * 5 && aws_autoscaling_lifecycle_hook.drain.lifecycle_transition == "autoscaling:EC2_INSTANCE_TERMINATING"
    error_message = "Running requests end, then three steps with a server each, before the machine is taken."
  }

  assert {
    condition     = aws_autoscaling_group.this.instance_refresh[0].strategy == "Rolling"
    error_message = "A new image comes machine by machine."
  }
}

run "spot_and_by_the_clock" {
  variables {
    spot = true
    schedules = {
      stop  = { recurrence = "0 8 * * MON-FRI", workers = 0 }
      start = { recurrence = "0 18 * * MON-FRI", workers = 6 }
    }
  }

  assert {
    condition     = aws_autoscaling_group.this.mixed_instances_policy[0].instances_distribution[0].on_demand_percentage_above_base_capacity == 0
    error_message = "All but the first are spot machines."
  }

  assert {
    condition     = aws_autoscaling_schedule.this["stop"].max_size == 0 && aws_autoscaling_schedule.this["start"].desired_capacity == 6
    error_message = "Nobody works by day, six at night."
  }
}

run "the_console_watches_the_workers" {
  variables {
    command     = "console"
    topic_arn   = "arn:aws:sns:us-east-1:123456789012:gregor-alarms"
    workers_min = 1
    workers_max = 1
    recrawl     = "*-*-* 03:00:00"
  }

  assert {
    condition     = alltrue([for told in ["OnCalendar=*-*-* 03:00:00", "worker drain heed recrawl.timer"] : strcontains(base64decode(aws_launch_template.this.user_data), told)])
    error_message = "All is visited again when that is due."
  }

  assert {
    condition     = alltrue([for told in ["tag:aws:autoscaling:groupName\", values: [gregor-workers]", var.prometheus_image, var.alertmanager_image, var.grafana_image, "topic_arn: \"${var.topic_arn}\""] : strcontains(base64decode(aws_launch_template.this.user_data), told)])
    error_message = "Prometheus finds the workers by their group's tag; Alertmanager, which has the topic, and Grafana are beside it."
  }

  assert {
    condition = [
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : statement.Action if statement.Sid == "FindWorkers"
    ] == ["ec2:DescribeInstances"]
    error_message = "It may look at machines, and no more."
  }

  assert {
    condition = [
      for statement in jsondecode(aws_iam_role_policy.this.policy).Statement : "${statement.Action} ${statement.Resource}" if statement.Sid == "Tell"
    ] == ["sns:Publish ${var.topic_arn}"]
    error_message = "It may write to the topic of the alarms."
  }
}

run "a_worker_watches_nobody" {
  assert {
    condition     = !strcontains(aws_iam_role_policy.this.policy, "ec2:") && !strcontains(base64decode(aws_launch_template.this.user_data), "prometheus")
    error_message = "A worker's machine runs a worker."
  }
}

run "wrong_values" {
  command = plan

  variables {
    command        = "crawl"
    secrets        = { password = "arn:aws:secretsmanager:us-east-1:123456789012:secret:x" }
    instance_type  = "t3.large"
    workers_max    = 0
    schedules      = { night = { recurrence = "at night by the moon", workers = 0 }, day = { recurrence = "0 8 * * *", workers = 1.5 } }
    repository_arn = "gregor"
    runbook        = "a page's name"
  }

  expect_failures = [
    var.runbook,
    var.command, var.secrets, var.instance_type, var.workers_max, var.schedules, var.repository_arn,
  ]
}

run "a_console_that_tells_nobody" {
  command = plan

  variables {
    command = "console"
  }

  expect_failures = [var.topic_arn]
}

run "more_than_there_may_be" {
  command = plan

  variables {
    workers_min = 50
  }

  expect_failures = [var.workers_min]
}

# Workers on EC2, in a group over the zones. A machine holds one worker in a container; its settings are a file, its
# secrets come from Secrets Manager into memory. What ends a machine waits until the worker has let go. The console, which
# is a worker without partitions, is made the same way; beside it run Prometheus, Alertmanager and Grafana.

locals {
  settings = merge({ engine = "cluster", listen = "0.0.0.0:9100", data = "/data", log_format = "json" }, var.settings, {
    for field, _ in var.secrets : "${field}_file" => "/run/gregor/${field}"
  })

  # JSON is TOML for texts, numbers, booleans and lists of them.
  toml = join("\n", [for field in sort(keys(local.settings)) : "${field} = ${jsonencode(local.settings[field])}"])

  # Hand-over: running requests, then the commit and the release, each of which may take server_timeout.
  grace = ceil(lookup(var.settings, "stop_grace", 10)) + 3 * ceil(lookup(var.settings, "server_timeout", 10)) + 15
}

data "aws_ssm_parameter" "image" {
  name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${can(regex("^[a-z]+[0-9]g", var.instance_type)) ? "arm64" : "x86_64"}"
}

data "aws_region" "current" {}
data "aws_partition" "current" {}
data "aws_caller_identity" "current" {}

resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_338:For finding faults; what has to last longer is in the store
  name              = "/${var.name}/${var.command}s"
  retention_in_days = 30
  kms_key_id        = var.kms_key_arn
}

resource "aws_launch_template" "this" {
  name_prefix            = "${var.name}-${var.command}-"
  image_id               = data.aws_ssm_parameter.image.insecure_value
  instance_type          = var.instance_type
  update_default_version = true

  user_data = base64encode(join("", [
    templatefile("${path.module}/boot.sh.tftpl", {
      region    = data.aws_region.current.region
      image     = var.image
      command   = var.command == "index" ? "index --metrics 0.0.0.0:9100" : var.command
      registry  = split("/", var.image)[0]
      private   = var.repository_arn != ""
      secrets   = var.secrets
      toml      = local.toml
      log_group = aws_cloudwatch_log_group.this.name
      group     = "${var.name}-${var.command}s"
      hook      = "drain"
      grace     = local.grace
      recrawl   = var.recrawl
    }),
    var.command == "console" ? templatefile("${path.module}/monitoring.sh.tftpl", {
      region       = data.aws_region.current.region
      image        = var.image
      prometheus   = var.prometheus_image
      alertmanager = var.alertmanager_image
      grafana      = var.grafana_image
      topic        = var.topic_arn
      runbook      = var.runbook
      workers      = "${var.name}-workers"
      jobs = [
        { job = "gregor-zookeeper", port = 7000, purposes = "${var.name}-zookeeper" },
        { job = "gregor-cassandra", port = 7070, purposes = "${var.name}-cassandra" },
        { job = "gregor-node", port = 9100, purposes = "${var.name}-zookeeper, ${var.name}-cassandra, ${var.name}-opensearch" },
      ]
      brokers        = var.kafka_brokers
      redis          = var.redis_endpoints
      redis_exporter = var.redis_exporter_image
    }) : "",
  ]))

  iam_instance_profile {
    arn = aws_iam_instance_profile.this.arn
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  network_interfaces {
    associate_public_ip_address = false
    security_groups             = [var.security_group_id]
    delete_on_termination       = true
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_size = 20
      volume_type = "gp3"
      encrypted   = true
      kms_key_id  = var.kms_key_arn
    }
  }

  tag_specifications {
    resource_type = "instance"
    tags          = merge(var.tags, { Name = "${var.name}-${var.command}" })
  }

  tag_specifications {
    resource_type = "volume"
    tags          = merge(var.tags, { Name = "${var.name}-${var.command}" })
  }
}

resource "aws_autoscaling_group" "this" {
  name                      = "${var.name}-${var.command}s"
  min_size                  = var.workers_min
  max_size                  = var.workers_max
  vpc_zone_identifier       = values(var.subnets)
  health_check_type         = "EC2"
  health_check_grace_period = 300
  default_instance_warmup   = 120

  mixed_instances_policy {
    instances_distribution {
      on_demand_base_capacity                  = var.spot ? 1 : 0
      on_demand_percentage_above_base_capacity = var.spot ? 0 : 100
      spot_allocation_strategy                 = "capacity-optimized"
    }

    launch_template {
      launch_template_specification {
        launch_template_id = aws_launch_template.this.id
        version            = aws_launch_template.this.latest_version
      }
    }
  }

  # One after another: each change of members moves partitions.
  instance_refresh {
    strategy = "Rolling"

    preferences {
      min_healthy_percentage = 90
      instance_warmup        = 120
    }
  }

  tag {
    key                 = "Name"
    value               = "${var.name}-${var.command}"
    propagate_at_launch = true
  }
}

# A machine is not taken before its worker has let go, or the grace is over.
resource "aws_autoscaling_lifecycle_hook" "drain" {
  name                   = "drain"
  autoscaling_group_name = aws_autoscaling_group.this.name
  lifecycle_transition   = "autoscaling:EC2_INSTANCE_TERMINATING"
  heartbeat_timeout      = local.grace + 60
  default_result         = "CONTINUE"
}

resource "aws_autoscaling_policy" "cpu" {
  name                      = "cpu"
  autoscaling_group_name    = aws_autoscaling_group.this.name
  policy_type               = "TargetTrackingScaling"
  estimated_instance_warmup = 300

  target_tracking_configuration {
    target_value = 65

    predefined_metric_specification {
      predefined_metric_type = "ASGAverageCPUUtilization"
    }
  }
}

resource "aws_autoscaling_schedule" "this" {
  for_each               = var.schedules
  scheduled_action_name  = each.key
  autoscaling_group_name = aws_autoscaling_group.this.name
  recurrence             = each.value.recurrence
  min_size               = each.value.workers
  max_size               = max(each.value.workers, each.value.workers == 0 ? 0 : var.workers_max)
  desired_capacity       = each.value.workers
}

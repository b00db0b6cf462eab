# Machines that keep an address and a disk: each in a group of one, which replaces it when it is dead; the new machine
# takes both over, so its server is the same node to the others. Used by the modules zookeeper and cassandra.

locals {
  numbers = [for index in range(var.nodes) : tostring(index + 1)]
  names   = { for node in local.numbers : node => "${var.kind}-${node}.${var.domain}" }
  purpose = "${var.name}-${var.kind}"

  # A node stays where its disk was made: another number of zones says where further ones go.
  zones = { for node in local.numbers : node => aws_ebs_volume.data[node].availability_zone }

  # Some of the others' names: who is not among those that it asks may be replaced by itself.
  others = {
    for node in local.numbers : node => join(",", [
      for other in slice(concat([for each in local.numbers : each if each != node], [node]), 0, min(3, max(1, var.nodes - 1))) :
      local.names[other]
    ])
  }
}

data "aws_ssm_parameter" "image" {
  name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${var.architecture}"
}

data "aws_partition" "current" {}
data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

locals {
  # The agent of jmx_exporter, and its SHA-256: what is fetched once more has to be the same.
  agent = {
    artifact = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
    sha256   = "7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1"
  }

  days    = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  account = "${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}"
}

resource "aws_security_group" "this" {
  name_prefix = "${local.purpose}-"
  description = "${var.kind} of ${var.name}"
  vpc_id      = var.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  security_group_id            = aws_security_group.this.id
  description                  = "Workers"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = var.client_port
  to_port                      = var.client_port
}

resource "aws_vpc_security_group_ingress_rule" "peers" {
  for_each                     = toset([for port in var.peer_ports : tostring(port)])
  security_group_id            = aws_security_group.this.id
  description                  = "Each other"
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = tonumber(each.key)
  to_port                      = tonumber(each.key)
}

# Whoever is in the workers' group may ask for metrics too: the console's machine does.
resource "aws_vpc_security_group_ingress_rule" "metrics" {
  for_each                     = toset([for port in concat([9100], var.metrics_ports) : tostring(port)])
  security_group_id            = aws_security_group.this.id
  description                  = "Metrics, for Prometheus"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = tonumber(each.key)
  to_port                      = tonumber(each.key)
}

# Packages, images and AWS's own endpoints; the network's routes say by which way.
resource "aws_vpc_security_group_egress_rule" "https" {
  security_group_id = aws_security_group.this.id
  description       = "Packages, images, AWS"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "peers" {
  for_each                     = toset([for port in var.peer_ports : tostring(port)])
  security_group_id            = aws_security_group.this.id
  description                  = "Each other"
  referenced_security_group_id = aws_security_group.this.id
  ip_protocol                  = "tcp"
  from_port                    = tonumber(each.key)
  to_port                      = tonumber(each.key)
}

# The address that peers and clients know; a machine has one more of its own, for what goes out.
resource "aws_network_interface" "this" {
  for_each        = local.zones
  subnet_id       = var.subnets[each.value]
  security_groups = [aws_security_group.this.id]
  tags            = { Name = "${local.purpose}-${each.key}" }

  lifecycle {
    precondition {
      condition     = contains(keys(var.subnets), each.value)
      error_message = "The disk of ${var.kind}-${each.key} is in ${each.value}, which is not among the zones any more: its data would be lost. Keep the zone, or move the node first (docs/deployment.md)."
    }
  }
}

resource "aws_route53_record" "this" {
  # checkov:skip=CKV2_AWS_23:Its address is that of a network interface, which the check does not know
  for_each = local.names
  zone_id  = var.zone_id
  name     = each.value
  type     = "A"
  ttl      = 60
  records  = [aws_network_interface.this[each.key].private_ip]
}

resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_338:For finding faults; what has to last longer is in the store
  name              = "/${var.name}/${var.kind}"
  retention_in_days = 30
  kms_key_id        = var.kms_key_arn
}

# What cannot be had again. Fewer nodes, or the end of it all, is refused until somebody takes the guard away.
resource "aws_ebs_volume" "data" {
  for_each          = toset(local.numbers)
  availability_zone = keys(var.subnets)[(tonumber(each.key) - 1) % length(var.subnets)]
  size              = var.volume_size
  type              = "gp3"
  encrypted         = true
  kms_key_id        = var.kms_key_arn
  tags              = { Name = "${local.purpose}-${each.key}", Snapshots = local.purpose }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [availability_zone, snapshot_id]
  }
}

# Whether a node has ever been one of them: then an empty disk is a lost one, and no new beginning.
resource "aws_ssm_parameter" "joined" {
  # checkov:skip=CKV2_AWS_34:It says yes or no
  for_each = toset(local.numbers)
  name     = "/${var.name}/${var.kind}/${each.key}/joined"
  type     = "String"
  value    = "no"

  lifecycle {
    ignore_changes = [value]
  }
}

resource "aws_launch_template" "this" {
  for_each               = local.names
  name_prefix            = "${local.purpose}-${each.key}-"
  image_id               = data.aws_ssm_parameter.image.insecure_value
  instance_type          = var.instance_type
  update_default_version = true

  user_data = base64encode(templatefile("${path.module}/boot.sh.tftpl", {
    volume_id    = aws_ebs_volume.data[each.key].id
    interface_id = aws_network_interface.this[each.key].id
    address      = aws_network_interface.this[each.key].private_ip
    name         = each.value
    number       = each.key
    others       = local.others[each.key]
    joined       = aws_ssm_parameter.joined[each.key].name
    before       = var.before
    ready        = var.ready
    timers       = { for name, timer in var.timers : name => merge(timer, { on = replace(timer.on, "DAY", element(local.days, tonumber(each.key) - 1)) }) }
    region       = data.aws_region.current.region
    image        = var.image
    user         = var.user
    mount        = var.mount
    log_group    = aws_cloudwatch_log_group.this.name
    exporter     = var.node_exporter_image
    agent_config = var.agent_config
    agent_image  = var.agent_image
    agent_option = var.agent_options
    agent        = local.agent
    environment = merge(var.environment, {
      for key, value in var.environment_by_node : key => replace(replace(replace(replace(value,
        "NODE", each.key), "OTHERS", local.others[each.key]), "ZONE", local.zones[each.key]),
        "ADDRESS", aws_network_interface.this[each.key].private_ip
      )
    })
  }))

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
    security_groups             = [aws_security_group.this.id]
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
    tags          = merge(var.tags, { Name = "${local.purpose}-${each.key}", Purpose = local.purpose })
  }

  tag_specifications {
    resource_type = "volume"
    tags          = merge(var.tags, { Name = "${local.purpose}-${each.key}-system" })
  }
}

resource "aws_autoscaling_group" "this" {
  for_each                  = local.zones
  name                      = "${local.purpose}-${each.key}"
  min_size                  = 1
  max_size                  = 1
  desired_capacity          = 1
  vpc_zone_identifier       = [var.subnets[each.value]]
  health_check_type         = "EC2"
  health_check_grace_period = 300
  enabled_metrics           = ["GroupInServiceInstances"]

  launch_template {
    id      = aws_launch_template.this[each.key].id
    version = aws_launch_template.this[each.key].latest_version
  }

  tag {
    key                 = "Purpose"
    value               = local.purpose
    propagate_at_launch = true
  }
}

# Machines that keep a name and a disk: each in a group of one, which replaces it when it is dead; the new machine takes
# the disk and tells its address to the private DNS zone. Used by the modules zookeeper and cassandra.

locals {
  zones   = keys(var.subnets)
  nodes   = { for index in range(var.nodes) : tostring(index + 1) => local.zones[index % length(local.zones)] }
  names   = { for node, _ in local.nodes : node => "${var.kind}-${node}.${var.domain}" }
  purpose = "${var.name}-${var.kind}"
}

data "aws_ssm_parameter" "image" {
  name = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${var.architecture}"
}

data "aws_partition" "current" {}
data "aws_region" "current" {}
data "aws_caller_identity" "current" {}

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

resource "aws_ebs_volume" "data" {
  for_each          = local.nodes
  availability_zone = each.value
  size              = var.volume_size
  type              = "gp3"
  encrypted         = true
  kms_key_id        = var.kms_key_arn
  tags              = { Name = "${local.purpose}-${each.key}" }
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "node" {
  statement {
    sid       = "TakeOwnDisks"
    actions   = ["ec2:AttachVolume"]
    resources = [for volume in aws_ebs_volume.data : volume.arn]
  }

  statement {
    sid     = "ToOwnMachines"
    actions = ["ec2:AttachVolume"]
    resources = [
      "arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:instance/*"
    ]

    condition {
      test     = "StringEquals"
      variable = "aws:ResourceTag/Purpose"
      values   = [local.purpose]
    }
  }

  # A disk is encrypted: who attaches it lends the key to EC2.
  statement {
    sid       = "LendTheKey"
    actions   = ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"]
    resources = [var.kms_key_arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["ec2.${data.aws_region.current.region}.amazonaws.com"]
    }
  }

  statement {
    sid       = "TellOwnNames"
    actions   = ["route53:ChangeResourceRecordSets"]
    resources = [var.zone_arn]

    condition {
      test     = "ForAllValues:StringEquals"
      variable = "route53:ChangeResourceRecordSetsNormalizedRecordNames"
      values   = values(local.names)
    }
  }
}

resource "aws_iam_role" "this" {
  name_prefix        = "${local.purpose}-"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_role_policy" "this" {
  name   = "node"
  role   = aws_iam_role.this.id
  policy = data.aws_iam_policy_document.node.json
}

resource "aws_iam_instance_profile" "this" {
  name_prefix = "${local.purpose}-"
  role        = aws_iam_role.this.name
}

resource "aws_launch_template" "this" {
  for_each               = local.nodes
  name_prefix            = "${local.purpose}-${each.key}-"
  image_id               = data.aws_ssm_parameter.image.insecure_value
  instance_type          = var.instance_type
  update_default_version = true

  user_data = base64encode(templatefile("${path.module}/boot.sh.tftpl", {
    volume_id = aws_ebs_volume.data[each.key].id
    zone_id   = var.zone_id
    name      = local.names[each.key]
    region    = data.aws_region.current.region
    image     = var.image
    user      = var.user
    mount     = var.mount
    environment = merge(var.environment, {
      for key, value in var.environment_by_node : key => replace(replace(value, "NODE", each.key), "ZONE", each.value)
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
    tags          = { Name = "${local.purpose}-${each.key}", Purpose = local.purpose }
  }
}

resource "aws_autoscaling_group" "this" {
  for_each                  = local.nodes
  name                      = "${local.purpose}-${each.key}"
  min_size                  = 1
  max_size                  = 1
  desired_capacity          = 1
  vpc_zone_identifier       = [var.subnets[each.value]]
  health_check_type         = "EC2"
  health_check_grace_period = 300

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

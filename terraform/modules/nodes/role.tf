# What a node's machine may do.

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

# Session Manager, the only way in for an operator.
data "aws_iam_policy_document" "shell" {
  # checkov:skip=CKV_AWS_111:AWS knows no narrower resource for these actions
  # checkov:skip=CKV_AWS_356:AWS knows no narrower resource for these actions
  statement {
    sid = "Shell"
    actions = [
      "ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
    ]
    resources = ["*"]
  }
}

data "aws_iam_policy_document" "node" {
  source_policy_documents = [data.aws_iam_policy_document.shell.json]

  statement {
    sid       = "TakeOwnDisks"
    actions   = ["ec2:AttachVolume"]
    resources = [for volume in aws_ebs_volume.data : volume.arn]
  }

  statement {
    sid       = "TakeOwnAddresses"
    actions   = ["ec2:AttachNetworkInterface"]
    resources = [for interface in aws_network_interface.this : interface.arn]
  }

  statement {
    sid     = "ToOwnMachines"
    actions = ["ec2:AttachVolume", "ec2:AttachNetworkInterface"]
    resources = [
      "arn:${data.aws_partition.current.partition}:ec2:${local.account}:instance/*"
    ]

    condition {
      test     = "StringEquals"
      variable = "aws:ResourceTag/Purpose"
      values   = [local.purpose]
    }
  }

  statement {
    sid       = "RememberThatItJoined"
    actions   = ["ssm:GetParameter", "ssm:PutParameter"]
    resources = [for parameter in aws_ssm_parameter.joined : parameter.arn]
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
    sid       = "WriteLogs"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this.arn}:*"]
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

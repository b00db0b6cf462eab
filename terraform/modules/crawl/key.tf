# One key for all that the crawl keeps.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  account     = data.aws_caller_identity.current.account_id
  root        = "arn:${data.aws_partition.current.partition}:iam::${local.account}"
  autoscaling = "${local.root}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
  logs        = "arn:${data.aws_partition.current.partition}:logs:${data.aws_region.current.region}:${local.account}:log-group:*"
}

# In the policy of a key, the resource "*" is the key itself.
data "aws_iam_policy_document" "key" {
  # checkov:skip=CKV_AWS_109:In a key's policy the star is the key
  # checkov:skip=CKV_AWS_111:In a key's policy the star is the key
  # checkov:skip=CKV_AWS_356:In a key's policy the star is the key
  statement {
    sid       = "Account"
    actions   = ["kms:*"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["${local.root}:root"]
    }
  }

  statement {
    sid       = "Logs"
    actions   = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["logs.${data.aws_region.current.region}.amazonaws.com"]
    }

    condition {
      test     = "ArnLike"
      variable = "kms:EncryptionContext:aws:logs:arn"
      values   = [local.logs]
    }
  }

  # An alarm is a message in an encrypted topic.
  statement {
    sid       = "Alarms"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey*"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["cloudwatch.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }

  # Auto scaling starts machines whose disks are encrypted. In a new account its role comes with the first group, and a
  # principal that is not there is refused: so anybody is named here, and the conditions say who.
  statement {
    sid       = "AutoScaling"
    actions   = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [local.account]
    }

    condition {
      test     = "ArnEquals"
      variable = "aws:PrincipalArn"
      values   = [local.autoscaling]
    }
  }

  statement {
    sid       = "AutoScalingGrants"
    actions   = ["kms:CreateGrant"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [local.account]
    }

    condition {
      test     = "ArnEquals"
      variable = "aws:PrincipalArn"
      values   = [local.autoscaling]
    }

    condition {
      test     = "Bool"
      variable = "kms:GrantIsForAWSResource"
      values   = ["true"]
    }
  }
}

resource "aws_kms_key" "this" {
  description             = "All that ${var.name} keeps"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = data.aws_iam_policy_document.key.json

  # Without it nothing of what it encrypted can be read again.
  lifecycle {
    prevent_destroy = true
  }
}

# What a worker's machine may do.

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

data "aws_iam_policy_document" "registry" {
  # checkov:skip=CKV_AWS_356:AWS knows no narrower resource for the login
  statement {
    sid       = "LogInToRegistry"
    actions   = ["ecr:GetAuthorizationToken"]
    resources = ["*"]
  }
}

# By which Prometheus finds the workers.
data "aws_iam_policy_document" "find" {
  # checkov:skip=CKV_AWS_356:AWS knows no narrower resource for looking at machines
  statement {
    sid       = "FindWorkers"
    actions   = ["ec2:DescribeInstances"]
    resources = ["*"]
  }
}

# By which Alertmanager tells of what fires; the topic is encrypted.
data "aws_iam_policy_document" "tell" {
  statement {
    sid       = "Tell"
    actions   = ["sns:Publish"]
    resources = [var.topic_arn]
  }

  statement {
    sid       = "TellEncrypted"
    actions   = ["kms:GenerateDataKey", "kms:Decrypt"]
    resources = [var.kms_key_arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["sns.${data.aws_region.current.region}.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "worker" {
  source_policy_documents = concat([var.policy, data.aws_iam_policy_document.shell.json],
    var.repository_arn == "" ? [] : [data.aws_iam_policy_document.registry.json],
    var.command == "console" ? [data.aws_iam_policy_document.find.json, data.aws_iam_policy_document.tell.json] : []
  )

  dynamic "statement" {
    for_each = length(var.secrets) > 0 ? [1] : []

    content {
      sid       = "ReadOwnSecrets"
      actions   = ["secretsmanager:GetSecretValue"]
      resources = values(var.secrets)
    }
  }

  statement {
    sid       = "Decrypt"
    actions   = ["kms:Decrypt"]
    resources = [var.kms_key_arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["secretsmanager.${data.aws_region.current.region}.amazonaws.com"]
    }
  }

  statement {
    sid       = "WriteLogs"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this.arn}:*"]
  }

  statement {
    sid     = "SayThatItLetGoOrIsUnwell"
    actions = ["autoscaling:CompleteLifecycleAction", "autoscaling:SetInstanceHealth"]
    resources = [
      "arn:${data.aws_partition.current.partition}:autoscaling:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:autoScalingGroup:*:autoScalingGroupName/${var.name}-${var.command}s"
    ]
  }

  dynamic "statement" {
    for_each = var.repository_arn == "" ? [] : [1]

    content {
      sid       = "PullImage"
      actions   = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"]
      resources = [var.repository_arn]
    }
  }
}

resource "aws_iam_role" "this" {
  name_prefix        = "${var.name}-${var.command}-"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_role_policy" "this" {
  name   = "worker"
  role   = aws_iam_role.this.id
  policy = data.aws_iam_policy_document.worker.json
}

resource "aws_iam_instance_profile" "this" {
  name_prefix = "${var.name}-${var.command}-"
  role        = aws_iam_role.this.name
}

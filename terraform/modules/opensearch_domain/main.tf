# Amazon OpenSearch: the index of what is crawled, in the VPC, with a user of its own. The account needs its service's role
# once: aws iam create-service-linked-role --aws-service-name opensearchservice.amazonaws.com

locals {
  zones = length(var.subnet_ids)
}

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

resource "aws_security_group" "this" {
  name_prefix = "${var.name}-opensearch-"
  description = "OpenSearch of ${var.name}"
  vpc_id      = var.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  security_group_id            = aws_security_group.this.id
  description                  = "Workers, by TLS and password"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

# Its own log; and who was refused.
resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_338:For finding faults; the index can be made anew from what is stored
  for_each          = { application = "ES_APPLICATION_LOGS", audit = "AUDIT_LOGS" }
  name              = "/${var.name}/opensearch/${each.key}"
  retention_in_days = 30
  kms_key_id        = var.kms_key_arn
}

data "aws_iam_policy_document" "logs" {
  statement {
    actions   = ["logs:PutLogEvents", "logs:CreateLogStream"]
    resources = [for group in aws_cloudwatch_log_group.this : "${group.arn}:*"]

    principals {
      type        = "Service"
      identifiers = ["es.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [data.aws_caller_identity.current.account_id]
    }
  }
}

resource "aws_cloudwatch_log_resource_policy" "this" {
  policy_name     = "${var.name}-opensearch"
  policy_document = data.aws_iam_policy_document.logs.json
}

# Who reaches it, which the security group says, is asked for user and password, which the domain itself judges.
data "aws_iam_policy_document" "access" {
  # checkov:skip=CKV_AWS_283:Requests carry user and password, which this policy cannot see; the domain judges these
  statement {
    actions   = ["es:ESHttpGet", "es:ESHttpHead", "es:ESHttpPost", "es:ESHttpPut", "es:ESHttpDelete"]
    resources = ["arn:${data.aws_partition.current.partition}:es:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:domain/${var.name}/*"]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
  }
}

resource "aws_opensearch_domain" "this" {
  # checkov:skip=CKV_AWS_317:It is on, by a dynamic block that checkov does not read
  # checkov:skip=CKV_AWS_318:The nodes that hold the index lead it, three at least over zones; managers makes others
  # checkov:skip=CKV2_AWS_59:The nodes that hold the index lead it, three at least over zones; managers makes others
  domain_name     = var.name
  engine_version  = var.engine_version
  access_policies = data.aws_iam_policy_document.access.json

  cluster_config {
    instance_type            = var.instance_type
    instance_count           = var.nodes
    zone_awareness_enabled   = local.zones > 1
    dedicated_master_enabled = var.managers > 0
    dedicated_master_count   = var.managers > 0 ? var.managers : null
    dedicated_master_type    = var.managers > 0 ? var.manager_instance_type : null

    dynamic "zone_awareness_config" {
      for_each = local.zones > 1 ? [local.zones] : []

      content {
        availability_zone_count = zone_awareness_config.value
      }
    }
  }

  ebs_options {
    ebs_enabled = true
    volume_type = "gp3"
    volume_size = var.volume_size
  }

  vpc_options {
    subnet_ids         = var.subnet_ids
    security_group_ids = [aws_security_group.this.id]
  }

  encrypt_at_rest {
    enabled    = true
    kms_key_id = var.kms_key_arn
  }

  node_to_node_encryption {
    enabled = true
  }

  domain_endpoint_options {
    enforce_https       = true
    tls_security_policy = "Policy-Min-TLS-1-2-PFS-2023-10"
  }

  advanced_security_options {
    enabled                        = true
    internal_user_database_enabled = true

    master_user_options {
      master_user_name     = var.username
      master_user_password = var.opensearch_password # the provider has no write-only argument for it: guard the state
    }
  }

  dynamic "log_publishing_options" {
    for_each = { application = "ES_APPLICATION_LOGS", audit = "AUDIT_LOGS" }

    content {
      log_type                 = log_publishing_options.value
      cloudwatch_log_group_arn = aws_cloudwatch_log_group.this[log_publishing_options.key].arn
    }
  }

  auto_tune_options {
    desired_state       = "DISABLED"
    rollback_on_disable = "NO_ROLLBACK"
  }

  software_update_options {
    auto_software_update_enabled = true
  }

  depends_on = [aws_cloudwatch_log_resource_policy.this]
}

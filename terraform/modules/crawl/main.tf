# All that a crawl needs: a network, the four servers, workers, who is told when something is wrong.

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  root = "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}"
}

data "aws_iam_policy_document" "key" {
  # In the policy of a key, "*" is the key itself.
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
    sid       = "LogsAndAlarms"
    actions   = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["logs.${data.aws_region.current.region}.amazonaws.com", "cloudwatch.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [data.aws_caller_identity.current.account_id]
    }
  }

  # Auto scaling starts machines whose disks are encrypted.
  statement {
    sid       = "AutoScaling"
    actions   = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["${local.root}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"]
    }
  }

  statement {
    sid       = "AutoScalingGrants"
    actions   = ["kms:CreateGrant"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["${local.root}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"]
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
}

module "network" {
  source  = "../network"
  name    = var.name
  cidr    = var.cidr
  zones   = var.zones
  one_nat = var.one_nat
}

resource "aws_security_group" "workers" {
  name_prefix = "${var.name}-workers-"
  description = "Workers of ${var.name}: nobody connects to them from outside"
  vpc_id      = module.network.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

# A crawler goes to any port of the public web, and to the servers, whose own groups say who may.
resource "aws_vpc_security_group_egress_rule" "web" {
  security_group_id = aws_security_group.workers.id
  description       = "The web and the servers"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 1
  to_port           = 65535
}

# The console, metrics and orders of one worker for another, and for a Prometheus that is given this group.
resource "aws_vpc_security_group_ingress_rule" "api" {
  security_group_id            = aws_security_group.workers.id
  description                  = "API, with a token"
  referenced_security_group_id = aws_security_group.workers.id
  ip_protocol                  = "tcp"
  from_port                    = 9100
  to_port                      = 9100
}

# Values of the tokens are put in by hand or by a pipeline; they never enter the state.
resource "aws_secretsmanager_secret" "this" {
  for_each    = toset(["redis_password", "viewer_token", "operator_token"])
  name_prefix = "${var.name}/${each.key}-"
  description = "${each.key} of ${var.name}"
  kms_key_id  = aws_kms_key.this.arn
}

resource "aws_secretsmanager_secret_version" "redis" {
  secret_id                = aws_secretsmanager_secret.this["redis_password"].id
  secret_string_wo         = var.redis_password
  secret_string_wo_version = var.redis_password_version
}

module "kafka" {
  source                   = "../kafka"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnet_ids               = slice(values(module.network.subnets), 0, min(3, length(var.zones)))
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  crawl                    = var.crawl
  kafka_replication        = var.kafka_replication
  brokers                  = var.kafka_brokers
  instance_type            = var.kafka_instance_type
  volume_size              = var.kafka_volume_size
  volume_size_max          = var.kafka_volume_size_max
}

module "redis" {
  source                   = "../redis"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnet_ids               = values(module.network.subnets)
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  node_type                = var.redis_node_type
  replicas                 = var.redis_nodes - 1
  redis_replicas           = var.redis_replicas
  redis_password           = var.redis_password
}

module "zookeeper" {
  source                   = "../zookeeper"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnets                  = module.network.subnets
  zone_id                  = module.network.zone_id
  zone_arn                 = module.network.zone_arn
  domain                   = module.network.domain
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.zookeeper_nodes
  instance_type            = var.zookeeper_instance_type
}

module "cassandra" {
  source                   = "../cassandra"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnets                  = module.network.subnets
  zone_id                  = module.network.zone_id
  zone_arn                 = module.network.zone_arn
  domain                   = module.network.domain
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.cassandra_nodes
  instance_type            = var.cassandra_instance_type
  volume_size              = var.cassandra_volume_size
  heap_size                = var.cassandra_heap_size
  cassandra_replication    = var.cassandra_replication
}

locals {
  settings = merge(
    var.settings, module.kafka.settings, module.redis.settings, module.zookeeper.settings, module.cassandra.settings,
    { crawl = var.crawl, partitions = var.partitions, user_agent = var.user_agent, linger = true },
  )
}

module "workers" {
  source            = "../workers"
  name              = var.name
  subnets           = module.network.subnets
  security_group_id = aws_security_group.workers.id
  kms_key_arn       = aws_kms_key.this.arn
  settings          = local.settings
  secrets           = { for field, secret in aws_secretsmanager_secret.this : field => secret.arn }
  kafka_policy      = module.kafka.client_policy
  image             = var.image
  repository_arn    = var.repository_arn
  instance_type     = var.worker_instance_type
  workers_min       = var.workers_min
  workers_max       = min(var.workers_max, var.partitions)
  spot              = var.spot
  schedules         = var.schedules
}

module "monitoring" {
  source                  = "../monitoring"
  name                    = var.name
  kms_key_arn             = aws_kms_key.this.arn
  mail                    = var.mail
  budget                  = var.budget
  kafka_cluster           = module.kafka.cluster_name
  redis_replication_group = module.redis.replication_group_id
  server_groups           = concat(module.zookeeper.group_names, module.cassandra.group_names)
}

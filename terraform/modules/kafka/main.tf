# Amazon MSK: TLS, known by IAM roles (no secret at all), encrypted, storage that grows.

resource "aws_security_group" "this" {
  name_prefix = "${var.name}-kafka-"
  description = "Brokers of ${var.name}"
  vpc_id      = var.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  security_group_id            = aws_security_group.this.id
  description                  = "Workers, by TLS and IAM"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = 9098
  to_port                      = 9098
}

# Whoever is in the workers' group may ask for metrics too: the console's machine does. MSK has them at these ports.
resource "aws_vpc_security_group_ingress_rule" "metrics" {
  for_each                     = toset(["11001", "11002"])
  security_group_id            = aws_security_group.this.id
  description                  = "Metrics, for Prometheus"
  referenced_security_group_id = var.client_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = tonumber(each.key)
  to_port                      = tonumber(each.key)
}

resource "aws_msk_configuration" "this" {
  name           = "${var.name}-${replace(var.kafka_version, ".", "-")}" # another version makes another one, beside it
  kafka_versions = [var.kafka_version]

  # Topics are made by `gregor init`. The watermarks are committed offsets: they must outlive a pause of the crawl.
  server_properties = <<-EOT
    auto.create.topics.enable=false
    default.replication.factor=${var.kafka_replication}
    min.insync.replicas=${max(1, var.kafka_replication - 1)}
    unclean.leader.election.enable=false
    offsets.retention.minutes=525600
    num.partitions=1
  EOT

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_cloudwatch_log_group" "this" {
  # checkov:skip=CKV_AWS_338:For finding faults; what has to last longer is in the store
  name              = "/${var.name}/kafka"
  retention_in_days = 30
  kms_key_id        = var.kms_key_arn
}

resource "aws_msk_cluster" "this" {
  cluster_name           = var.name
  kafka_version          = var.kafka_version
  number_of_broker_nodes = var.brokers

  broker_node_group_info {
    instance_type   = var.instance_type
    client_subnets  = var.subnet_ids
    security_groups = [aws_security_group.this.id]

    storage_info {
      ebs_storage_info {
        volume_size = var.volume_size
      }
    }

    connectivity_info {
      public_access {
        type = "DISABLED"
      }
    }
  }

  client_authentication {
    unauthenticated = false

    sasl {
      iam = true
    }
  }

  configuration_info {
    arn      = aws_msk_configuration.this.arn
    revision = aws_msk_configuration.this.latest_revision
  }

  encryption_info {
    encryption_at_rest_kms_key_arn = var.kms_key_arn

    encryption_in_transit {
      client_broker = "TLS"
      in_cluster    = true
    }
  }

  open_monitoring {
    prometheus {
      jmx_exporter {
        enabled_in_broker = true
      }

      node_exporter {
        enabled_in_broker = true
      }
    }
  }

  logging_info {
    broker_logs {
      cloudwatch_logs {
        enabled   = true
        log_group = aws_cloudwatch_log_group.this.name
      }
    }
  }

  # It stays in the zones it was made in: MSK knows no way into another one but a new cluster, without what is in this one.
  lifecycle {
    prevent_destroy = true
    ignore_changes  = [broker_node_group_info[0].client_subnets]
  }
}

# All of them; the addresses that clients begin with are three.
data "aws_msk_broker_nodes" "this" {
  cluster_arn = aws_msk_cluster.this.arn
}

resource "aws_appautoscaling_target" "storage" {
  service_namespace  = "kafka"
  scalable_dimension = "kafka:broker-storage:VolumeSize"
  resource_id        = aws_msk_cluster.this.arn
  min_capacity       = 1
  max_capacity       = var.volume_size_max
}

resource "aws_appautoscaling_policy" "storage" {
  name               = "${var.name}-kafka-storage"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.storage.service_namespace
  scalable_dimension = aws_appautoscaling_target.storage.scalable_dimension
  resource_id        = aws_appautoscaling_target.storage.resource_id

  target_tracking_scaling_policy_configuration {
    target_value     = 60
    disable_scale_in = true # a disk cannot shrink

    predefined_metric_specification {
      predefined_metric_type = "KafkaBrokerStorageUtilization"
    }
  }
}

# What a worker may do: its own crawl's topics and group, nothing else of the cluster.
locals {
  own = { for kind in ["topic", "group"] : kind => replace("${aws_msk_cluster.this.arn}/", ":cluster/", ":${kind}/") }
}

data "aws_iam_policy_document" "client" {
  statement {
    sid       = "Connect"
    actions   = ["kafka-cluster:Connect", "kafka-cluster:DescribeCluster", "kafka-cluster:WriteDataIdempotently"]
    resources = [aws_msk_cluster.this.arn]
  }

  statement {
    sid = "Topics"
    actions = [
      "kafka-cluster:CreateTopic", "kafka-cluster:DescribeTopic", "kafka-cluster:DescribeTopicDynamicConfiguration",
      "kafka-cluster:ReadData", "kafka-cluster:WriteData",
    ]
    resources = ["${local.own.topic}${var.crawl}.*"]
  }

  # Kafka asks for the right to delete a topic from who deletes its records below the watermark.
  statement {
    sid       = "Frontier"
    actions   = ["kafka-cluster:DeleteTopic"]
    resources = ["${local.own.topic}${var.crawl}.frontier.*"]
  }

  statement {
    sid       = "Watermarks"
    actions   = ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"]
    resources = ["${local.own.group}${var.crawl}.frontier"]
  }
}

# What AWS itself can tell, and who hears it. The crawl's own metrics, alerts and dashboards are in monitoring/.

resource "aws_sns_topic" "this" {
  name              = "${var.name}-alarms"
  kms_master_key_id = var.kms_key_arn
}

resource "aws_sns_topic_subscription" "mail" {
  for_each  = toset(var.mail)
  topic_arn = aws_sns_topic.this.arn
  protocol  = "email"
  endpoint  = each.value
}

data "aws_caller_identity" "current" {}

locals {
  worst = { statistic = "Maximum", operator = "GreaterThanThreshold", silence = "missing" }
  least = { statistic = "Minimum", operator = "LessThanThreshold", silence = "breaching" }

  alarms = merge(
    {
      kafka-offline = merge(local.worst, {
        namespace  = "AWS/Kafka", metric = "OfflinePartitionsCount", limit = 0
        dimensions = { "Cluster Name" = var.kafka_cluster }
        text       = "Partitions of Kafka are offline"
      })
    },
    {
      for broker in range(1, var.kafka_brokers + 1) : "kafka-${broker}-disk" => merge(local.worst, {
        namespace  = "AWS/Kafka", metric = "KafkaDataLogsDiskUsed", limit = 80
        dimensions = { "Cluster Name" = var.kafka_cluster, "Broker ID" = tostring(broker) }
        text       = "The disk of Kafka's broker ${broker} is over 80 % full"
      })
    },
    {
      for node in var.redis_nodes : "redis-${node}-memory" => merge(local.worst, {
        namespace  = "AWS/ElastiCache", metric = "DatabaseMemoryUsagePercentage", limit = 80
        dimensions = { CacheClusterId = node }
        text       = "Redis's node ${node} is over 80 % full, and evicts nothing"
      })
    },
    {
      for group in var.server_groups : "${group}-away" => merge(local.least, {
        namespace  = "AWS/AutoScaling", metric = "GroupInServiceInstances", limit = 1
        dimensions = { AutoScalingGroupName = group }
        text       = "${group} has no machine in service"
      })
    },
    merge([
      for domain in var.domains : {
        for name, alarm in {
          red    = { metric = "ClusterStatus.red", text = "Shards of OpenSearch are on no node: some of the index is not searched" }
          writes = { metric = "ClusterIndexWritesBlocked", text = "OpenSearch takes nothing more: a disk is full, or its memory" }
          } : "opensearch-${domain}-${name}" => merge(local.worst, {
            namespace  = "AWS/ES", metric = alarm.metric, limit = 0
            dimensions = { DomainName = domain, ClientId = data.aws_caller_identity.current.account_id }
            text       = alarm.text
        })
      }
    ]...),
    {
      for domain in var.domains : "opensearch-${domain}-disk" => merge(local.least, {
        namespace  = "AWS/ES", metric = "FreeStorageSpace", limit = 10240, silence = "missing"
        dimensions = { DomainName = domain, ClientId = data.aws_caller_identity.current.account_id }
        text       = "A node of OpenSearch has less than 10 GiB of disk left"
      })
    },
    {
      for zone, gateway in var.nat_gateways : "nat-${zone}-ports" => merge(local.worst, {
        namespace  = "AWS/NATGateway", metric = "ErrorPortAllocation", limit = 0
        dimensions = { NatGatewayId = gateway }
        text       = "The NAT gateway in ${zone} has no port left for more connections to one address"
      })
    },
  )
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each            = local.alarms
  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  comparison_operator = each.value.operator
  threshold           = each.value.limit
  period              = 300
  evaluation_periods  = 2
  treat_missing_data  = each.value.silence
  alarm_actions       = [aws_sns_topic.this.arn]
  ok_actions          = [aws_sns_topic.this.arn]
}

resource "aws_budgets_budget" "this" {
  count        = length(var.mail) > 0 ? 1 : 0
  name         = var.name
  budget_type  = "COST"
  limit_amount = tostring(var.budget)
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  dynamic "notification" {
    for_each = { ACTUAL = 80, FORECASTED = 100 }

    content {
      notification_type          = notification.key
      threshold                  = notification.value
      threshold_type             = "PERCENTAGE"
      comparison_operator        = "GREATER_THAN"
      subscriber_email_addresses = var.mail
    }
  }
}

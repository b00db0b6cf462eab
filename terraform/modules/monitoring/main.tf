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

locals {
  alarms = merge(
    {
      kafka-disk = {
        namespace  = "AWS/Kafka", metric = "KafkaDataLogsDiskUsed", statistic = "Maximum", above = 80
        dimensions = { "Cluster Name" = var.kafka_cluster }
        text       = "A disk of Kafka is over 80 % full"
      }
      kafka-offline = {
        namespace  = "AWS/Kafka", metric = "OfflinePartitionsCount", statistic = "Maximum", above = 0
        dimensions = { "Cluster Name" = var.kafka_cluster }
        text       = "Partitions of Kafka are offline"
      }
      redis-memory = {
        namespace  = "AWS/ElastiCache", metric = "DatabaseMemoryUsagePercentage", statistic = "Maximum", above = 80
        dimensions = { ReplicationGroupId = var.redis_replication_group }
        text       = "Redis is over 80 % full, and evicts nothing"
      }
    },
    {
      for group in var.server_groups : "${group}-away" => {
        namespace  = "AWS/EC2", metric = "StatusCheckFailed", statistic = "Maximum", above = 0
        dimensions = { AutoScalingGroupName = group }
        text       = "The machine of ${group} fails its checks"
      }
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
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.above
  period              = 300
  evaluation_periods  = 2
  treat_missing_data  = "missing"
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

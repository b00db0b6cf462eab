variables {
  name          = "gregor"
  kms_key_arn   = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  mail          = ["crawl@example.org"]
  kafka_cluster = "gregor"
  kafka_brokers = 2
  redis_nodes   = ["gregor-001"]
  server_groups = ["gregor-cassandra-1"]
  domains       = ["gregor"]
  nat_gateways  = { us-east-1a = "nat-0123456789abcdef0" }
}

run "somebody_hears_it" {
  assert {
    condition     = alltrue([for alarm in aws_cloudwatch_metric_alarm.this : alarm.alarm_actions == toset([aws_sns_topic.this.arn])])
    error_message = "Every alarm goes to the topic."
  }

  assert {
    condition     = aws_sns_topic.this.kms_master_key_id == var.kms_key_arn && aws_sns_topic_subscription.mail["crawl@example.org"].protocol == "email"
    error_message = "The topic is encrypted, and mailed."
  }

  assert {
    condition     = one(aws_budgets_budget.this).limit_amount == "500"
    error_message = "Cost has an alarm too."
  }
}

run "each_part_is_watched" {
  assert {
    condition = toset(keys(aws_cloudwatch_metric_alarm.this)) == toset([
      "kafka-offline", "kafka-1-disk", "kafka-2-disk", "redis-gregor-001-memory", "gregor-cassandra-1-away", "nat-us-east-1a-ports",
      "opensearch-gregor-red", "opensearch-gregor-writes", "opensearch-gregor-disk",
    ])
    error_message = "Brokers, nodes and ways out, each by its own."
  }

  assert {
    condition     = aws_cloudwatch_metric_alarm.this["gregor-cassandra-1-away"].treat_missing_data == "breaching"
    error_message = "A group that says nothing has no machine."
  }
}

run "wrong_values" {
  command = plan

  variables {
    mail   = ["nobody"]
    budget = 0
  }

  expect_failures = [var.mail, var.budget]
}

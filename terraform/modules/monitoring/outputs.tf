output "topic_arn" {
  description = "Where alarms go."
  value       = aws_sns_topic.this.arn
}

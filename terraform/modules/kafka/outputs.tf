output "settings" {
  description = "Settings of a worker, named as the config's fields."
  value = {
    kafka                = sort(split(",", aws_msk_cluster.this.bootstrap_brokers_sasl_iam))
    kafka_security       = "sasl_ssl"
    kafka_sasl_mechanism = "AWS_MSK_IAM"
    kafka_replication    = var.kafka_replication
  }
}

output "client_policy" {
  description = "The IAM policy of a worker."
  value       = data.aws_iam_policy_document.client.json
}

output "brokers" {
  description = "How many, for alarms."
  value       = var.brokers
}

output "broker_names" {
  description = "Their names, for Prometheus."
  value       = sort(flatten([for node in data.aws_msk_broker_nodes.this.node_info_list : tolist(node.endpoints)]))
}

output "cluster_name" {
  description = "For alarms."
  value       = aws_msk_cluster.this.cluster_name
}

variables {
  user_agent     = "test/1.0 (+https://example.org/bot)"
  image          = "registry.example.org/gregor:0.1.0"
  redis_password = "0123456789abcdefXY"
}

run "costs_little" {
  command = plan

  assert {
    condition     = length(module.crawl.settings.zookeeper) == 1 && length(module.crawl.settings.cassandra) == 1
    error_message = "One node of each server."
  }

  assert {
    condition     = module.crawl.settings.cassandra_replication == 1 && module.crawl.settings.kafka_replication == 2
    error_message = "As many copies as there are nodes."
  }

  assert {
    condition     = var.partitions * 6 * 2 / 2 <= 300
    error_message = "Six topics, two copies, two brokers: a kafka.t3.small is advised to have 300 replicas at most."
  }

  assert {
    condition     = module.crawl.console_group == null
    error_message = "The worker shows itself."
  }
}

variables {
  user_agent     = "test/1.0 (+https://example.org/bot)"
  image          = "registry.example.org/gregor:0.1.0"
  redis_password = "0123456789abcdefXY"
}

run "survives_the_loss_of_a_zone" {
  command = plan

  assert {
    condition     = module.crawl.settings.kafka_replication == 3 && module.crawl.settings.cassandra_replication == 3
    error_message = "Each record and row is in three zones."
  }

  assert {
    condition     = length(module.crawl.settings.zookeeper) == 3
    error_message = "More than half of ZooKeeper outlives a zone."
  }
}

run "is_what_a_worker_needs" {
  assert {
    condition     = output.settings.kafka_security == "sasl_ssl" && output.settings.redis_tls
    error_message = "Nothing goes in plain text to Kafka and Redis."
  }

  assert {
    condition     = !strcontains(output.gregor_toml, "0123456789abcdefXY")
    error_message = "The settings hold no secret."
  }

  assert {
    condition     = strcontains(output.gregor_toml, "redis_password_file = \"/run/gregor/redis_password\"")
    error_message = "A secret is a file in memory."
  }
}

run "names_stay" {
  command = plan

  variables {
    zones = ["us-east-1a", "us-east-1b", "us-east-1c"]
    name  = "other"
  }

  assert {
    condition     = output.settings.zookeeper[0] == "zookeeper-1.other.internal:2181"
    error_message = "Servers are known by names that stay."
  }
}

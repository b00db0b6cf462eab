# To try it: two zones (MSK takes no fewer), one of each server, one NAT gateway. About 0.50 USD an hour in us-east-1
# before traffic (2 × kafka.t3.small, 1 × cache.t4g.small, m7g.medium, m7g.large, c7g.medium, NAT). It survives
# restarts, not the loss of a zone.
terraform {
  required_version = ">= 1.11"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }
}

locals {
  tags = { Project = var.name, ManagedBy = "terraform" }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = local.tags
  }
}

module "crawl" {
  source                  = "../../modules/crawl"
  name                    = var.name
  tags                    = local.tags
  zones                   = var.zones
  one_nat                 = true
  crawl                   = var.crawl
  partitions              = var.partitions
  user_agent              = var.user_agent
  settings                = var.settings
  image                   = var.image
  repository_arn          = var.repository_arn
  workers_min             = 1
  workers_max             = 2
  kafka_brokers           = 2
  kafka_instance_type     = "kafka.t3.small"
  kafka_volume_size       = 10
  kafka_volume_size_max   = 50
  kafka_replication       = 2
  redis_node_type         = "cache.t4g.small"
  redis_nodes             = 1
  redis_password          = var.redis_password
  zookeeper_nodes         = 1
  cassandra_nodes         = 1
  cassandra_instance_type = "m7g.large"
  cassandra_volume_size   = 50
  cassandra_heap_size     = "2G"
  cassandra_replication   = 1
  mail                    = var.mail
  budget                  = 100
  exports_force_destroy   = true
}

# Three zones, any of which may be lost.
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
  crawl                   = var.crawl
  partitions              = var.partitions
  user_agent              = var.user_agent
  settings                = var.settings
  image                   = var.image
  repository_arn          = var.repository_arn
  workers_min             = var.workers_min
  workers_max             = var.workers_max
  spot                    = var.spot
  schedules               = var.schedules
  kafka_brokers           = var.kafka_brokers
  kafka_instance_type     = var.kafka_instance_type
  kafka_volume_size       = var.kafka_volume_size
  kafka_volume_size_max   = var.kafka_volume_size_max
  redis_node_type         = var.redis_node_type
  redis_nodes             = var.redis_nodes
  worker_instance_type    = var.worker_instance_type
  redis_replicas          = 1
  redis_password          = var.redis_password
  opensearch_nodes        = var.opensearch_nodes
  index_workers           = var.index_workers
  opensearch_domain_nodes = var.opensearch_domain_nodes
  opensearch_password     = var.opensearch_password
  cassandra_nodes         = var.cassandra_nodes
  cassandra_instance_type = var.cassandra_instance_type
  cassandra_volume_size   = var.cassandra_volume_size
  mail                    = var.mail
  budget                  = var.budget
  endpoints               = ["ecr.api", "ecr.dkr", "logs", "secretsmanager"]
  console                 = true
}

# The servers as in `cluster`, the workers on EKS by the chart: three zones, any of which may be lost.
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
  workers_on              = "kubernetes"
  kafka_brokers           = var.kafka_brokers
  kafka_instance_type     = var.kafka_instance_type
  kafka_volume_size       = var.kafka_volume_size
  kafka_volume_size_max   = var.kafka_volume_size_max
  redis_node_type         = var.redis_node_type
  redis_nodes             = var.redis_nodes
  redis_replicas          = 1
  redis_password          = var.redis_password
  opensearch_domain_nodes = var.opensearch_domain_nodes
  opensearch_password     = var.opensearch_password
  cassandra_nodes         = var.cassandra_nodes
  cassandra_instance_type = var.cassandra_instance_type
  cassandra_volume_size   = var.cassandra_volume_size
  mail                    = var.mail
  budget                  = var.budget
}

module "kubernetes" {
  source            = "../../modules/kubernetes"
  name              = var.name
  tags              = local.tags
  subnets           = module.crawl.network.subnets
  security_group_id = module.crawl.network.security_group_id
  kms_key_arn       = module.crawl.kms_key_arn
  policy            = module.crawl.worker_policy
  api_cidrs         = var.api_cidrs
  workers           = var.workers
  index_workers     = var.index_workers
  spot              = var.spot
  namespace         = var.namespace
  release           = var.release
}

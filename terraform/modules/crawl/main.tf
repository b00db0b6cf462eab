# All that a crawl needs: a network, the four servers, workers, who is told when something is wrong.

module "network" {
  source  = "../network"
  name    = var.name
  cidr    = var.cidr
  zones   = var.zones
  one_nat = var.one_nat

  endpoints = var.endpoints
}

resource "aws_security_group" "workers" {
  # checkov:skip=CKV2_AWS_5:It is attached in the modules workers and kubernetes
  name_prefix = "${var.name}-workers-"
  description = "Workers of ${var.name}: nobody connects to them from outside"
  vpc_id      = module.network.vpc_id

  lifecycle {
    create_before_destroy = true
  }
}

# A crawler goes to any port of the public web, and to the servers, whose own groups say who may.
resource "aws_vpc_security_group_egress_rule" "web" {
  security_group_id = aws_security_group.workers.id
  description       = "The web and the servers"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = 1
  to_port           = 65535
}

# The console, metrics and orders of one worker for another, and for a Prometheus that is given this group.
resource "aws_vpc_security_group_ingress_rule" "api" {
  security_group_id            = aws_security_group.workers.id
  description                  = "API, with a token"
  referenced_security_group_id = aws_security_group.workers.id
  ip_protocol                  = "tcp"
  from_port                    = 9100
  to_port                      = 9100
}

# Where there is an endpoint, its service is reached by it alone, by servers too: they write logs.
resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  for_each = merge(
    {
      workers   = aws_security_group.workers.id
      zookeeper = module.zookeeper.security_group_id
      cassandra = module.cassandra.security_group_id
    },
    { for number, group in module.opensearch[*].security_group_id : "opensearch" => group },
  )

  security_group_id            = module.network.endpoints_security_group_id
  description                  = each.key
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

# Values of the tokens are put in by hand or by a pipeline; they never enter the state.
resource "aws_secretsmanager_secret" "this" {
  # checkov:skip=CKV2_AWS_57:Redis and the workers' tokens are changed by who runs the crawl: docs/deployment.md says how
  for_each = toset(concat(
    ["redis_password", "viewer_token", "operator_token"],
    can(var.settings.opensearch_username) || var.opensearch_domain_nodes > 0 ? ["opensearch_password"] : [],
  ))
  name_prefix = "${var.name}/${each.key}-"
  description = "${each.key} of ${var.name}"
  kms_key_id  = aws_kms_key.this.arn
}

resource "aws_secretsmanager_secret_version" "redis" {
  secret_id        = aws_secretsmanager_secret.this["redis_password"].id
  secret_string_wo = var.redis_password
  # Another password is another version; Redis's own copy of it is in the state anyway.
  secret_string_wo_version = parseint(substr(sha256(var.redis_password), 0, 7), 16)
}

resource "aws_secretsmanager_secret_version" "opensearch" {
  count                    = var.opensearch_domain_nodes > 0 ? 1 : 0
  secret_id                = aws_secretsmanager_secret.this["opensearch_password"].id
  secret_string_wo         = var.opensearch_password
  secret_string_wo_version = parseint(substr(sha256(var.opensearch_password), 0, 7), 16)
}

module "kafka" {
  source                   = "../kafka"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnet_ids               = slice(values(module.network.subnets), 0, min(3, length(var.zones)))
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  crawl                    = var.crawl
  kafka_replication        = var.kafka_replication
  brokers                  = var.kafka_brokers
  instance_type            = var.kafka_instance_type
  volume_size              = var.kafka_volume_size
  volume_size_max          = var.kafka_volume_size_max
}

module "redis" {
  source                   = "../redis"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnet_ids               = values(module.network.subnets)
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  node_type                = var.redis_node_type
  replicas                 = var.redis_nodes - 1
  redis_replicas           = var.redis_replicas
  redis_password           = var.redis_password
}

module "zookeeper" {
  source                   = "../zookeeper"
  name                     = var.name
  tags                     = var.tags
  vpc_id                   = module.network.vpc_id
  subnets                  = module.network.subnets
  zone_id                  = module.network.zone_id
  domain                   = module.network.domain
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.zookeeper_nodes
  instance_type            = var.zookeeper_instance_type
}

module "cassandra" {
  source                   = "../cassandra"
  name                     = var.name
  tags                     = var.tags
  vpc_id                   = module.network.vpc_id
  subnets                  = module.network.subnets
  zone_id                  = module.network.zone_id
  domain                   = module.network.domain
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.cassandra_nodes
  instance_type            = var.cassandra_instance_type
  volume_size              = var.cassandra_volume_size
  heap_size                = var.cassandra_heap_size
  cassandra_replication    = var.cassandra_replication
}

module "opensearch" {
  count                    = var.opensearch_nodes > 0 ? 1 : 0
  source                   = "../opensearch"
  name                     = var.name
  tags                     = var.tags
  vpc_id                   = module.network.vpc_id
  subnets                  = module.network.subnets
  zone_id                  = module.network.zone_id
  domain                   = module.network.domain
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.opensearch_nodes
  instance_type            = var.opensearch_instance_type
  volume_size              = var.opensearch_volume_size
  heap_size                = var.opensearch_heap_size
}

module "opensearch_domain" {
  count                    = var.opensearch_domain_nodes > 0 ? 1 : 0
  source                   = "../opensearch_domain"
  name                     = var.name
  vpc_id                   = module.network.vpc_id
  subnet_ids               = slice(values(module.network.subnets), 0, min(var.opensearch_domain_nodes, length(var.zones)))
  client_security_group_id = aws_security_group.workers.id
  kms_key_arn              = aws_kms_key.this.arn
  nodes                    = var.opensearch_domain_nodes
  instance_type            = var.opensearch_domain_instance_type
  managers                 = var.opensearch_domain_managers
  volume_size              = var.opensearch_volume_size
  opensearch_password      = var.opensearch_password
}

module "exports" {
  source        = "../exports"
  name          = var.name
  kms_key_arn   = aws_kms_key.this.arn
  keep_days     = var.exports_keep_days
  force_destroy = var.exports_force_destroy
}

# What a worker may do, be it a machine or a pod.
data "aws_iam_policy_document" "worker" {
  source_policy_documents = [module.kafka.client_policy, module.exports.writer_policy]
}

locals {
  settings = merge(
    var.settings, module.kafka.settings, module.redis.settings, module.zookeeper.settings, module.cassandra.settings,
    try(module.opensearch[0].settings, {}), try(module.opensearch_domain[0].settings, {}),
    { crawl = var.crawl, partitions = var.partitions, user_agent = var.user_agent, linger = true },
  )
  secrets = { for field, secret in aws_secretsmanager_secret.this : field => secret.arn }
}

module "workers" {
  count             = var.workers_on == "ec2" ? 1 : 0
  source            = "../workers"
  name              = var.name
  tags              = var.tags
  subnets           = module.network.subnets
  security_group_id = aws_security_group.workers.id
  kms_key_arn       = aws_kms_key.this.arn
  settings          = local.settings
  secrets           = local.secrets
  policy            = data.aws_iam_policy_document.worker.json
  image             = var.image
  repository_arn    = var.repository_arn
  instance_type     = var.worker_instance_type
  workers_min       = var.workers_min
  workers_max       = min(var.workers_max, var.partitions)
  spot              = var.spot
  schedules         = var.schedules
}

# Workers of the index: they share its partitions, and may go at any time.
module "index" {
  count             = var.workers_on == "ec2" && var.index_workers > 0 ? 1 : 0
  source            = "../workers"
  command           = "index"
  name              = var.name
  tags              = var.tags
  subnets           = module.network.subnets
  security_group_id = aws_security_group.workers.id
  kms_key_arn       = aws_kms_key.this.arn
  settings          = local.settings
  secrets           = local.secrets
  policy            = data.aws_iam_policy_document.worker.json
  image             = var.image
  repository_arn    = var.repository_arn
  instance_type     = var.worker_instance_type
  workers_min       = var.index_workers
  workers_max       = var.index_workers
}

# One machine that a browser may be led to: docs/deployment.md says how.
module "console" {
  count             = var.console ? 1 : 0
  source            = "../workers"
  command           = "console"
  recrawl           = var.recrawl
  name              = var.name
  tags              = var.tags
  subnets           = module.network.subnets
  security_group_id = aws_security_group.workers.id
  kms_key_arn       = aws_kms_key.this.arn
  settings          = local.settings
  secrets           = local.secrets
  policy            = data.aws_iam_policy_document.worker.json
  image             = var.image
  repository_arn    = var.repository_arn
  instance_type     = var.worker_instance_type
  topic_arn         = module.monitoring.topic_arn
  kafka_brokers     = module.kafka.broker_names
  redis_endpoints   = module.redis.endpoints
  runbook           = var.runbook
  workers_min       = 1
  workers_max       = 1
}

module "monitoring" {
  source        = "../monitoring"
  name          = var.name
  kms_key_arn   = aws_kms_key.this.arn
  mail          = var.mail
  budget        = var.budget
  kafka_cluster = module.kafka.cluster_name
  kafka_brokers = module.kafka.brokers
  redis_nodes   = module.redis.nodes
  domains       = module.opensearch_domain[*].domain_name
  server_groups = concat(module.zookeeper.group_names, module.cassandra.group_names, flatten(module.opensearch[*].group_names))
  nat_gateways  = module.network.nat_gateways
}

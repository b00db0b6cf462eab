# OpenSearch on machines of its own: the index of what is crawled. A zone is a rack: a copy of a shard is in another one.
# Amazon OpenSearch is the module opensearch_domain; any other is used by its addresses: settings.opensearch.

locals {
  names = [for node in range(var.nodes) : "opensearch-${node + 1}"]
}

module "nodes" {
  source = "../nodes"

  name                     = var.name
  tags                     = var.tags
  vpc_id                   = var.vpc_id
  subnets                  = var.subnets
  zone_id                  = var.zone_id
  domain                   = var.domain
  kms_key_arn              = var.kms_key_arn
  client_security_group_id = var.client_security_group_id
  instance_type            = var.instance_type
  architecture             = can(regex("^[a-z]+[0-9]g", var.instance_type)) ? "arm64" : "x86_64"
  volume_size              = var.volume_size
  nodes                    = var.nodes
  kind                     = "opensearch"
  image                    = var.image
  user                     = "1000:1000"
  mount                    = "/usr/share/opensearch/data"
  client_port              = 9200
  peer_ports               = [9300]

  # Nobody but workers and nodes reaches it, and EC2 encrypts what goes between these machines.
  environment = {
    "cluster.name"                                    = var.name
    "network.host"                                    = "0.0.0.0"
    "cluster.routing.allocation.awareness.attributes" = "zone"
    DISABLE_SECURITY_PLUGIN                           = "true"
    DISABLE_INSTALL_DEMO_CONFIG                       = "true"
    OPENSEARCH_JAVA_OPTS                              = "-Xms${var.heap_size} -Xmx${var.heap_size}"
  }

  environment_by_node = {
    "node.name"            = "opensearch-NODE"
    "node.attr.zone"       = "ZONE"
    "network.publish_host" = "ADDRESS"
    "discovery.seed_hosts" = "OTHERS"
  }

  # The first nodes of all agree on who they are. One that has lost its disk later joins those that are there, and never
  # begins a cluster of its own.
  before = <<-EOT
    if [ "$joined" != yes ]; then
      echo "cluster.initial_cluster_manager_nodes=${join(",", local.names)}"
    fi
  EOT

  # Answered by who knows a cluster manager.
  ready = "docker exec server curl -sf -o /dev/null 'http://127.0.0.1:9200/_cluster/health?timeout=5s'"

  snapshots = var.snapshots
}

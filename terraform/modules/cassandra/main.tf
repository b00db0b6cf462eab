# Cassandra on machines of its own: rows, pages, links, the calendar, backlogs. A zone is a rack.

module "nodes" {
  source = "../nodes"

  name                     = var.name
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
  kind                     = "cassandra"
  image                    = var.image
  user                     = "999:999"
  mount                    = "/var/lib/cassandra"
  client_port              = 9042
  peer_ports               = [7000]

  environment = {
    CASSANDRA_CLUSTER_NAME    = var.name
    CASSANDRA_DC              = var.cassandra_datacenter
    CASSANDRA_ENDPOINT_SNITCH = "GossipingPropertyFileSnitch"
    CASSANDRA_SEEDS           = join(",", [for node in range(min(3, var.nodes)) : "cassandra-${node + 1}.${var.domain}"])
    MAX_HEAP_SIZE             = var.heap_size
    HEAP_NEWSIZE              = "800M"
  }

  environment_by_node = {
    CASSANDRA_RACK              = "ZONE"
    CASSANDRA_LISTEN_ADDRESS    = "ADDRESS"
    CASSANDRA_BROADCAST_ADDRESS = "ADDRESS"
  }
}

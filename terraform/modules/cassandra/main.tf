# Cassandra on machines of its own: rows, pages, links, the calendar, backlogs. A zone is a rack.

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
  kind                     = "cassandra"
  image                    = var.image
  user                     = "999:999"
  mount                    = "/var/lib/cassandra"
  client_port              = 9042
  peer_ports               = [7000]
  metrics_ports            = [7070]
  agent_config             = file("${path.module}/exporter.yml")

  environment = {
    CASSANDRA_CLUSTER_NAME    = var.name
    CASSANDRA_DC              = var.cassandra_datacenter
    CASSANDRA_ENDPOINT_SNITCH = "GossipingPropertyFileSnitch"
    MAX_HEAP_SIZE             = var.heap_size
    HEAP_NEWSIZE              = "800M"
  }

  environment_by_node = {
    CASSANDRA_RACK              = "ZONE"
    CASSANDRA_SEEDS             = "OTHERS"
    CASSANDRA_LISTEN_ADDRESS    = "ADDRESS"
    CASSANDRA_BROADCAST_ADDRESS = "ADDRESS"
  }

  # No node is among its own seeds, or it could not replace itself. Who was one of them and has lost its disk takes its
  # own place again, filled by the others; Cassandra ignores that where there is data. The first of all begins alone,
  # if nobody else is there, or it would wait for others for ever.
  before = <<-EOT
    if [ "$joined" = yes ]; then
      echo "JVM_EXTRA_OPTS=-Dcassandra.replace_address_first_boot=$address"
    elif [ "$number" = 1 ] && [ ! -e "$data/data/system" ]; then
      for other in $(echo "$others" | tr , ' '); do
        if timeout 5 bash -c "exec 3<>/dev/tcp/$other/7000"; then return; fi
      done
      echo "CASSANDRA_SEEDS=$address"
    fi
  EOT

  ready = "docker exec server nodetool netstats 2>/dev/null | grep -q 'Mode: NORMAL'"

  # Within gc_grace_seconds (ten days) of every deletion each node must have heard of it, or what was deleted comes back.
  timers = {
    repair = { on = "DAY 05:00", command = "exec docker exec server nodetool repair --full --partitioner-range" }
  }

  snapshots = var.snapshots
}

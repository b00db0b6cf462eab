# ZooKeeper on machines of its own: who owns which partition, and the operator's orders.

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
  kind                     = "zookeeper"
  image                    = var.image
  user                     = "1000:1000"
  mount                    = "/data"
  client_port              = 2181
  peer_ports               = [2888, 3888]
  metrics_ports            = [7000]

  environment = {
    ZOO_TICK_TIME = "500"
    ZOO_CFG_EXTRA = join(" ", [
      "minSessionTimeout=1000", "maxSessionTimeout=${var.session_timeout_max * 1000}", "quorumListenOnAllIPs=true",
      "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider", "metricsProvider.httpPort=7000",
    ])
    ZOO_4LW_COMMANDS_WHITELIST  = "srvr"
    ZOO_ADMINSERVER_ENABLED     = "false"
    ZOO_AUTOPURGE_PURGEINTERVAL = "24"
    ZOO_DATA_LOG_DIR            = "/data/log"
    ZOO_SERVERS = join(" ", [
      for node in range(var.nodes) : "server.${node + 1}=zookeeper-${node + 1}.${var.domain}:2888:3888;2181"
    ])
  }

  environment_by_node = { ZOO_MY_ID = "NODE" }
}

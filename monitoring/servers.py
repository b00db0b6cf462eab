"""What is shown of the servers that a crawl stands on: Kafka, Cassandra, Redis, ZooKeeper, their machines.

Each is asked for by its job, which the scrape configurations of this project give: `JOBS`.
"""

from typing import Final

from monitoring.panels import Dashboard, Panel, Query, Wrong

JOBS: Final = ("gregor-kafka", "gregor-cassandra", "gregor-redis", "gregor-zookeeper", "gregor-node")
"""Brokers, nodes and servers by their exporters; ``gregor-node``: the machines, by node_exporter."""

_RATE: Final = "$__rate_interval"
_NODE: Final = "{{instance}}"
_REAL: Final = 'job=~"gregor-node", fstype!~"tmpfs|ramfs|overlay|squashfs|devtmpfs"'
"""Disks, without what is in memory or is seen twice."""


def _kafka(mbean: str, name: str, more: str = "") -> str:
    return f'kafka_{mbean}{{job=~"gregor-kafka", name="{name}"{more}}}'


def _cassandra(mbean: str, name: str, more: str = "") -> str:
    return f'org_apache_cassandra_metrics_{mbean}{{job=~"gregor-cassandra", name="{name}"{more}}}'


def _of(job: str, metric: str) -> str:
    return f'{metric}{{job=~"gregor-{job}"}}'


def _rate(series: str) -> str:
    return f"rate({series}[{_RATE}])"


def _panel(title: str, unit: str, description: str, *queries: tuple[str, str], wrong: Wrong | None = None) -> Panel:
    return Panel(title, unit, tuple(Query(*query) for query in queries), "timeseries", description, wrong)


_MACHINES: Final = (
    Panel("Servers that answer", "short",
          (Query('min by (job) (up{job=~"gregor-.+"})', "{{job}}"),
           Query(f"min ({_of('redis', 'redis_up')})", "Redis itself")), "stat",
          "1 where every exporter of a kind answers Prometheus, and Redis its exporter; 0 where one does not.",
          Wrong(1, below=True)),
    _panel("Disk in use", "percentunit", "Share of each disk that is taken. Kafka and Cassandra stop when it is full.",
           (f"1 - node_filesystem_avail_bytes{{{_REAL}}} / node_filesystem_size_bytes{{{_REAL}}}",
            "{{instance}} {{mountpoint}}"), wrong=Wrong(0.9)),
    _panel("Disk busy", "percentunit", "Share of the time in which a disk works on something. At 1 it is the limit.",
           (_rate(_of("node", "node_disk_io_time_seconds_total")), "{{instance}} {{device}}"), wrong=Wrong(0.9)),
    _panel("Machine: memory that is available", "percentunit",
           "Share of a machine's memory that could be given to a process, files in memory counted as free.",
           (f"{_of('node', 'node_memory_MemAvailable_bytes')} / {_of('node', 'node_memory_MemTotal_bytes')}", _NODE),
           wrong=Wrong(0.05, below=True)),
    _panel("Machine: CPU", "percentunit", "Share of a machine's cores that is in use.",
           (f'1 - avg by (instance) (rate(node_cpu_seconds_total{{job=~"gregor-node", mode="idle"}}[{_RATE}]))', _NODE),
           wrong=Wrong(0.9)),
    _panel("Heap in use", "percentunit", "Share of its heap that a broker or node uses; it is let go in waves.",
           ('jvm_memory_used_bytes{job=~"gregor-(kafka|cassandra)", area="heap"} / jvm_memory_max_bytes',
            "{{job}} {{instance}}"), wrong=Wrong(0.95)),
)  # fmt: skip
_KAFKA: Final = (
    _panel("Kafka: partitions without all their replicas", "short",
           "Under-replicated: a replica is behind or its broker is away. Under the minimum: writes are refused.",
           (_kafka("server_ReplicaManager_Value", "UnderReplicatedPartitions"), "{{instance}} under-replicated"),
           (_kafka("server_ReplicaManager_Value", "UnderMinIsrPartitionCount"), "{{instance}} under the minimum"),
           (_kafka("server_ReplicaManager_Value", "OfflineReplicaCount"), "{{instance}} offline"), wrong=Wrong(1)),
    _panel("Kafka: bytes a second", "Bps", "What clients write to and read from each broker.",
           (_rate(_kafka("server_BrokerTopicMetrics_Count", "BytesInPerSec")), "{{instance}} in"),
           (_rate(_kafka("server_BrokerTopicMetrics_Count", "BytesOutPerSec")), "{{instance}} out")),
    _panel("Kafka: time of a request, 99 %", "ms", "Of each broker, by what is asked. A fetch waits for records.",
           (_kafka("network_RequestMetrics_99thPercentile", "TotalTimeMs", ', request=~"Produce|Fetch"'),
            "{{instance}} {{request}}"), wrong=Wrong(1000)),
)  # fmt: skip
_CASSANDRA: Final = (
    _panel("Cassandra: nodes that others hold for dead", "short", "As each node sees it.",
           (_of("cassandra", "org_apache_cassandra_net_FailureDetector_DownEndpointCount"), _NODE), wrong=Wrong(1)),
    _panel("Cassandra: compactions that wait", "short", "If they grow for hours, reads get slow and the disk full.",
           (_cassandra("Compaction_Value", "PendingTasks"), _NODE), wrong=Wrong(100)),
    _panel("Cassandra: time of a request, 99 %", "µs", "Of each node as coordinator, reads and writes.",
           (_cassandra("ClientRequest_99thPercentile", "Latency", ', scope=~"Read|Write"'), "{{instance}} {{scope}}"),
           wrong=Wrong(1_000_000)),
    _panel("Cassandra: requests that failed", "ops", "Timed out, or too few replicas were there.",
           (_rate(_cassandra("ClientRequest_Count", "Timeouts", ', scope=~"Read|Write"')),
            "{{instance}} {{scope}} timed out"),
           (_rate(_cassandra("ClientRequest_Count", "Unavailables", ', scope=~"Read|Write"')),
            "{{instance}} {{scope}} unavailable"),
           (_rate(_cassandra("DroppedMessage_Count", "Dropped")), "{{instance}} {{scope}} dropped"),
           wrong=Wrong(0.1)),
    _panel("Cassandra: data", "bytes", "What each node holds on its disk, replicas counted.",
           (_cassandra("Storage_Count", "Load"), _NODE)),
)  # fmt: skip
_REDIS: Final = (
    _panel("Redis: memory", "percentunit", "Share of maxmemory. At 1 it refuses writes, and the crawl waits.",
           (f"{_of('redis', 'redis_memory_used_bytes')} / ({_of('redis', 'redis_memory_max_bytes')} > 0)", _NODE),
           wrong=Wrong(0.9)),
    _panel("Redis: commands", "ops", "Commands a second of each server.",
           (_rate(_of("redis", "redis_commands_processed_total")), _NODE)),
    _panel("Redis: replicas", "short", "How many follow each server; 1 where a replica's link to its primary is up.",
           (_of("redis", "redis_connected_slaves"), "{{instance}} replicas"),
           (_of("redis", "redis_master_link_up"), "{{instance}} link")),
    _panel("Redis: how far replicas are behind", "s", "Seconds since a replica told its primary what it has.",
           (_of("redis", "redis_connected_slave_lag_seconds"), "{{slave_ip}}:{{slave_port}}"), wrong=Wrong(10)),
)  # fmt: skip
_ZOOKEEPER: Final = (
    _panel("ZooKeeper: servers in step with the leader", "short",
           "Followers that have what the leader has, and how many servers there are. Told by a quorum only.",
           (_of("zookeeper", "synced_followers"), "followers"),
           (f"max ({_of('zookeeper', 'quorum_size')})", "servers")),
    _panel("ZooKeeper: time of a request", "ms", "Mean and longest of each server since its start.",
           (_of("zookeeper", "avg_latency"), "{{instance}} mean"),
           (_of("zookeeper", "max_latency"), "{{instance}} longest")),
    _panel("ZooKeeper: requests that wait", "short", "What a server has taken and not answered.",
           (_of("zookeeper", "outstanding_requests"), _NODE), wrong=Wrong(50)),
    _panel("ZooKeeper: time to write the log", "ms", "Mean of an fsync, which every change of an owner waits for.",
           (f"{_rate(_of('zookeeper', 'fsynctime_sum'))} / ({_rate(_of('zookeeper', 'fsynctime_count'))} > 0)", _NODE),
           wrong=Wrong(100)),
    _panel("ZooKeeper: connections", "short", "Of workers and consoles.",
           (_of("zookeeper", "num_alive_connections"), _NODE)),
)  # fmt: skip

SERVERS: Final = Dashboard(
    "servers", "Gregor: servers", _MACHINES + _KAFKA + _CASSANDRA + _REDIS + _ZOOKEEPER, ours=False
)

"""When the alerts of the servers fire, and when they do not: series for each, firing and quiet."""

from typing import Final

Series = dict[str, str]


def of(job: str, metric: str, more: str = "", instance: str = "s1") -> str:
    return f'{metric}{{job="gregor-{job}", instance="{instance}"{", " + more if more else ""}}}'


def _disk(free: str, size: str = "100x440", kind: str = "xfs") -> Series:
    labels = f'device="/dev/sdf", fstype="{kind}", mountpoint="/data"'
    return {
        of("node", "node_filesystem_avail_bytes", labels): free,
        of("node", "node_filesystem_size_bytes", labels): size,
    }


def _memory(available: int) -> Series:
    return {
        of("node", "node_memory_MemAvailable_bytes"): f"{available}x440",
        of("node", "node_memory_MemTotal_bytes"): "100x440",
    }


def _kafka(name: str, value: str) -> Series:
    return {of("kafka", "kafka_server_ReplicaManager_Value", f'name="{name}"'): value}


def _cassandra(metric: str, name: str, value: str, more: str = "") -> Series:
    return {of("cassandra", f"org_apache_cassandra_metrics_{metric}", f'name="{name}"{more}'): value}


def _redis(used: int, bound: int) -> Series:
    return {
        of("redis", "redis_memory_used_bytes"): f"{used}x440",
        of("redis", "redis_memory_max_bytes"): f"{bound}x440",
    }


def _fsync(milliseconds: int) -> Series:
    return {
        of("zookeeper", "fsynctime_sum"): f"0+{60 * milliseconds}x440",
        of("zookeeper", "fsynctime_count"): "0+60x440",
    }


_DOWN: Final = "org_apache_cassandra_net_FailureDetector_DownEndpointCount"
_FOLLOWERS, _QUORUM = (of("zookeeper", metric) for metric in ("synced_followers", "quorum_size"))
_PAIR: Final = {of("redis", "redis_connected_slaves", instance="s2"): "0x440"}
_UNAVAILABLE: Final = ', scope="Write"'

CASES: Final[dict[str, tuple[Series, Series]]] = {
    "GregorServerDown": (
        {of("redis", "up"): "1x440", of("redis", "redis_up"): "1x400 0x40"},  # its exporter answers
        {of("kafka", "up"): "1x440", 'up{job="other", instance="x"}': "0x440"},
    ),
    "GregorServerDiskFull": (_disk("9x440"), {**_disk("11x440"), **_disk("1x440", kind="tmpfs")}),
    "GregorServerDiskFilling": (_disk("480-1x440", "1000x440"), _disk("900-0.05x440", "1000x440")),
    "GregorServerMemoryLow": (_memory(4), _memory(20)),
    "GregorKafkaUnderReplicated": (_kafka("UnderReplicatedPartitions", "3x440"), _kafka("PartitionCount", "3x440")),
    "GregorKafkaWritesRefused": (
        {of("kafka", "kafka_log_LogManager_Value", 'name="OfflineLogDirectoryCount"'): "1x440"},
        {**_kafka("UnderMinIsrPartitionCount", "0x440"), **_kafka("UnderReplicatedPartitions", "3x440")},
    ),
    "GregorCassandraNodeDown": ({of("cassandra", _DOWN): "1x440"}, {of("cassandra", _DOWN): "1x435 0x5"}),
    "GregorCassandraUnavailable": (
        _cassandra("ClientRequest_Count", "Unavailables", "0+1x440", _UNAVAILABLE),
        _cassandra("ClientRequest_Count", "Unavailables", "7x440", _UNAVAILABLE),
    ),
    "GregorCassandraCompactionsWait": (
        _cassandra("Compaction_Value", "PendingTasks", "150x440"),
        _cassandra("Compaction_Value", "PendingTasks", "50x440"),
    ),
    "GregorRedisMemoryFull": (_redis(95, 100), _redis(95, 0)),  # 0: no bound
    "GregorRedisReplicationBroken": (
        {**_PAIR, of("redis", "redis_connected_slaves"): "1x400 0x40"},
        {  # what was the replica is the primary now
            of("redis", "redis_connected_slaves"): "1x400 0x40",
            of("redis", "redis_connected_slaves", instance="s2"): "0x400 1x40",
            of("redis", "redis_master_link_up"): "1x440",
        },
    ),
    "GregorRedisNotWritten": (
        {of("redis", "redis_aof_last_write_status"): "0x440"},
        {of("redis", "redis_aof_last_write_status"): "1x440", of("redis", "redis_aof_last_bgrewrite_status"): "1x440"},
    ),
    "GregorZooKeeperNoLeader": ({_FOLLOWERS: "2x400"}, {_FOLLOWERS: "2x440"}),
    "GregorZooKeeperServerMissing": (
        {_FOLLOWERS: "1x440", _QUORUM: "3x440"},
        {_FOLLOWERS: "2x440", _QUORUM: "3x440"},
    ),
    "GregorZooKeeperSlow": (_fsync(300), {**_fsync(5), of("zookeeper", "outstanding_requests"): "2x440"}),
}

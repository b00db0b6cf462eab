"""Redis: a primary and a replica, on request with a Sentinel that promotes the replica."""

from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from tests.cluster.servers.guard import Guard
from tests.cluster.servers.packages import program
from tests.cluster.servers.process import Process, free_ports
from tests.cluster.servers.service import Service

MASTER: Final = "gregor"
SETTINGS: Final = ('save ""', "appendonly yes", "maxmemory-policy noeviction", "repl-diskless-sync-delay 0")
_SENTINEL: Final = """\
bind 127.0.0.1
port {port}
dir {folder}
sentinel monitor {name} 127.0.0.1 {primary} 1
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 5000
"""


def start(folder: Path, guard: Guard | None) -> Service:
    """Start a primary (the first address and node) and its replica; raises `Missing` or `ServerFailed`."""
    server = program("redis-server", "redis-server")
    ports = free_ports(2)
    nodes = []
    for number, port in enumerate(ports, 1):
        home = folder / f"redis{number}"
        home.mkdir(parents=True, exist_ok=True)
        follow = () if number == 1 else (f"replicaof 127.0.0.1 {ports[0]}",)
        # A file, not options: a Sentinel writes there who follows whom now, so that a node that was promoted since does
        # not come back as the replica of its own replica, a circle that no Sentinel breaks.
        config = home / "redis.conf"
        config.write_text("\n".join(["bind 127.0.0.1", f"port {port}", f"dir {home}", *SETTINGS, *follow]) + "\n")
        nodes.append(Process("redis", [server, str(config)], home, guard))
    addresses = tuple(f"127.0.0.1:{port}" for port in ports)
    service = Service(name="redis", addresses=addresses, nodes=tuple(nodes), answers=lambda: answers(addresses))
    service.start()
    return service


def start_sentinel(folder: Path, guard: Guard | None) -> Service:
    """Start a primary, its replica and a Sentinel that calls them `MASTER`: addresses and nodes in this order."""
    sentinel = program("redis-sentinel", "redis-sentinel")
    pair = start(folder / "watched", guard)
    (port,) = free_ports(1)
    home = folder / "sentinel"
    home.mkdir(parents=True, exist_ok=True)
    config = home / "sentinel.conf"
    primary = pair.addresses[0].rpartition(":")[2]
    config.write_text(_SENTINEL.format(port=port, folder=home, name=MASTER, primary=primary))
    node = Process("sentinel", [sentinel, str(config)], home, guard)
    addresses = (*pair.addresses, f"127.0.0.1:{port}")
    service = Service(
        name="sentinel",
        addresses=addresses,
        nodes=(*pair.nodes, node),
        answers=lambda: sentinel_answers(addresses),
    )
    service.start()
    return service


def answers(addresses: tuple[str, ...]) -> bool:
    """Whether all serve, and every replica is in step with a primary."""
    return all(_in_step(address) for address in addresses)


def sentinel_answers(addresses: tuple[str, ...]) -> bool:
    """Whether the pair serves and the Sentinel, the last address, knows of the replica."""
    return answers(addresses[:-1]) and _knows_replica(addresses[-1])


def _in_step(address: str) -> bool:
    try:
        with _client(address) as client:
            info = client.info("replication")
            return bool(info["role"] == "master" or info["master_link_status"] == "up")
    except RedisError:
        return False


def _knows_replica(address: str) -> bool:
    try:
        with _client(address) as client:
            return len(client.sentinel_slaves(MASTER)) > 0
    except RedisError:
        return False


def _client(address: str) -> Redis:
    host, _, port = address.rpartition(":")
    return Redis(host, int(port), socket_timeout=5, socket_connect_timeout=5)

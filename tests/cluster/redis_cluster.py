"""A Redis Cluster of three primaries, as processes of this machine."""

from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from tests.cluster.servers import Service
from tests.cluster.servers.packages import program
from tests.cluster.servers.process import Process, free_ports

_SLOTS: Final = 16384
_NODES: Final = 3
_OPTIONS: Final = ("--bind", "127.0.0.1", "--save", "", "--cluster-enabled", "yes", "--maxmemory-policy", "noeviction")


def start_cluster(folder: Path) -> Service:
    """Start them; raises `Missing` or `ServerFailed`. Whoever starts them ends them."""
    server = program("redis-server", "redis-server")
    ports = free_ports(2 * _NODES)
    clients, buses = ports[:_NODES], ports[_NODES:]
    nodes = []
    for port, bus in zip(clients, buses, strict=True):
        options = ("--port", str(port), "--cluster-port", str(bus), "--dir", str(folder / str(port)))
        nodes.append(Process("redis", [server, *_OPTIONS, *options], folder / str(port), None))
    addresses = tuple(f"127.0.0.1:{port}" for port in clients)
    Service(name="redis", addresses=addresses, nodes=tuple(nodes), answers=lambda: _alive(clients)).start()
    for number, port in enumerate(clients):
        with Redis(port=port) as node:
            first, last = number * _SLOTS // _NODES, (number + 1) * _SLOTS // _NODES - 1
            node.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
            node.execute_command("CLUSTER MEET", "127.0.0.1", clients[0], buses[0])
    service = Service(name="redis_cluster", addresses=addresses, nodes=tuple(nodes), answers=lambda: _joined(clients))
    service.ready()
    return service


def _alive(ports: list[int]) -> bool:
    try:
        for port in ports:
            with Redis(port=port) as node:
                node.ping()
    except RedisError:
        return False
    return True


def _joined(ports: list[int]) -> bool:
    for port in ports:
        with Redis(port=port) as node:
            info = node.execute_command("CLUSTER INFO")
            if info["cluster_state"] != "ok" or int(info["cluster_known_nodes"]) != _NODES:
                return False
    return True

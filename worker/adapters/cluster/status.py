"""What `gregor status` reads of a running crawl in ZooKeeper."""

import asyncio

from msgspec import Struct, json

from gregor.worker.adapters.cluster.zookeeper_tree import Nodes, Owner, Tree
from gregor.worker.borders import Unavailable


class WorkerStatus(Struct, frozen=True, kw_only=True):
    """What a worker says of itself, as JSON in an ephemeral node."""

    name: str
    at: float
    """The coordinator's time of it, unix seconds."""
    partitions: tuple[int, ...] = ()
    queued: dict[int, int] = {}
    """Tickets in memory, by partition."""
    running: int = 0
    rates: dict[str, float] = {}
    """By name, per second."""
    limiting: str = ""


async def put_status(nodes: Nodes, tree: Tree, status: WorkerStatus) -> None:
    """Write it, or write it anew. Raises `Unavailable`."""
    session = nodes.session
    if session is None:
        raise Unavailable("ZooKeeper", "not connected")
    path, data = f"{tree.statuses}/{session.number & (1 << 64) - 1:016x}", json.encode(status)
    if await nodes.set(path, data) is None:
        await nodes.create(path, data, ephemeral=True)


async def statuses(nodes: Nodes, tree: Tree) -> list[WorkerStatus]:
    """Of all workers that live, by name."""
    names = await nodes.children(tree.statuses)
    found = await asyncio.gather(*(nodes.get(f"{tree.statuses}/{name}") for name in names))
    read = [json.decode(node[0], type=WorkerStatus) for node in found if node is not None]
    return sorted(read, key=lambda status: status.name)


async def owners(nodes: Nodes, tree: Tree) -> dict[int, tuple[str, int]]:
    """The owner's name and the epoch of every partition that has an owner."""
    names = await nodes.children(tree.owners)
    found = await asyncio.gather(*(nodes.get(f"{tree.owners}/{name}") for name in names))
    read = {int(name): json.decode(node[0], type=Owner) for name, node in zip(names, found, strict=True) if node}
    return {partition: (owner.name, owner.epoch) for partition, owner in sorted(read.items())}

"""What `gregor status` reads of a running crawl in ZooKeeper."""

import asyncio

from msgspec import json

from gregor.worker.adapters.cluster.zookeeper_tree import OwnerNode, Tree, ZooKeeperNodes
from gregor.worker.borders.members import Members, Owner, Worker, WorkerStatus


async def put_status(nodes: ZooKeeperNodes, tree: Tree, worker: str, status: WorkerStatus) -> None:
    """Write it, or write it anew. Raises `Unavailable`.

    ``worker`` is one name for all sessions of a worker: a node of an ended one goes by itself, and is then made anew.
    """
    path, data = tree.status(worker), json.encode(status)
    if await nodes.set(path, data) is None:
        await nodes.create(path, data, ephemeral=True)


async def statuses(nodes: ZooKeeperNodes, tree: Tree) -> list[WorkerStatus]:
    """Of all workers that live, by name."""
    names = await nodes.children(tree.statuses)
    stored = await asyncio.gather(*(nodes.get(f"{tree.statuses}/{name}") for name in names))
    read = [json.decode(node[0], type=WorkerStatus) for node in stored if node is not None]
    return sorted(read, key=lambda status: status.name)


async def owners(nodes: ZooKeeperNodes, tree: Tree) -> dict[int, tuple[str, int]]:
    """The owner's name and the epoch of every partition that has an owner."""
    found = await _owner_nodes(nodes, tree)
    return {partition: (owner.name, owner.epoch) for partition, (owner, _) in sorted(found.items())}


async def members(nodes: ZooKeeperNodes, tree: Tree, partitions: int) -> Members:
    """Workers, and who owns each partition since when."""
    said, owned = await asyncio.gather(statuses(nodes, tree), _owner_nodes(nodes, tree))
    queued = {number: count for status in said for number, count in status.queued.items()}
    workers = [
        Worker(
            status.name,
            status.at,
            len(status.partitions),
            sum(status.queued.values()),
            status.running,
            status.rates.get("pages", 0.0),
            status.rates.get("requests", 0.0),
            status.limiting,
            status.api,
        )
        for status in said
    ]
    holders = [(number, owned.get(number), queued.get(number, 0)) for number in range(partitions)]
    return Members(
        workers,
        [
            Owner(number, had[0].name, had[0].epoch, had[1], size) if had else Owner(number)
            for number, had, size in holders
        ],
    )


async def _owner_nodes(nodes: ZooKeeperNodes, tree: Tree) -> dict[int, tuple[OwnerNode, float]]:
    """Owners by partition, each with the time of the hand-over: nobody writes the node again."""
    names = await nodes.children(tree.owners)
    stored = await asyncio.gather(*(nodes.get(f"{tree.owners}/{name}") for name in names))
    return {
        int(name): (json.decode(node[0], type=OwnerNode), node[1].mtime)
        for name, node in zip(names, stored, strict=True)
        if node
    }

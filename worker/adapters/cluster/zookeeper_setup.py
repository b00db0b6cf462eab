"""The ZooKeeper tree of a crawl, made by `gregor init`."""

import asyncio
from collections.abc import Mapping
from typing import Final

import msgspec

from gregor.worker.adapters.cluster.made_for import compare
from gregor.worker.adapters.cluster.zookeeper_client import ZooKeeper
from gregor.worker.adapters.cluster.zookeeper_tree import Tree, ZooKeeperNodes
from gregor.worker.base.errors import BadInput

ServerFacts = Mapping[str, str]

# Nodes made in one go: each must be answered in the time of one call.
_AT_ONCE: Final = 256


async def ensure_tree(zookeeper: ZooKeeper, tree: Tree, partitions: int, facts: ServerFacts) -> list[str]:
    """Make what is missing; a line for each thing that was made now. May be repeated, also by several at once.

    ``facts`` are what else the crawl was made for (its random id): kept beside the number of partitions. Raises
    BadInput when the tree was made for something else, `Unavailable`.
    """
    made = []
    await zookeeper.ensure(tree.crawl.rpartition("/")[0])
    wanted = {"partitions": str(partitions), **facts}
    if await zookeeper.create(tree.crawl, msgspec.json.encode(wanted)) is not None:
        made.append(f"ZooKeeper: {tree.crawl} for {partitions} partitions")
    await check_tree(zookeeper, tree, partitions, facts)
    for path in (tree.members, tree.epochs, tree.owners, tree.statuses, tree.orders, tree.changes, tree.clock):
        await zookeeper.create(path, b"")
    existing = set(await zookeeper.children(tree.epochs))
    missing = [number for number in range(partitions) if str(number) not in existing]
    for at in range(0, len(missing), _AT_ONCE):
        await asyncio.gather(*(zookeeper.create(tree.epoch(number), b"0") for number in missing[at : at + _AT_ONCE]))
    return made


async def check_tree(zookeeper: ZooKeeperNodes, tree: Tree, partitions: int, facts: ServerFacts) -> None:
    """Raises BadInput when the tree is not there, or was made for something else; `Unavailable`."""
    node = await zookeeper.get(tree.crawl)
    if node is None:
        raise BadInput(f"there is no crawl at {tree.crawl} in ZooKeeper: run `gregor init`")
    try:
        kept = msgspec.json.decode(node[0], type=dict[str, str])
    except msgspec.MsgspecError:
        raise BadInput(f"{tree.crawl} in ZooKeeper is not a crawl's") from None
    compare(f"{tree.crawl} in ZooKeeper", {"partitions": str(partitions), **facts}, kept)

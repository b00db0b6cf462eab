"""The steps of the highest ranks in the crawl's Cassandra keyspace, in parts that are replaced one by one.

They order visits alone, so that parts of two rankings may be read together.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.links.known_ranks import HighestRanks, RankSteps

_A_PART: Final = 2000
_READ: Final = "SELECT part, data FROM known_ranks WHERE kind = ?"
_WRITE: Final = "INSERT INTO known_ranks (kind, part, data) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM known_ranks WHERE kind = ? AND part >= ?"
_PAIRS: Final = list[tuple[str, int]]


async def read(cassandra: Cassandra, seen: int) -> HighestRanks | None:
    """Them, ``made`` at a time in unix milliseconds (0: never); None where that is ``seen``."""
    times = [msgspec.msgpack.decode(data, type=int) for _, data in await cassandra.read(_READ, ("made",))]
    if (made := max(times, default=0)) == seen:
        return None
    return HighestRanks(made, *[await _steps(cassandra, kind) for kind in ("page", "host")])


async def _steps(cassandra: Cassandra, kind: str) -> RankSteps:
    parts = await cassandra.read(_READ, (kind,))
    return [pair for _, data in parts for pair in msgspec.msgpack.decode(data, type=_PAIRS)]


async def put(cassandra: Cassandra, pages: RankSteps, hosts: RankSteps, now: int) -> None:
    """Replace them."""
    for kind, steps in (("page", pages), ("host", hosts)):
        parts = [steps[at : at + _A_PART] for at in range(0, len(steps), _A_PART)]
        await cassandra.write_each(_WRITE, [(kind, number, _packed(part)) for number, part in enumerate(parts)])
        await cassandra.write(_DELETE, (kind, len(parts)))
    await cassandra.write(_WRITE, ("made", 0, msgspec.msgpack.encode(now)))


def _packed(part: Sequence[tuple[str, int]]) -> bytes:
    return msgspec.msgpack.encode(part)

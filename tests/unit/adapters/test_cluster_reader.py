"""What waits in the frontier's log is read where something waits: of hundreds of topics' partitions most are empty."""

import asyncio
from pathlib import Path
from typing import Any, cast

from gregor.partitioner.hashing import partition_of
from gregor.worker.adapters.cluster.reader import ClusterReader
from tests.contract.engines import PARTITIONS
from tests.contract.world import ManualClock, ticket
from tests.simulation.contract import SimulatedFactory

HOST = "a.example"
HOME = partition_of(HOST, PARTITIONS)


def test_where_nothing_waits_nothing_is_read() -> None:
    async def case() -> None:
        engine = await SimulatedFactory(Path("none"), PARTITIONS).open(ManualClock())
        log, asked = engine.log, []
        read = log.read

        async def counted(*where: int) -> Any:
            asked.append(where)
            return await read(*where)

        log.read = counted  # type: ignore[method-assign, assignment]
        reader = ClusterReader(cast(Any, None), PARTITIONS, log=log)

        async def waiting() -> list[str]:
            places = [reader._in_log(partition) for partition in range(PARTITIONS)]
            return [one.ticket.key for place in places async for some in place for one in some]

        published = [ticket(path, host=HOST, priority=2) for path in ("a", "b", "c")]
        await log.publish(published)
        assert await waiting() == [one.key for one in published]
        assert asked == [(HOME, 2, 0, 1000)]
        await log.commit(HOME, {2: 1}, 1)
        assert await waiting() == [one.key for one in published[1:]]
        asked.clear()
        await log.commit(HOME, {2: 3}, 1)
        assert await waiting() == []
        assert asked == []
        await engine.close()

    asyncio.run(case())

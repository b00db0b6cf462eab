"""One timer ends whichever fetch is too slow first, and goes on for the others."""

import asyncio
import time

from gregor.worker.adapters.transport.pace import Pace
from gregor.worker.adapters.transport.watch import Watch
from gregor.worker.borders.transport import Limits


def _pace(seconds: float, begun: float) -> Pace:
    return Pace(Limits(total_timeout=seconds), begun)


def test_each_slow_fetch_ends_once_whatever_was_begun_before_it() -> None:
    async def main() -> list[str]:
        watch, ended, last = Watch(), list[str](), asyncio.Event()
        begun = time.monotonic()  # of all: a busy machine may come to the next line any time later
        watch.begin(_pace(3600, begun), lambda _: ended.append("patient"))
        watch.begin(_pace(0.02, begun), lambda _: ended.append("second"))
        over = _pace(0.0, begun)
        watch.begin(over, lambda _: ended.append("over"))
        watch.over(over)
        watch.begin(_pace(0.01, begun), lambda _: ended.append("first"))

        def end(fault: str) -> None:
            ended.append(fault)
            last.set()

        watch.begin(_pace(0.03, begun), end)
        await asyncio.wait_for(last.wait(), 30)
        watch.close()
        return ended

    assert asyncio.run(main()) == ["first", "second", "no whole answer within 0.03 s"]

"""Names are found without holding up other visits, so many look-ups at once, and what waits for one is counted."""

import asyncio
import time

import pytest

from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import SocketAddress
from gregor.worker.fetch import names
from gregor.worker.fetch.held import NameAwaited
from gregor.worker.fetch.names import NameLookups

FOUND = Resolution((SocketAddress("192.0.2.1", 80),), 60.0)
DEAD = DnsFailure("timeout", "no answer", 0.0)


class Slow:
    """Knows one name; all others it looks up when it is let, and forgets at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let = asyncio.Event()

    def remembered(self, hostname: str, port: int) -> Resolution | None:
        return FOUND if hostname == "known.test" else None

    async def resolve(self, hostname: str, port: int) -> DnsFailure:
        self.asked.append(hostname)
        await self.let.wait()
        return DEAD


def test_nobody_waits_long_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "PATIENCE", 0.001)

    async def play() -> None:
        resolver, again = Slow(), asyncio.Event()
        finder = NameLookups(resolver, 2, time.monotonic)

        def wake() -> bool:
            again.set()
            return True

        for name in ("a.test", "b.test", "c.test", "a.test"):
            with pytest.raises(NameAwaited) as held:
                await finder.find(name, 80)
            held.value.call_when_over(name, wake)
        assert await finder.find("known.test", 80) == FOUND
        assert (resolver.asked, finder.awaited.size) == (["a.test", "b.test"], 3), "no more at once than it may"
        finder.prefetch("d.test", 80)
        assert not again.is_set()
        resolver.let.set()
        await again.wait()
        assert await finder.find("a.test", 80) == DEAD, "though the resolver keeps nothing"
        assert await finder.find("c.test", 80) == DEAD
        assert finder.awaited.size == 0
        assert finder.awaited.seconds > 0.0
        assert "d.test" not in resolver.asked

    asyncio.run(asyncio.wait_for(play(), 10))

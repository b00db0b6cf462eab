"""What was refused is asked for again, and forgotten only once that was done."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import Row, Ticket
from gregor.worker.borders.effects import LeaseLost, Retries
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.comebacks import Comebacks
from gregor.worker.web.urls import Urls

HOST = "x9.park.test"
DENIED = "http://x9.park.test/cal?m=60"


class Scene:
    """Traps that have a URL of the host, and a link to another name, to bring back; ``lost``: where the lease ends."""

    def __init__(self) -> None:
        self.traps, self.stats, self.lost = Traps(), Stats(), ""
        self.asked: list[str] = []
        urls = Urls()
        for number in range(60):
            page = urls.parse(f"http://{HOST}/cal?m={number}")
            assert page is not None
            self.traps.learn(page, text=f"No events {number}", via=f"http://{HOST}/cal?m={number - 1}")
        self.traps.set_aside(Ticket(DENIED, DENIED, HOST, depth=9, via=f"http://{HOST}/cal?m=59", link="a"))
        self.traps.refused_names.add(Ticket("http://x1.park.test/", "http://x1.park.test/", "x1.park.test"))
        for address in (f"http://{HOST}/cal?m=63", "http://x2.park.test/"):
            event = urls.parse(address)
            assert event is not None
            self.traps.learn(event, text="A concert!")

    def note(self, what: str) -> None:
        if what.startswith(self.lost) and self.lost:
            raise LeaseLost
        self.asked.append(what)

    def comebacks(self) -> Comebacks:
        async def rows(keys: list[str]) -> list[Row]:
            return [Row(key, key, HOST, 1, "denied", "trap", rule="trap: nothing new") for key in keys]

        async def appoint(ticket: Ticket, due: float) -> None:
            self.note(f"appoint {ticket.kind} {ticket.key} {due}")

        async def publish(links: list[Ticket]) -> None:
            self.note(f"publish {' '.join(link.key for link in links)} {links[0].at}")

        some: Any = SimpleNamespace(rows=rows, publish=publish, appoint=appoint, holds=lambda: True)
        effects = Retries(self.stats, random.Random(1)).under(some)
        return Comebacks(
            some, traps=self.traps, records=some, store=some, log=some, effects=effects, now=lambda: 7.0,
            stats=self.stats,
        )  # fmt: skip


@pytest.mark.parametrize("lost", ["", "appoint", "publish"])
def test_what_comes_back_is_asked_for_once_whenever_the_lease_ends(lost: str) -> None:
    scene = Scene()
    comebacks, scene.lost = scene.comebacks(), lost
    if lost:
        with pytest.raises(LeaseLost):
            asyncio.run(comebacks.bring(HOST))
    scene.lost = ""
    for _ in range(2):
        asyncio.run(comebacks.bring(HOST))
    assert scene.asked == [f"appoint revisit {DENIED} 7.0", "publish http://x1.park.test/ 7.0"]
    assert scene.stats.traps["returned"] == 2

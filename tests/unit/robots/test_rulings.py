"""What is ruled of a host that opted out."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from gregor.schemas.messages import Ticket
from gregor.worker.robots.rulings import RobotsRulings
from gregor.worker.web.urls import Urls


def test_the_robots_txt_of_a_host_that_opted_out_is_asked_for_nobody() -> None:
    told = list[str]()

    async def refuse_for(_: Ticket, why: str) -> None:
        told.append(why)

    async def answer_for(*_: object) -> None:
        told.append("asked")

    url = Urls().parse("http://b.test/robots.txt")
    assert url is not None
    turn = cast(Any, SimpleNamespace(host=SimpleNamespace(name="b.test"), used=False))
    ticket = Ticket(url.href, url.key, url.host, kind="robots", origin="http://a.test")
    rulings = object.__new__(RobotsRulings)
    fetch = SimpleNamespace(refuse_for=refuse_for, answer_for=answer_for)
    for opted_out in (True, False):
        orders = SimpleNamespace(opted_out=lambda name, now=opted_out: now and name == "b.test")
        rulings.__dict__.update(_orders=orders, _fetch=fetch)
        asyncio.run(rulings.answer_for(turn, ticket, url))
    assert told == ["b.test has opted out", "asked"]

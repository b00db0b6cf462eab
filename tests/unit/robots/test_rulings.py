"""What is ruled of a host that opted out, and of one that asks for more time than it did."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from gregor.schemas.messages import Ticket
from gregor.worker.observe.stats import Stats
from gregor.worker.politeness.host_records import Answered
from gregor.worker.robots.cache import OriginRules
from gregor.worker.robots.file import parse
from gregor.worker.robots.rulings import Allowed, NotNow, RobotsRulings
from gregor.worker.web.urls import Urls
from tests.unit.politeness.test_turns import URL, Desk


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


def test_an_origin_that_asks_for_more_time_than_was_known_has_it_since_its_last_page() -> None:
    """Its robots.txt was read since then, by another way: no request is made that would tell it."""
    desk, rulings = Desk(delay=2.0, max_crawl_delay=60.0), object.__new__(RobotsRulings)
    rules = OriginRules(parse(b"User-agent: *\nCrawl-delay: 30\n", "gregor"), 1.0)
    cache = SimpleNamespace(find=lambda *_: SimpleNamespace(rules=rules, announced=True))
    rulings.__dict__.update(_cache=cache, _obeys=True, _now=desk.clock.wall, _stats=Stats())
    url = Urls().parse(URL)
    assert url is not None
    desk.begin()
    begun = desk.clock.monotonic()
    assert desk.send(URL)
    desk.over(Answered(url.origin))
    desk.clock.pass_(2.5)
    desk.begin()
    assert desk.turn.open
    ruling = asyncio.run(rulings._rule(desk.turn, url, Ticket(URL, URL, "a.example")))
    assert (type(ruling), desk.turn.open, desk.host.next_turn) == (NotNow, False, begun + 30.0)
    desk.clock.pass_(27.5)
    desk.begin()
    assert asyncio.run(rulings._rule(desk.turn, url, Ticket(URL, URL, "a.example"))) == Allowed(1.0)

"""The sitemaps that a robots.txt names: published once, and known as sent only when that was acknowledged."""

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.config.settings import Config
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.scope import InScope
from gregor.worker.robots.announce import Announcer
from gregor.worker.robots.file import parse
from gregor.worker.web.urls import Urls

URLS = Urls()
MAP = "http://a.example/map.xml"


def announced(sent: RecentlySent, *, acknowledged: bool = True) -> list[Ticket]:
    published: list[Ticket] = []

    async def publish(tickets: list[Ticket]) -> None:
        if not acknowledged:
            raise LeaseLost
        published.extend(tickets)

    log: Any = SimpleNamespace(publish=publish)
    always: Any = SimpleNamespace(holds=lambda: True)
    watching: Any = SimpleNamespace(retrying=lambda _: None)
    scope: Any = SimpleNamespace(allows=lambda _: InScope("all"))
    announcer = Announcer(
        config=Config(sitemaps=True),
        log=log,
        effects=Effects(always, watching, random.Random(1)),
        urls=URLS,
        scope=lambda: scope,
        now=lambda: 1.0,
        sent=sent,
    )
    url = URLS.parse("http://a.example/")
    assert url is not None
    robots = parse(f"Sitemap: {MAP}\n".encode(), "gregor/0", "http://a.example/robots.txt")
    asyncio.run(announcer.announce(url, Ticket(url.href, url.key, url.host), robots))
    return published


def test_what_was_acknowledged_is_not_published_again() -> None:
    sent = RecentlySent(100)
    assert [ticket.href for ticket in announced(sent)] == [MAP]
    assert announced(sent) == []


def test_what_was_not_acknowledged_is_not_taken_for_sent() -> None:
    sent = RecentlySent(100)
    with pytest.raises(LeaseLost):
        announced(sent, acknowledged=False)
    assert not sent.knows(url_fingerprint(MAP))
    assert [ticket.href for ticket in announced(sent)] == [MAP]

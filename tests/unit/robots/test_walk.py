"""The fetch of a robots.txt: how an answer of another host is waited for."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.borders.transport import Limits
from gregor.worker.config.settings import Config
from gregor.worker.frontier.host import Host, RobotsWalk
from gregor.worker.links import tickets
from gregor.worker.observe.stats import Stats
from gregor.worker.robots.shared import Further, SharedAnswers
from gregor.worker.robots.walk import RobotsFetch, Wait
from gregor.worker.web.urls import Urls

URLS, NOTHING = Urls(), object()


def fetch(shared: SharedAnswers | None = None, log: Any = None, store: Any = None, **settings: Any) -> RobotsFetch:
    nothing: Any = NOTHING
    effects: Any = SimpleNamespace(run=lambda effect: effect())
    fetcher: Any = SimpleNamespace(limits=Limits())
    return RobotsFetch(
        nothing,
        config=Config(**settings),
        log=log,
        store=store,
        effects=effects,
        urls=URLS,
        now=lambda: 1000.0,
        monotonic=lambda: 1000.0,
        fetcher=fetcher,
        shared=shared or SharedAnswers(),
        stats=Stats(),
    )


@pytest.mark.parametrize(("waited", "wait"), [(0.0, 0.5), (1.0, 0.5), (3.0, 1.5), (59.0, 29.5), (1e7, 30.0)])
def test_an_answer_is_looked_for_ever_more_seldom_and_however_long_it_takes(waited: float, wait: float) -> None:
    url = URLS.parse("http://a.example/")
    assert url is not None
    host = Host("a.example", 0)
    walk = host.walks[url.origin] = RobotsWalk("http://www.a.example/robots.txt")
    walk.asked_until, walk.asked_at = 1e9, 1000.0 - waited
    turn: Any = SimpleNamespace(host=host)
    step = asyncio.run(fetch(robots_answer=31_536_000.0).step(turn, url, None))
    assert step == Wait(wait)


def test_what_follows_a_redirect_is_asked_for_as_long_as_its_asker_waits() -> None:
    """Not from now on: an answer that came meanwhile, to those who asked before, is one to it as well."""
    first, further = URLS.parse("http://hub.example/r1"), URLS.parse("http://hub.example/r2")
    assert first is not None
    assert further is not None
    ticket, shared, published = tickets.of_robots(first, "http://a.example", 1, 500.0), SharedAnswers(), []
    shared.keep(ticket, Further(further, 2), 600.0)

    async def publish(asking: list[Ticket]) -> None:
        published.extend(asking)

    async def unknown(_: str) -> None:
        return None

    log, store = SimpleNamespace(publish=publish), SimpleNamespace(robots=unknown)
    turn: Any = SimpleNamespace(host=Host("hub.example", 0))
    asyncio.run(fetch(shared, log, store).answer_for(turn, ticket))
    assert published == [tickets.of_robots(further, "http://a.example", 2, 500.0)]

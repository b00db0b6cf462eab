"""The fetch of a robots.txt: how an answer of another host is waited for."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from gregor.worker.borders.transport import Limits
from gregor.worker.config.settings import Config
from gregor.worker.frontier.host import Host, RobotsWalk
from gregor.worker.observe.stats import Stats
from gregor.worker.robots.shared import SharedAnswers
from gregor.worker.robots.walk import RobotsFetch, Wait
from gregor.worker.web.urls import Urls

URLS, NOTHING = Urls(), object()


def fetch(**settings: Any) -> RobotsFetch:
    nothing: Any = NOTHING
    effects: Any = SimpleNamespace(run=None)
    fetcher: Any = SimpleNamespace(limits=Limits())
    return RobotsFetch(
        nothing,
        config=Config(**settings),
        log=nothing,
        store=nothing,
        effects=effects,
        urls=URLS,
        now=lambda: 1000.0,
        monotonic=lambda: 1000.0,
        fetcher=fetcher,
        shared=SharedAnswers(),
        stats=Stats(),
    )


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 1023, 1024, 5000, 10**6])
def test_an_answer_is_looked_for_ever_more_seldom_and_however_often_it_was(looks: int) -> None:
    url = URLS.parse("http://a.example/")
    assert url is not None
    host = Host("a.example", 0)
    walk = host.walks[url.origin] = RobotsWalk("http://www.a.example/robots.txt")
    walk.asked_until, walk.looks = 1e9, looks
    turn: Any = SimpleNamespace(host=host)
    step = asyncio.run(fetch(robots_answer=31_536_000.0).step(turn, url, None))
    assert step == Wait(min(2.0 ** min(looks, 5), 30.0))
    assert walk.looks == looks + 1

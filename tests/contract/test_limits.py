"""What limits the speed: each cause in turn is the true one, by figures and in crawls that run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.transport.memory import Scripted
from gregor.worker.limits import ADVICE, WINDOW, Limit, Limits, Sample
from gregor.worker.stats import STAGES
from tests.contract.operated import Operated, operated

STEADY: dict[str, Any] = {"cpu": 0.3, "visits": 10, "failures": 0, "occupied": 2.0, "hosts": 10}


def judged(stages: dict[str, float] | None = None, *, concurrency: int = 8, **a_second: Any) -> Limit:
    """What limits a worker that does so much every second, for a minute."""
    limits, rates = Limits(concurrency), {**STEADY, **a_second}
    hosts, paused, away = rates.pop("hosts"), rates.pop("paused", False), rates.pop("away", "")
    limit = Limit("", "")
    for at in range(60):
        spent = {stage: (stages or {}).get(stage, 0.0) * at for stage in STAGES}
        grown = {name: rate * at for name, rate in rates.items()}
        limit = limits.judge(Sample(at=at, stages=spent, hosts=hosts, paused=paused, away=away, **grown))
    return limit


@pytest.mark.parametrize(
    ("does", "stages", "name"),
    [
        ({}, {}, "politeness"),
        ({"paused": True}, {}, "paused"),
        ({"away": "redis"}, {}, "service"),
        ({"hosts": 0}, {}, "nothing"),
        ({"cpu": 0.97}, {}, "CPU"),
        ({"occupied": 7.9}, {}, "concurrency"),
        ({"failures": 30}, {}, "failures"),
        ({"occupied": 7.0}, {"dns": 5.0, "body": 1.0, "queue": 90.0}, "DNS"),
        ({"occupied": 7.0}, {"connect": 3.0, "tls": 1.0, "first_byte": 2.0}, "connect"),
        ({"occupied": 7.0}, {"first_byte": 2.0, "body": 2.0, "settle": 3.0}, "answers"),
        ({"occupied": 7.0}, {"settle": 6.0, "dns": 0.1}, "stores"),
        ({"occupied": 7.0, "visits": 0}, {}, "answers"),
    ],
)
def test_each_cause_is_found(does: dict[str, Any], stages: dict[str, float], name: str) -> None:
    assert judged(stages, **does).name == name


def test_it_is_judged_by_the_last_seconds_only() -> None:
    limits = Limits(8)
    empty = dict.fromkeys(STAGES, 0.0)
    assert limits.judge(Sample(0.0, 0.0, 0, 0, 0.0, empty, 10)).name == "starting"
    for at in range(1, 100):
        limits.judge(Sample(at, 0.0, 10 * at, 0, 8.0 * at, empty, 10))
    name = ""
    for at in range(100, 100 + int(WINDOW) + 2):
        name = limits.judge(Sample(at, 0.0, 10 * at, 0, 8.0 * 99, empty, 10)).name
    assert name == "politeness"


numbers = st.floats(0.0, 1e6)


@given(st.lists(st.builds(Sample, numbers, numbers, st.integers(0, 99), st.integers(0, 99), numbers,
                          st.dictionaries(st.sampled_from(STAGES), numbers), st.integers(0, 99), st.booleans(),
                          st.sampled_from(["", "redis"])), max_size=20))  # fmt: skip
def test_something_known_always_limits(samples: list[Sample]) -> None:
    limits = Limits(8)
    for sample in sorted(samples, key=lambda one: one.at):
        limit = limits.judge(sample)
        assert limit.name in ADVICE
        assert limit.text


async def becomes(worker: Operated, name: str) -> None:
    await worker.until(lambda: worker.runtime.stats.limit == name)
    status = (await worker.ask("GET", "/api/v1/status")).json()["now"]
    assert (status["limit"], status["advice"]) == (name, ADVICE[name])


def crawl(folder: Path, name: str, script: Scripted | None = None, **settings: Any) -> None:
    async def run() -> None:
        async with operated(folder, **settings) as worker:
            if script is not None:
                for host in range(settings.get("hosts", 2)):
                    for page in range(400):
                        worker.transport.script(f"http://h{host}.example/{page}", script)
            if name == "paused":
                await worker.ask("PUT", "/api/v1/orders/pause")
            await becomes(worker, name)

    asyncio.run(run())


def test_a_polite_crawl_is_limited_by_politeness(tmp_path: Path) -> None:
    crawl(tmp_path, "politeness", hosts=5, delay=0.5)


def test_a_paused_crawl_is_limited_by_the_order(tmp_path: Path) -> None:
    crawl(tmp_path, "paused")


def test_slow_hosts_limit_a_crawl(tmp_path: Path) -> None:
    crawl(tmp_path, "answers", Scripted(delay=3.0), hosts=5)


def test_few_visits_at_once_limit_a_crawl(tmp_path: Path) -> None:
    crawl(tmp_path, "concurrency", Scripted(delay=3.0), hosts=5, concurrency=1)


def test_a_crawl_with_nothing_left_is_limited_by_that(tmp_path: Path) -> None:
    crawl(tmp_path, "nothing", hosts=0)

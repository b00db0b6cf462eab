"""What limits the speed: each cause in turn is the true one, by figures and in crawls that run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.observe.bottleneck import ADVICE, WINDOW, Bottleneck, Bottlenecks, Sample
from gregor.worker.observe.stats import STAGES
from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.web.urls import Urls
from tests.endtoend.operated import Operated, operated
from tests.memory_transport import Scripted

STEADY: dict[str, float] = {"cpu": 0.3, "visits": 10, "occupied": 2.0, "reading": 0.1, "committing": 0.1}


def sample(at: float, does: dict[str, Any], stages: dict[str, float]) -> Sample:
    """A worker that did so much every second until then."""
    grown: dict[str, Any] = {name: does.get(name, rate) * at for name, rate in STEADY.items()}
    fixed = {name: does[name] for name in ("paused", "budget", "away", "later") if name in does}
    hosts, occupied = does.get("hosts", 10), does.get("occupied", STEADY["occupied"])
    return Sample(
        at=at,
        waited=max(0.0, hosts - occupied) * at,
        failures={cause: count * at for cause, count in does.get("failures", {}).items()},
        stages={stage: stages.get(stage, 0.0) * at for stage in {*STAGES, *stages}},
        calls={border: (10 * int(at), took * at) for border, took in does.get("calls", {}).items()},
        partitions=does.get("partitions", 1),
        hosts=hosts,
        **grown,
        **fixed,
    )


def judged(does: dict[str, Any], stages: dict[str, float]) -> Bottleneck:
    """What limits a worker that does so much every second, for a minute."""
    limits, limit = Bottlenecks(8), Bottleneck("", "")
    for at in range(60):
        limit = limits.judge(sample(at, does, stages))
    return limit


@pytest.mark.parametrize(
    ("does", "stages", "name", "says"),
    [
        ({}, {}, "politeness", "10 hosts wait 80% of the time"),
        ({"paused": True}, {}, "paused", "an order"),
        ({"budget": "max_pages: 9 of 10"}, {}, "budget", "max_pages: 9 of 10"),
        ({"away": "Redis is away"}, {}, "service", "Redis is away"),
        ({"hosts": 0}, {}, "nothing", "nothing to do"),
        ({"hosts": 0, "later": True}, {}, "nothing", "in the calendar"),
        ({"cpu": 0.97}, {}, "CPU", "97% of a core"),
        ({"occupied": 7.9}, {}, "concurrency", "7.9 of 8 visits run"),
        ({"failures": {"status 503": 30, "dns": 5}}, {}, "failures", "most of them by status 503"),
        ({"failures": {"dns": 30, "status 503": 5}}, {}, "DNS", "most of them by dns"),
        ({"failures": {"timeout": 30}}, {}, "connect", "300 failed tries against 100 visits"),
        ({"occupied": 7.0}, {"dns": 5.0, "body": 1.0, "queue": 90.0}, "DNS", "5.0 of them wait for that"),
        ({"occupied": 7.0}, {"connect": 2.0, "tls": 1.0, "lost connect": 1.0, "first_byte": 2.0}, "connect", "4.0 of"),
        ({"occupied": 7.0, "calls": {"store": 3.0}}, {"first_byte": 2.0, "body": 2.0}, "answers", "4.0 of them"),
        ({"occupied": 7.0, "calls": {"seen": 5.0, "log": 1.5}}, {"dns": 0.1}, "stores", "the seen set takes 500 ms"),
        ({"occupied": 7.0, "calls": {"log": 9.0}, "reading": 5.0, "partitions": 20}, {"body": 4.5}, "answers", "4.5"),
        (
            {"hosts": 2, "calls": {"log": 9.0}, "reading": 1.5, "partitions": 2},
            {},
            "stores",
            "75% of the time",
        ),
        ({"hosts": 0, "calls": {"seen": 9.0}, "reading": 1.0}, {}, "stores", "the seen set takes 900 ms"),
        ({"occupied": 7.0, "visits": 0}, {}, "answers", "0.0 of them"),
    ],
)
def test_each_cause_is_found(does: dict[str, Any], stages: dict[str, float], name: str, says: str) -> None:
    limit = judged(does, stages)
    assert limit.name == name
    assert says in limit.text


def test_it_is_judged_by_the_last_seconds_only() -> None:
    limits = Bottlenecks(10)
    assert limits.judge(sample(0.0, {}, {})).name == "starting"
    for at in range(1, 100):
        limits.judge(sample(at, {"occupied": 8.0}, {}))
    name = ""
    for at in range(100, 100 + int(WINDOW) + 2):
        name = limits.judge(sample(at, {}, {})._replace(occupied=8.0 * 99, waited=10.0 * at)).name
    assert name == "politeness"


@pytest.mark.parametrize(("waited", "says"), [(0.1, "starting"), (0.7, "answers"), (3.2, "1 host waits 80%")])
def test_a_host_that_has_just_come_has_not_waited_for_politeness(waited: float, says: str) -> None:
    limits = Bottlenecks(8)
    limits.judge(sample(0.0, {"hosts": 0}, {}))
    now = sample(0.0, {"hosts": 1}, {})._replace(at=4.0, occupied=0.8 if waited > 0.5 else 0.1, waited=waited)
    assert says in limits.judge(now).text


seconds, counts = st.floats(0.0, 1e6), st.integers(0, 99)
SAMPLES = st.builds(
    Sample,
    at=seconds,
    cpu=seconds,
    visits=counts,
    failures=st.dictionaries(st.sampled_from(["dns", "timeout", "status 503"]), counts),
    occupied=seconds,
    waited=seconds,
    stages=st.dictionaries(st.sampled_from(STAGES), seconds),
    calls=st.dictionaries(st.sampled_from(["log", "seen", "resolver"]), st.tuples(counts, seconds)),
    reading=seconds,
    committing=seconds,
    partitions=counts,
    hosts=counts,
    paused=st.booleans(),
    budget=st.sampled_from(["", "max_pages"]),
    away=st.sampled_from(["", "Redis is full"]),
)


@settings(deadline=None)
@given(st.lists(SAMPLES, max_size=20))
def test_something_known_always_limits(samples: list[Sample]) -> None:
    limits = Bottlenecks(8)
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


def test_names_that_nobody_answers_for_take_no_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = DnsResolver.remembered

    def remembered(resolver: DnsResolver, hostname: str, port: int) -> Resolution | DnsFailure | None:
        return None if hostname.startswith("dead") else usual(resolver, hostname, port)

    async def silence(resolver: DnsResolver, hostname: str, port: int) -> Resolution | DnsFailure:
        await asyncio.sleep(3600)
        return DnsFailure("timeout", "no answer", 0.0)

    monkeypatch.setattr(DnsResolver, "remembered", remembered)
    monkeypatch.setattr(DnsResolver, "resolve", silence)

    async def run() -> None:
        async with operated(tmp_path, concurrency=2, delay=0.01) as worker:
            dead = [Urls().parse(f"http://dead{number}.example/") for number in range(20)]
            await publish(worker.engine.log, worker.engine.store, [Seed(url) for url in dead if url is not None])
            await worker.until(lambda: worker.asked("h0.example") > 30)
            await becomes(worker, "DNS")

    asyncio.run(run())

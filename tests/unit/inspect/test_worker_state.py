"""What a worker says of itself: its hosts by state, how old what it has not finished is."""

import asyncio
import random
from pathlib import Path

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.borders.transport import Failure
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.frontier.calendar import MOST_OVERDUE, Calendar
from gregor.worker.inspect.worker_state import look
from tests.endtoend.operated import Operated, operated
from tests.memory_transport import Scripted


def test_buckets_that_are_due_are_counted() -> None:
    chance = random.Random(5)
    numbers = chance.sample(range(1, 4000), 700)
    calendar = Calendar(0, numbers, 2.0, 10)
    for now in (0.0, 3.0, 1000.0, 9000.0):
        assert calendar.overdue(now) == sum((number + 1) * 2.0 <= now for number in numbers)
    assert Calendar(0, list(range(1, 3 * MOST_OVERDUE)), 1.0, 10).overdue(1e6) == MOST_OVERDUE


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Scripted(503), "503"),
        (Failure("timeout", "no connection within 10 s"), "no connection within 10 s"),
        (Scripted(206, body=b"User-agent: *", truncated="length"), "it did not come whole"),
    ],
)
def test_a_host_without_a_robots_file_is_told_apart(tmp_path: Path, answer: Scripted | Failure, why: str) -> None:
    async def case() -> None:
        async with operated(tmp_path, hosts=1, retry_pause=600.0, retry_pause_max=600.0) as worker:
            worker.transport.script("http://silent.example/robots.txt", answer)
            await _seed(worker, "http://silent.example/")
            tell = worker.runtime
            await worker.until(lambda: _states(worker)["robots"] == 1)
            condition = look(tell, Config(), SystemClock().monotonic())
            assert sum(condition.hosts.values()) == 2
            told = (await worker.ask("GET", "/api/v1/hosts?state=robots")).json()["hosts"]
            causes = [(one["host"], one["cause"]) for one in told]
            assert causes == [("silent.example", f"robots.txt unreachable ({why})")]

    asyncio.run(case())


def test_a_host_that_cannot_be_reached_costs_one_probe_whatever_waits_for_it(tmp_path: Path) -> None:
    async def case() -> None:
        async with operated(tmp_path, hosts=1, delay=0.0, retry_pause=600.0, retry_pause_max=600.0) as worker:
            worker.transport.script("http://dead.example/robots.txt", Failure("connect", "refused"))
            for number in range(100):
                await _seed(worker, f"http://dead.example/{number}")
            await worker.until(lambda: _states(worker)["robots"] == 1)
            await _seed(worker, "http://alive.example/")
            await worker.until(lambda: "http://alive.example/" in _asked(worker))
            assert [href for href in _asked(worker) if "dead" in href] == ["http://dead.example/robots.txt"]

    asyncio.run(case())


def _asked(worker: Operated) -> list[str]:
    return [request.href for request in worker.transport.requests]


async def _seed(worker: Operated, href: str) -> None:
    host = href.split("/")[2]
    await worker.engine.log.publish(
        [Ticket(href, href, host, priority=1, at=worker.runtime.services.coordinator.now() - 90.0)]
    )


def _states(worker: Operated) -> dict[str, int]:
    runtime = worker.runtime
    return look(runtime, Config(), SystemClock().monotonic()).hosts


def test_the_oldest_record_has_its_age(tmp_path: Path) -> None:
    async def case() -> None:
        async with operated(tmp_path, hosts=1, retry_pause=600.0, retry_pause_max=600.0) as worker:
            worker.transport.script("http://silent.example/robots.txt", Scripted(503))
            await _seed(worker, "http://silent.example/")
            await worker.until(lambda: _states(worker)["robots"] == 1)
            text = (await worker.ask("GET", "/metrics")).text
            ages = [float(line.split()[1]) for line in text.splitlines() if line.startswith("gregor_frontier_oldest")]
            assert len(ages) == 2 * 4
            assert 90.0 <= max(ages) < 600.0

    asyncio.run(case())

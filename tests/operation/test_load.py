"""Whoever asks much, or takes the answers slowly, costs the crawl nothing that matters and nobody else an answer."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.api_load import under_load
from gregor.worker.api import app, serving
from tests.contract.operated import Operated, operated

PATIENCE = 60.0
Case = Callable[[Operated], Awaitable[None]]


def beside(folder: Path, case: Case, **settings: object) -> None:
    """Run a case beside a crawl of 20 hosts at 100 pages a second."""

    async def run() -> None:
        async with operated(folder, hosts=20, delay=0.2, anonymous_read=True, **settings) as worker:
            await goes_on(worker)
            await case(worker)

    asyncio.run(run())


async def goes_on(worker: Operated, pages: int = 20) -> None:
    """The crawl stores further pages."""
    enough = worker.runtime.stats.pages + pages
    async with asyncio.timeout(PATIENCE):
        while worker.runtime.stats.pages < enough:  # noqa: ASYNC110 - a crawl tells nobody of its pages
            await asyncio.sleep(0.02)


def address(worker: Operated) -> tuple[str, int]:
    return "127.0.0.1", int(worker.url.rstrip("/").rpartition(":")[2])


def test_a_crawl_goes_on_under_a_load(tmp_path: Path) -> None:
    """What a load costs is measured by `benchmarks.api_load`: here nobody knows what else the machine does."""

    async def case(worker: Operated) -> None:
        load = asyncio.create_task(asyncio.to_thread(under_load, address(worker), 300.0, 3.0))
        await goes_on(worker)
        assert not load.done()
        answers = await load
        assert set(answers) == {200, 429}, "a 429 without Retry-After counts as 0"
        assert worker.runtime.stats.too_close == 0

    beside(tmp_path, case, api_rate=20.0)


@contextlib.contextmanager
def stalled(worker: Operated, count: int) -> Iterator[list[socket.socket]]:
    """Readers that ask for more than any buffer holds and take nothing of it."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(address(worker))
            reader.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400)
            found.append(reader)
        yield found


def test_readers_that_take_nothing_block_nobody(tmp_path: Path) -> None:
    async def case(worker: Operated) -> None:
        with stalled(worker, 30):
            await goes_on(worker)
            for path in ("/healthz", "/metrics", "/api/v1/status", "/api/v1/history"):
                assert (await worker.ask("GET", path)).status_code == 200
            await goes_on(worker)

    beside(tmp_path, case, api_rate=100_000.0)


def test_more_at_once_than_can_be_held_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MOST_AT_ONCE", 5)

    async def case(worker: Operated) -> None:
        with stalled(worker, 5):
            async with asyncio.timeout(PATIENCE):
                while (answer := await worker.ask("GET", "/api/v1/status")).status_code != 429:
                    assert answer.status_code == 200
            assert answer.headers["retry-after"] == "1"
            assert answer.json()["detail"] == "Too many requests."
            assert (await worker.ask("GET", "/healthz")).status_code == 200
            await goes_on(worker)

    beside(tmp_path, case, api_rate=100_000.0)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="there is no /proc/net/tcp")
def test_readers_that_take_nothing_lose_their_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_STALLED", 1000)

    async def case(worker: Operated) -> None:
        with stalled(worker, 2) as readers:
            ports = {reader.getsockname()[1] for reader in readers}
            assert connected(address(worker)[1], ports)
            async with asyncio.timeout(PATIENCE):
                while connected(address(worker)[1], ports):  # noqa: ASYNC110 - the kernel ends them
                    await asyncio.sleep(0.1)

    beside(tmp_path, case, api_rate=100_000.0)


def connected(server: int, clients: set[int]) -> bool:
    """Whether the server's end of any of these connections is there (proc(5): hexadecimal ports)."""
    pairs = (line.split()[1:3] for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    ports = {tuple(int(end.partition(":")[2], 16) for end in pair) for pair in pairs}
    return any((server, client) in ports for client in clients)

"""Whoever asks much, or takes the answers slowly, costs the crawl nothing that matters and nobody else an answer."""

import asyncio
import contextlib
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.api_load import under_load
from gregor.worker.api import app, connection, problems, serving, worker_backend
from gregor.worker.inspect import host_views
from tests.endtoend.operated import Operated, operated

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
def stalled(worker: Operated, count: int, path: str = "/metrics") -> Iterator[list[socket.socket]]:
    """Readers that ask for more than any buffer holds and take nothing of it."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(address(worker))
            reader.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() * 400)
            found.append(reader)
        yield found


@pytest.mark.parametrize("path", ["/metrics", "/", "/api/v1/status"])
def test_readers_that_take_nothing_block_nobody(tmp_path: Path, path: str) -> None:
    async def case(worker: Operated) -> None:
        with stalled(worker, 30, path):
            await goes_on(worker)
            for other in ("/healthz", "/metrics", "/api/v1/status", "/api/v1/history"):
                assert (await worker.ask("GET", other)).status_code == 200
            await goes_on(worker)

    beside(tmp_path, case, api_rate=100_000.0)


def test_lists_of_hosts_leave_the_crawl_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many hosts in memory each takes long, and no two questions need be the same."""
    took, listed = 0.05, host_views.hosts

    def slowly(*args: Any, **more: Any) -> list[host_views.HostView]:
        time.sleep(took)  # it holds up the event loop, as a long list does
        return listed(*args, **more)

    monkeypatch.setattr(host_views, "hosts", slowly)
    monkeypatch.setattr(worker_backend, "_LISTS", 3)

    async def case(worker: Operated) -> None:
        begun = time.monotonic()
        answers = await asyncio.gather(*(worker.ask("GET", f"/api/v1/hosts?search=h{n}") for n in range(30)))
        statuses = Counter(answer.status_code for answer in answers)
        assert set(statuses) == {200, 429}
        assert time.monotonic() - begun > 9 * took * (statuses[200] - 1)
        assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status_code == 429)
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


def told(worker: Operated, *pieces: bytes) -> bytes:
    """What is answered to bytes, until the connection ends."""
    with socket.create_connection(address(worker), timeout=PATIENCE) as client:
        for piece in pieces:
            client.sendall(piece)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_a_head_that_never_ends_is_waited_for_in_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.5)

    async def case(worker: Operated) -> None:
        begun = b"GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
        answer = await asyncio.to_thread(told, worker, begun)
        assert answer.startswith(b"HTTP/1.1 408 ") and problems.MEDIA_TYPE.encode() in answer
        assert await asyncio.to_thread(told, worker) == b"", "who says nothing is told nothing"
        answer = await asyncio.to_thread(told, worker, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", begun)
        assert answer.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 408 " in answer
        await goes_on(worker)

    beside(tmp_path, case)


def test_what_is_no_request_is_refused_like_any_other(tmp_path: Path) -> None:
    async def case(worker: Operated) -> None:
        for broken in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000):
            answer = await asyncio.to_thread(told, worker, broken)
            assert answer.startswith(b"HTTP/1.1 400 ") and problems.MEDIA_TYPE.encode() in answer

    beside(tmp_path, case)


def test_who_asks_nothing_makes_room_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST", 20)
    monkeypatch.setattr(connection, "PATIENCE", 1000.0)

    async def case(worker: Operated) -> None:
        with contextlib.ExitStack() as stack:
            idle = [stack.enter_context(socket.create_connection(address(worker), timeout=PATIENCE)) for _ in range(40)]
            for path in ("/healthz", "/api/v1/status"):
                assert (await worker.ask("GET", path)).status_code == 200
            assert await asyncio.to_thread(idle[0].recv, 1) == b"", "the one that waited longest is gone"
            await goes_on(worker)

    beside(tmp_path, case)


def test_a_refusal_is_the_same_however_it_is_told(tmp_path: Path) -> None:
    """The plain question is refused before it is parsed, the others by the application."""

    async def case(worker: Operated) -> None:
        while (plain := await worker.ask("GET", "/api/v1/status")).status_code != 429:
            assert plain.status_code == 200
        parsed = await worker.ask("POST", "/api/v1/seeds", json={"seeds": []})
        assert parsed.status_code == 429
        assert plain.content == parsed.content
        told_alike = ("date", "content-length")
        heads = [{k: v for k, v in one.headers.items() if k not in told_alike} for one in (plain, parsed)]
        assert heads[0] == heads[1]
        question = b"GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        last = question + b"Connection: close\r\n\r\n"
        with_body = question + b"Content-Length: 4\r\n\r\n"
        answer = await asyncio.to_thread(told, worker, with_body, b"GET " + question + b"\r\n" + last)
        assert answer.count(b"HTTP/1.1 429 ") == answer.count(b"HTTP/1.1 ") == 3, "a body is no question"
        health = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        assert (await asyncio.to_thread(told, worker, question + b"\r\n", health)).count(b"HTTP/1.1 200 ") == 1

    beside(tmp_path, case, api_rate=0.01)

"""This machine lacks descriptors, ports, threads or disk: transports and resolver say so, and blame no host."""

import asyncio
import errno
import os
import resource
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gregor.worker.adapters.embedded.store import EmbeddedStore
from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import Failure, Limits, Request, SocketAddress
from gregor.worker.read.processors import Processors
from tests.contract.origin_server import Talk
from tests.contract.test_transports import World, case
from tests.contract.world import Permitted
from tests.endtoend.operated import operated
from tests.memory_transport import Scripted


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """The process may open nothing more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@case
async def test_no_descriptor_is_no_failure_of_the_host(world: World) -> None:
    world.origin.page("/", b"x")
    for tls in (False, True):
        await world.page("/", tls=tls)  # both are ready, and a connection waits
        with no_descriptor_left():
            failure = await world.failure("/", tls=tls, host="127.0.0.1")
        assert failure == Failure("local", "Too many open files")
        assert (await world.page("/", tls=tls)).body.read() == b"x"


@case
async def test_connections_that_wait_make_room(world: World) -> None:
    """Those of other hosts hold descriptors that are wanted now."""
    world.origin.page("/", b"x")
    hosts = [f"h{number}.test" for number in range(8)]
    for host in hosts:
        await world.page("/", host=host)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))  # too few for a connection and its other end
    try:
        kinds = set()
        for number in range(8):
            result = await world.fetch("/", host=f"new{number}.test")
            kinds.add(result.kind if isinstance(result, Failure) else "page")
            await asyncio.sleep(0.05)
        assert kinds <= {"page", "local", "timeout", "cut"}
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (await world.page("/")).status == 200


@case
async def test_after_a_shortage_no_fetch_waits_for_another(world: World) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def slow(talk: Talk) -> None:
        begun.set()
        await over.wait()
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    world.origin.page("/", b"x")
    world.origin.script("/slow", slow)
    with no_descriptor_left():
        await world.failure("/")
    running = [asyncio.create_task(world.page("/slow", host=f"h{number}.test")) for number in range(3)]
    await begun.wait()
    for number in range(3):
        assert (await world.page("/", host=f"new{number}.test")).body.read() == b"x"
    over.set()
    assert [(await page).status for page in running] == [200] * 3


@case
async def test_no_port_is_no_failure_of_the_host(world: World) -> None:
    if world.kind == "curl":  # a real one: the pair of addresses is in use
        there = ("127.0.0.1", world.origin.port)
        first = socket.socket()
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        first.bind(("127.0.0.1", 0))
        first.connect(there)
        make = socket.socket

        def bound(*kind: int, **more: int) -> socket.socket:
            made = make(*kind, **more)
            if more or len(kind) < 2 or kind[1] & socket.SOCK_STREAM == 0:
                return made
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(first.getsockname())
            return made

        with mock.patch("gregor.worker.adapters.transport.curl_exchange.socket.socket", bound):
            failure = await world.failure("/")
        first.close()
    else:
        lacking = OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        with mock.patch.object(socket, "create_connection", side_effect=lacking):
            failure = await world.failure("/")
    assert failure == Failure("local", "no local port is left for another connection")


@case
async def test_a_full_disk_is_no_failure_of_the_host(world: World) -> None:
    world.origin.page("/", b"x" * 400_000)
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE):
        with mock.patch.object(tempfile, "TemporaryFile", side_effect=OSError(number, "x")):
            failure = await world.failure("/", limits=Limits())
        assert failure.kind == "local"
    assert (await world.page("/", limits=Limits())).body.size == 400_000


@case
async def test_other_errors_of_ours_are_still_errors(world: World) -> None:
    world.origin.page("/", b"x" * 400_000)
    with (
        mock.patch.object(tempfile, "TemporaryFile", side_effect=PermissionError(errno.EACCES, "not allowed")),
        pytest.raises(PermissionError),
    ):
        await world.fetch("/", limits=Limits())


@case
async def test_no_memory_is_no_failure_of_the_host(world: World) -> None:
    async def gzipped(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")

    world.origin.script("/", gzipped)
    with mock.patch("gregor.worker.adapters.transport.receiver.SpooledBody.write", side_effect=MemoryError):
        assert (await world.failure("/")).kind == "local"
    if world.kind == "requests":
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")):
            world.transport._threads._threads.clear()  # type: ignore[attr-defined]
            world.transport._threads._idle_semaphore.acquire(timeout=0)  # type: ignore[attr-defined]
            assert (await world.failure("/")).kind == "local"


def test_curl_needs_no_file_of_a_host_to_say_that_its_own_is_gone(tmp_path: Path) -> None:
    """The bundle of certificates could not be read: nothing that the host did."""

    class Guard:
        def allows(self, ip: str, port: int) -> bool:
            return True

    async def play() -> None:
        transport = CurlTransport(Guard())
        transport._bundle.unlink()
        async with await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0) as server:
            where = SocketAddress(*server.sockets[0].getsockname())
            result = await transport.fetch(Request("https://a.test/", (), (where,)), Limits(), Permitted())
            assert isinstance(result, Failure)
            assert result.kind == "local"
        await transport.close()

    asyncio.run(play())


# ---------------------------------------------------------------- names


def test_a_resolver_without_descriptors_says_nothing_of_the_name(tmp_path: Path) -> None:
    async def play() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
            deaf.bind(("127.0.0.1", 0))
            resolver = DnsResolver(server=SocketAddress(*deaf.getsockname()), timeout=0.2, hosts_file=tmp_path / "none")
            for _ in range(2):
                with no_descriptor_left():
                    answer = await resolver.resolve("a.test", 80)
                assert isinstance(answer, DnsFailure)
                assert (answer.kind, answer.detail) == ("local", "Too many open files")
            answer = await resolver.resolve("a.test", 80)
            assert isinstance(answer, DnsFailure)
            assert answer.kind == "timeout", "it was not kept"

    asyncio.run(play())


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM])
def test_a_resolver_without_ports_says_nothing_of_the_name(number: int, tmp_path: Path) -> None:
    async def play() -> None:
        resolver = DnsResolver(server=SocketAddress("127.0.0.1", 9), timeout=0.2, hosts_file=tmp_path / "none")
        loop = asyncio.get_running_loop()
        with mock.patch.object(type(loop), "create_datagram_endpoint", side_effect=OSError(number, "x")):
            answer = await resolver.resolve("a.test", 80)
        assert isinstance(answer, DnsFailure)
        assert answer.kind == "local"

    asyncio.run(play())


# ---------------------------------------------------------------- the crawl


@pytest.mark.parametrize("where", ["transport", "resolver", "reading", "keeping"])
def test_urls_wait_while_something_is_lacking_and_no_host_is_blamed(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        lacking = Failure("local", "Too many open files")
        async with operated(tmp_path, hosts=0, retries=0) as worker:
            hosts = [f"w{number}.example" for number in range(6)]
            first = [lacking] if where in ("transport", "resolver") else []
            for host in hosts:
                worker.transport.script(f"http://{host}/robots.txt", [*first, Scripted(404)])
                worker.transport.script(f"http://{host}/", [*first, Scripted(body=host.encode())])
            if where != "transport":
                LACKING[where](monkeypatch)
            seeds = [f"http://{host}/" for host in hosts]
            await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": seed} for seed in seeds]})
            for seed in seeds:
                await worker.until_state(seed)
            rows = await worker.engine.store.rows(seeds)
            assert [row.state for row in rows if row is not None] == ["fetched"] * 6
            assert [row.visits for row in rows if row is not None] == [1] * 6, "a wait is no visit"
            for host in hosts:
                record = await worker.engine.store.host(host)
                assert record is None or record.failures == 0
            assert not worker.runtime.stats.errors["local"]
            assert worker.runtime.concurrency < 64
        told = [line for line in caplog.messages if line.startswith("this machine lacks something")]
        assert len(told) == 1, "a person is told, once"

    asyncio.run(asyncio.wait_for(play(), 60))


def without_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two look-ups come to nothing."""
    usual, left = DnsResolver.resolve, [DnsFailure("local", "Too many open files", 0.0)] * 2

    async def resolve(resolver: DnsResolver, hostname: str, port: int) -> Resolution | DnsFailure:
        return left.pop() if left else await usual(resolver, hostname, port)

    monkeypatch.setattr(DnsResolver, "resolve", resolve)


def without_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two documents cannot be read: what reads them opens files when it is first needed."""
    usual, left = Processors.process, [OSError(errno.EMFILE, "Too many open files")] * 2

    def process(*given: Any) -> Any:
        if left:
            raise left.pop()
        return usual(*given)

    monkeypatch.setattr(Processors, "process", process)


def without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two pages cannot be kept."""
    usual, left = EmbeddedStore.put_page, [OSError(errno.EMFILE, "Too many open files")] * 2

    async def put_page(*given: Any) -> None:
        if left:
            raise left.pop()
        await usual(*given)

    monkeypatch.setattr(EmbeddedStore, "put_page", put_page)


LACKING = {"resolver": without_names, "reading": without_modules, "keeping": without_files}

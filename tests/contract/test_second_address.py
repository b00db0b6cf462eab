"""Hosts with several addresses, of which the first does not answer."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gregor.worker.borders.transport import Limits, SocketAddress
from tests.contract.test_transports import World, case


@contextmanager
def deaf(address: str, port: int = 0) -> Iterator[SocketAddress]:
    """An endpoint that takes no connection and refuses none: its queue is full."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listening.getsockname())
        try:
            yield SocketAddress(*listening.getsockname())
        finally:
            for filler in fillers:
                filler.close()


@case
async def test_another_port_is_tried_after_a_time_out(world: World) -> None:
    world.origin.page("/")
    limits = Limits(connect_timeout=1.0)
    with deaf("127.0.0.1") as first, deaf("127.0.0.1") as second:
        for host in ("site.test", "192.0.2.1"):
            started = time.monotonic()
            endpoints = (first, second, SocketAddress("127.0.0.1", world.origin.port))
            assert (await world.page("/", endpoints=endpoints, limits=limits, host=host)).status == 200
            assert time.monotonic() - started < 2
        started = time.monotonic()
        assert (await world.failure("/", endpoints=(first, second), limits=limits)).kind == "timeout"
        assert time.monotonic() - started < 2


@case
async def test_another_address_is_tried_after_a_time_out(world: World) -> None:
    world.origin.page("/")
    with deaf("127.0.0.2", world.origin.port):
        for host in ("site.test", "192.0.2.1"):
            started = time.monotonic()
            page = await world.page(
                "/", addresses=("127.0.0.2", "127.0.0.1"), limits=Limits(connect_timeout=2.0), host=host
            )
            assert page.address == "127.0.0.1"
            assert time.monotonic() - started < 2.5


@case
async def test_another_address_is_tried_when_the_first_says_nothing_in_the_handshake(world: World) -> None:
    world.origin.page("/")

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.2", world.origin.tls_port):
        page = await world.page(
            "/", tls=True, addresses=("127.0.0.2", "127.0.0.1"), limits=Limits(connect_timeout=1.0, read_timeout=1.0)
        )
        assert page.address == "127.0.0.1"


@case
async def test_nothing_is_tried_again_once_it_was_sent(world: World) -> None:
    asked: list[bytes] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as first:
        endpoints = (SocketAddress(*first.sockets[0].getsockname()), SocketAddress("127.0.0.1", world.origin.port))
        assert (await world.failure("/", endpoints=endpoints, limits=Limits(read_timeout=0.3))).kind == "timeout"
    assert (len(asked), world.origin.received) == (1, [])

"""TLS servers that lack secure renegotiation (RFC 5746): an outcome of their own, and an option that allows them."""

import asyncio
from pathlib import Path

import pytest

from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.adapters.transport.lenient import LenientTransport
from gregor.worker.adapters.transport.requests_transport import RequestsTransport
from gregor.worker.borders.transport import Failure, Request, SocketAddress, Transport
from tests.contract.test_transports import LIMITS, Guard, World, case
from tests.contract.world import Permitted

HELLO = b"\x03\x03" + bytes(range(32)) + b"\x00" + b"\xc0\x2f" + b"\x00"
"""A ServerHello of TLS 1.2: its random, no session, ECDHE-RSA-AES128-GCM-SHA256, no compression, no extension."""
RECORD = b"\x16\x03\x03" + (len(HELLO) + 4).to_bytes(2, "big") + b"\x02" + len(HELLO).to_bytes(3, "big") + HELLO
ALERT = b"\x15\x03\x03\x00\x02\x02\x28"
"""handshake_failure: only a client that takes the ServerHello reads as far."""


async def old_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(65536)
    writer.write(RECORD + ALERT)
    await writer.drain()
    await reader.read()
    writer.close()


async def kind_of(transport: Transport) -> str:
    kinds: set[str] = set()
    permit = Permitted()

    async with await asyncio.start_server(old_server, "127.0.0.1", 0) as server:
        where = (SocketAddress(*server.sockets[0].getsockname()),)
        for _ in range(2):  # the second time it is known
            result = await transport.fetch(Request("https://site.test/", (), where), LIMITS, permit)
            assert isinstance(result, Failure)
            kinds.add(result.kind)
    assert permit.told_on == []
    (kind,) = kinds
    return kind


@case
async def test_it_is_told_from_other_failures(world: World) -> None:
    assert await kind_of(world.transport) == "legacy_tls"


@pytest.mark.parametrize("pair", [False, True])
def test_the_option_lets_the_handshake_go_on(pair: bool, tmp_path: Path) -> None:
    async def run() -> None:
        old = RequestsTransport(Guard(), legacy_tls=True)
        transport: Transport = LenientTransport(CurlTransport(Guard()), lambda: old, legacy_tls=True) if pair else old
        try:
            assert await kind_of(transport) == "tls"
        finally:
            await transport.close()
            await old.close()

    asyncio.run(asyncio.wait_for(run(), 20))

"""HTTP/2 where a server resets streams: what wants HTTP/1.1 gets it, and one accident changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import trustme

from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.adapters.transport.http1_origins import RESETS
from gregor.worker.adapters.transport.lenient import LenientTransport
from gregor.worker.borders.transport import Request, SocketAddress
from tests.contract.http2_server import CANCEL, HTTP_1_1_REQUIRED, INTERNAL_ERROR, REFUSED_STREAM, Http2Server
from tests.contract.test_transports import LIMITS, Guard
from tests.contract.world import Permitted
from tests.memory_transport import MemoryTransport

Ask = Callable[[], Awaitable[str]]


def play(
    folder: Path, resets: Callable[[int], int | None], case: Callable[[Ask, Http2Server], Awaitable[None]]
) -> None:
    """Run a case against such a server, by the default pair of transports."""

    async def run() -> None:
        authority = trustme.CA()
        ca_file = folder / "ca.pem"
        authority.cert_pem.write_to_path(ca_file)
        async with Http2Server(authority, resets) as server:
            curl = CurlTransport(Guard(), ca_file=ca_file, http2=True)
            transport = LenientTransport(curl, MemoryTransport)
            request = Request("https://site.test/", (), (SocketAddress("127.0.0.1", server.port),))
            permit = Permitted()

            async def ask() -> str:
                """The protocol of the answer, or what failed."""
                before = len(server.spoke)
                result = await transport.fetch(request, LIMITS, permit)
                assert len(server.spoke) - before <= 1, "a request is never repeated"
                if hasattr(result, "kind"):
                    return str(result.kind)
                result.close()
                return str(result.http_version)

            await case(ask, server)
            assert len(permit.told_on) == len(server.spoke)
            await transport.close()

    asyncio.run(asyncio.wait_for(run(), 20))


def test_who_wants_http_1_1_gets_it_at_the_next_try(tmp_path: Path) -> None:
    async def case(ask: Ask, server: Http2Server) -> None:
        assert [await ask() for _ in range(4)] == ["HTTP/2", "downgrade", "HTTP/1.1", "HTTP/1.1"]

    play(tmp_path, lambda number: HTTP_1_1_REQUIRED if number else None, case)


def test_one_reset_stream_moves_nothing(tmp_path: Path) -> None:
    for code in (INTERNAL_ERROR, REFUSED_STREAM, CANCEL):

        async def case(ask: Ask, server: Http2Server) -> None:
            assert [await ask() for _ in range(5)] == ["HTTP/2", "cut", "HTTP/2", "HTTP/2", "HTTP/2"]
            assert server.spoke == ["h2"] * 5

        play(tmp_path, lambda number, code=code: code if number == 1 else None, case)  # type: ignore[misc]


def test_a_server_that_resets_every_stream_is_asked_in_http_1_1(tmp_path: Path) -> None:
    async def case(ask: Ask, server: Http2Server) -> None:
        assert [await ask() for _ in range(RESETS + 2)] == ["cut"] * RESETS + ["HTTP/1.1"] * 2

    play(tmp_path, lambda _: INTERNAL_ERROR, case)

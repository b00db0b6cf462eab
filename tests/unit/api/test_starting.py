"""What a process says to those who probe it before its servers are there."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from gregor.worker.api.starting import starting
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config

Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """On the loop of the standard library, and on the workers' own, whose transports are of other types."""
    found: Run = request.param
    return found


def free() -> Config:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return Config(listen=f"127.0.0.1:{one.getsockname()[1]}", anonymous_read=True)


async def said(config: Config, request: bytes) -> tuple[str, dict[str, object]]:
    """The first line and the body of an answer, read to its end."""
    host, port = config.listen.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request)
    head, _, body = (await asyncio.wait_for(reader.read(), 10)).partition(b"\r\n\r\n")
    writer.close()
    lines = head.decode().splitlines()
    assert f"Content-Length: {len(body)}" in lines
    return lines[0], json.loads(body)


@pytest.mark.parametrize(
    "request_", [b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n", b"\x16\x03\x01 TLS"]
)
def test_it_names_the_server_that_is_waited_for(run: Run, request_: bytes) -> None:
    async def probed() -> None:
        config = free()
        async with starting(config) as away:
            assert await said(config, request_) == (
                "HTTP/1.1 503 Service Unavailable",
                {"ok": False, "detail": "starting"},
            )
            for service in ("Cassandra", "Kafka"):
                away(Unavailable(service, "10.0.0.1:9042: refused"))
                assert (await said(config, request_))[1] == {"ok": False, "detail": f"{service} is away"}

    run(probed())


def test_it_leaves_its_place_to_the_api_whoever_is_connected(run: Run) -> None:
    async def left() -> None:
        config = free()
        host, port = config.listen.split(":")
        async with starting(config):
            reader, writer = await asyncio.open_connection(host, int(port))  # and asks nothing
        async with starting(config):
            with pytest.raises(BadInput, match="listen"):
                async with starting(config):
                    raise AssertionError("two listen at one place")
        with contextlib.suppress(ConnectionResetError):  # it may not have been accepted yet
            assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()

    run(left())

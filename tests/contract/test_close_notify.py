"""Bodies over TLS whose end the server did not announce (close_notify): whole as far as anybody can say, and marked."""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gregor.worker.borders.transport import SocketAddress
from tests.contract.test_transports import World, case

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@contextmanager
def cutting_server(world: World, answer: bytes, *, announce: bool) -> Iterator[SocketAddress]:
    """Answers once and ends the connection, with or without TLS's word for it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    world.origin.authority.issue_cert("site.test").configure_cert(context)

    def serve() -> None:
        raw, _ = listening.accept()
        line = context.wrap_socket(raw, server_side=True)
        line.recv(65536)
        line.sendall(answer)
        if announce:
            line.unwrap().close()
        else:
            os.close(line.detach())

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)  # it waits for a client that a failed test never is
        thread.start()
        yield SocketAddress(*listening.getsockname())
        thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@case
async def test_an_end_that_tls_did_not_announce(world: World) -> None:
    for answer, announce, body, truncated in (
        (OK + b"\r\nto the end", False, b"to the end", "length"),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", False, b"to the end", "length"),
        (OK + b"\r\nto the end", True, b"to the end", None),
        (OK + b"Content-Length: 5\r\n\r\nwhole", False, b"whole", None),
        (OK + b"Content-Length: 9\r\n\r\npart", False, b"part", "cut"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n", False, b"part", "cut"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n", False, b"whole", None),
    ):
        with cutting_server(world, answer, announce=announce) as where:
            page = await world.page("/", tls=True, endpoints=(where,))
        assert (page.body.read(), page.truncated) == (body, truncated), (answer, announce)


@case
async def test_a_head_that_ends_so_is_cut(world: World) -> None:
    for answer in (b"", OK):
        with cutting_server(world, answer, announce=False) as where:
            assert (await world.failure("/", tls=True, endpoints=(where,))).kind == "cut"

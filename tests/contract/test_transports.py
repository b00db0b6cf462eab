"""What every transport must do, case by case, against a server that does what a case says."""

import asyncio
import gzip
import os
import random
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from unittest import mock

import brotli
import pytest
import trustme
import zstandard

from gregor.worker.adapters.transport.attempts import AddressGuard
from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.adapters.transport.requests_transport import RequestsTransport
from gregor.worker.borders.transport import (
    Failure,
    FetchResult,
    Limits,
    Permit,
    Request,
    Response,
    SocketAddress,
    Transport,
)
from tests.contract.origin_server import Origin, Talk
from tests.contract.world import Permitted

# urllib3's; the transport records the fault instead.
pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")

LIMITS = Limits(connect_timeout=2, read_timeout=2, total_timeout=4, max_body=100_000, max_wire=100_000)
TRANSPORTS: dict[str, Callable[..., Transport]] = {"curl": CurlTransport, "requests": RequestsTransport}


class Guard:
    """Allows all but the addresses named."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused

    def allows(self, ip: str, port: int) -> bool:
        return ip not in self.refused


class World:
    """An origin, and a transport that reaches it as site.test."""

    def __init__(self, kind: str, origin: Origin, transport: Transport) -> None:
        self.kind, self.origin, self.transport = kind, origin, transport
        self._answers: list[Response] = []

    async def fetch(
        self,
        target: str = "/",
        *,
        tls: bool = False,
        limits: Limits = LIMITS,
        permit: Permit | None = None,
        addresses: tuple[str, ...] = ("127.0.0.1",),
        host: str = "site.test",
        **request: Any,
    ) -> FetchResult:
        scheme, port = ("https", self.origin.tls_port) if tls else ("http", self.origin.port)
        endpoints = request.pop("endpoints", tuple(SocketAddress(address, port) for address in addresses))
        full = Request(f"{scheme}://{host}{target}", endpoints=endpoints, **request)
        result = await self.transport.fetch(full, limits, permit or Permitted())
        if isinstance(result, Response):
            self._answers.append(result)
        return result

    async def close(self) -> None:
        """End the transport and free the bodies it gave."""
        await self.transport.close()
        for answer in self._answers:
            answer.close()

    async def page(self, target: str = "/", **how: Any) -> Response:
        result = await self.fetch(target, **how)
        assert isinstance(result, Response), result
        return result

    async def failure(self, target: str = "/", **how: Any) -> Failure:
        result = await self.fetch(target, **how)
        assert isinstance(result, Failure), result
        return result


Case = Callable[[World], Awaitable[None]]


def run_case(test: Case, kind: str, folder: Path, guard: AddressGuard | None = None) -> None:
    """Play a case with one transport and an origin of its own."""

    async def play() -> None:
        async with Origin() as origin:
            transport = TRANSPORTS[kind](guard or Guard(), ca_file=origin.write_ca(folder))
            world = World(kind, origin, transport)
            try:
                await test(world)
            finally:
                await world.close()

    asyncio.run(asyncio.wait_for(play(), 20))


def case_with(make_guard: Callable[[], AddressGuard]) -> Callable[[Case], Callable[..., None]]:
    """Make a test of a coroutine: once for each transport."""

    def decorate(test: Case) -> Callable[..., None]:
        @pytest.mark.parametrize("kind", TRANSPORTS)
        def run(kind: str, tmp_path: Path) -> None:
            run_case(test, kind, tmp_path, make_guard())

        return run

    return decorate


case = case_with(Guard)


# ---------------------------------------------------------------- the plain way


@case
async def test_an_answer_arrives_as_it_was_sent(world: World) -> None:
    head = "HTTP/1.1 203 Some Reason\r\nB: two\r\nA:  one \r\nb: three\r\nX-Name: caf\xe9\r\nContent-Length: 5\r\n\r\n"
    world.origin.raw("/a?b=%2f", head.encode("latin-1") + b"hello", close=False)
    answer = await world.page("/a?b=%2f")
    assert (answer.status, answer.reason, answer.http_version) == (203, "Some Reason", "HTTP/1.1")
    assert answer.headers[:4] == [("B", "two"), ("A", "one"), ("b", "three"), ("X-Name", "caf\xe9")]
    assert answer.response_head == head.encode("latin-1")
    assert (answer.body.read(), answer.wire_body, answer.truncated) == (b"hello", None, None)
    assert answer.address == "127.0.0.1"
    assert 0 <= answer.latency <= answer.elapsed < 4


@case
async def test_the_request_is_written_as_it_is_reported(world: World) -> None:
    world.origin.page("/x/../y%7e?q=a|b")
    headers = (("User-Agent", "gregor (+mailto:a@b.test)"), ("accept", "text/html"), ("X-Empty", ""))
    answer = await world.page("/x/../y%7e?q=a|b#fragment", headers=headers)
    (talk,) = world.origin.received
    assert talk.head.replace(b"X-Empty:\r\n", b"X-Empty: \r\n") == answer.request_head
    assert talk.target == "/x/../y%7e?q=a|b"
    assert talk.header_lines[0] == "Host: site.test"
    assert talk.header_lines[-1] == "Accept-Encoding: gzip, deflate, br, zstd"
    assert len(talk.header_lines) == 5


@case
async def test_user_info_and_foreign_ports_in_the_url(world: World) -> None:
    world.origin.page("/")
    await world.page("/", host="user:secret@site.test:8081")
    (talk,) = world.origin.received
    assert talk.header_lines[0] == "Host: site.test:8081"
    assert not any(line.lower().startswith("authorization") for line in talk.header_lines)


@case
async def test_what_cannot_be_sent_is_refused(world: World) -> None:
    world.origin.page("/")
    assert (await world.failure("/a b")).kind == "request"
    assert (await world.failure("/", headers=(("X-A", "1\r\nX-B: 2"),))).kind == "request"
    assert (await world.failure("/", endpoints=())).kind == "connect"
    assert world.origin.connections == 0


@case
async def test_redirects_and_cookies_are_left_to_the_caller(world: World) -> None:
    world.origin.page("/", b"", "Location: /next", "Set-Cookie: a=b; Path=/", status=302)
    world.origin.page("/next")
    assert (await world.page("/")).header("location") == "/next"
    await world.page("/next")
    assert [talk.target for talk in world.origin.received] == ["/", "/next"]
    assert not any("cookie" in line.lower() for line in world.origin.received[1].header_lines)


@case
async def test_nobody_connects_to_where_a_redirect_leads(world: World) -> None:
    world.origin.page("/", b"", f"Location: https://127.0.0.1:{world.origin.tls_port}/next", status=302)
    assert (await world.page("/")).status == 302
    assert world.origin.connections == 1


@case
async def test_connections_are_kept(world: World) -> None:
    world.origin.page("/", b"x")
    for _ in range(3):
        await world.page("/")
        await world.page("/", tls=True)
    assert world.origin.connections == 2


@case
async def test_interim_answers_are_dropped(world: World) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    world.origin.raw("/", interim + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown", close=False)
    for _ in range(2):
        answer = await world.page("/")
        assert (answer.body.read(), answer.headers) == (b"own", [("Content-Length", "3")])


@case
async def test_http_1_0_without_a_length(world: World) -> None:
    world.origin.raw("/", b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end")
    answer = await world.page("/")
    assert (answer.http_version, answer.body.read(), answer.truncated) == ("HTTP/1.0", b"to the end", None)


@case
async def test_chunks_and_trailers(world: World) -> None:
    world.origin.raw(
        "/",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n",
        close=False,
    )
    for _ in range(2):
        answer = await world.page("/")
        assert (answer.body.read(), answer.truncated) == (b"abcde", None)
        assert answer.header("x-trailer") is None
    assert world.origin.connections == 1


@case
async def test_statuses_without_a_body(world: World) -> None:
    for status in (204, 304):
        world.origin.raw("/", f"HTTP/1.1 {status} X\r\nETag: a\r\n\r\n".encode(), close=False)
        assert (await world.page("/")).body.read() == b""
    assert world.origin.connections == 1


@case
async def test_a_large_body_can_be_read_twice(world: World) -> None:
    body = bytes(range(256)) * 8_000
    world.origin.page("/", body)
    answer = await world.page("/", limits=Limits())
    with answer.body.open() as reader:
        assert reader.read() == body
    assert answer.body.read() == body


@case
async def test_many_at_once(world: World) -> None:
    for number in range(50):
        world.origin.page(f"/{number}", str(number).encode())
    answers = await asyncio.gather(*(world.page(f"/{number}") for number in range(50)))
    assert [answer.body.read() for answer in answers] == [str(number).encode() for number in range(50)]


# ---------------------------------------------------------------- content codings


@pytest.mark.parametrize(
    ("coding", "encode"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body, wbits=-15)),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
    ],
)
def test_content_codings_are_removed(coding: str, encode: Callable[[bytes], bytes], tmp_path: Path) -> None:
    async def fetch(world: World) -> None:
        body = b"some text, " * 1000
        packed = encode(body)
        world.origin.page("/", packed, f"Content-Encoding: {coding}")
        answer = await world.page("/")
        assert (answer.body.read(), answer.truncated) == (body, None)
        assert answer.wire_body is not None
        assert answer.wire_body.read() == packed

    for kind in TRANSPORTS:
        run_case(fetch, kind, tmp_path)


@case
async def test_a_corrupt_coding_is_a_failure(world: World) -> None:
    world.origin.page("/", b"\x1f\x8b\x08\x00 this is no gzip stream at all", "Content-Encoding: gzip")
    assert (await world.failure("/")).kind == "decode"


@case
async def test_what_was_decoded_before_a_fault_is_kept_with_a_mark(world: World) -> None:
    packed = gzip.compress(random.Random(1).randbytes(90_000))
    world.origin.page("/", packed[:60_000] + b"\xff" * 20_000, "Content-Encoding: gzip")
    answer = await world.page("/")
    assert answer.truncated == "cut"
    assert answer.body.size > 50_000


@case
async def test_a_bomb_is_cut_at_the_limit(world: World) -> None:
    bomb = zstandard.compress(b"\0" * 50_000_000)
    assert len(bomb) < LIMITS.max_wire
    world.origin.page("/", bomb, "Content-Encoding: zstd")
    answer = await world.page("/")
    assert answer.truncated == "size"
    assert answer.body.size <= LIMITS.max_body


# ---------------------------------------------------------------- sizes


@case
async def test_a_body_ends_at_the_limit_and_so_does_the_transfer(world: World) -> None:
    talks: list[Talk] = []

    async def endless(talk: Talk) -> None:
        talks.append(talk)
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            await talk.send(b"x" * 10_000)

    world.origin.script("/", endless)
    answer = await world.page("/")
    assert (answer.truncated, answer.body.read()) == ("size", b"x" * 100_000)
    assert talks[0].sent < 16_000_000


@case
async def test_a_body_of_exactly_the_limit_is_whole(world: World) -> None:
    world.origin.page("/", b"x" * 100_000)
    assert (await world.page("/")).truncated is None
    world.origin.page("/", b"x" * 100_001)
    assert (await world.page("/")).truncated == "size"


@case
async def test_a_body_without_a_coding_keeps_to_the_limit_of_bodies(world: World) -> None:
    world.origin.page("/", b"x" * 3_000)
    answer = await world.page("/", limits=Limits(max_body=2_000, max_wire=100_000))
    assert (answer.truncated, answer.body.read()) == ("size", b"x" * 2_000)


@case
async def test_the_wire_has_a_limit_of_its_own(world: World) -> None:
    noise = gzip.compress(random.Random(1).randbytes(90_000))
    world.origin.page("/", noise, "Content-Encoding: gzip")
    answer = await world.page("/", limits=Limits(max_wire=1000))
    assert answer.truncated == "size"
    assert answer.wire_body is not None
    assert answer.wire_body.size == 1000


@case
async def test_many_header_lines_are_fine(world: World) -> None:
    world.origin.page("/", b"ok", *(f"X-Debug-{n}: value {n}" for n in range(300)))
    assert len((await world.page("/")).headers) == 301


async def endless_line(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        await talk.send(b"a" * 10_000)


async def endless_lines(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await talk.send(b"X-More: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n" * 100)


async def endless_status(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 ")
    while True:
        await talk.send(b"O" * 10_000)


async def endless_interim(talk: Talk) -> None:
    while True:
        await talk.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


@case
async def test_head_bombs_are_capped(world: World) -> None:
    for script in (endless_line, endless_lines, endless_status, endless_interim):
        world.origin.script("/", script)
        started = time.monotonic()
        failure = await world.failure("/")
        assert failure.kind in ("too_large_headers", "protocol"), failure
        assert "curl error" not in failure.detail
        assert time.monotonic() - started < 2
        assert world.origin.received[-1].sent < 16_000_000


async def endless_trailers(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n")
    while True:
        await talk.send(b"X-More: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n" * 100)


async def endless_trailer_line(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-More: ")
    while True:
        await talk.send(b"b" * 10_000)


@case
async def test_trailers_are_capped_and_the_body_is_whole(world: World) -> None:
    for script in (endless_trailers, endless_trailer_line):
        world.origin.script("/", script)
        started = time.monotonic()
        answer = await world.page("/")
        assert (answer.body.read(), answer.truncated) == (b"body", None), script
        assert time.monotonic() - started < 2
        assert world.origin.received[-1].sent < 16_000_000


# ---------------------------------------------------------------- cut and malformed


@case
async def test_a_body_that_is_cut_is_never_whole(world: World) -> None:
    for answer in (
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\npart",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nnonsense\r\n",
    ):
        world.origin.raw("/", answer)
        page = await world.page("/")
        assert (page.truncated, page.body.read()) == ("cut", b"part"), answer


@case
async def test_a_cut_body_with_a_coding_keeps_what_can_be_decoded(world: World) -> None:
    packed = gzip.compress(b"some text " * 100)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed) + 100}\r\n\r\n"
    world.origin.raw("/", head.encode() + packed)
    page = await world.page("/")
    assert (page.truncated, page.body.read()) == ("cut", b"some text " * 100)


@case
async def test_a_reset_in_the_body_is_a_cut(world: World) -> None:
    async def break_off(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
        await asyncio.sleep(0.1)
        talk.reset()

    world.origin.script("/", break_off)
    assert (await world.page("/")).truncated == "cut"


@case
async def test_no_answer_at_all_is_a_cut(world: World) -> None:
    for answer in (b"", b"HTTP/1.1 200 OK\r\nContent-Le"):
        world.origin.raw("/", answer)
        failure = await world.failure("/")
        assert failure.kind == "cut"
        assert not answer or "inside the head" in failure.detail


@case
async def test_what_is_not_http_is_refused(world: World) -> None:
    for answer in (
        b"<html>no head at all</html>\n",
        b"HTTP/1.1 4294967496 OK\r\nContent-Length: 4\r\n\r\nevil",
        b"HTTP/1.1 20 OK\r\nContent-Length: 4\r\n\r\nevil",
        b"HTTP/1.1 +200 OK\r\nContent-Length: 4\r\n\r\nevil",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nevil!",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ):
        world.origin.raw("/", answer)
        assert (await world.failure("/")).kind == "protocol", answer


@case
async def test_the_lenient_transport_takes_what_browsers_take(world: World) -> None:
    """curl says "protocol" to some of these, so that the caller can try the other one."""
    for lines in (
        b"Policy: default-src 'self';\r\nframe-src 'self' ads.example.test;\r\nContent-Type: text/html\r\n",
        b"X-Folded: one\r\n two\r\nContent-Type: text/html\r\n",
        b' "Content-type": text/html\r\nContent-Type: text/html\r\n',
        b"X-Nul: a\0b\r\nContent-Type: text/html\r\n",
        b"Content-Type: text/html\r\nContent-Length: x4\r\n",
    ):
        world.origin.raw("/", b"HTTP/1.1 200 OK\r\n" + lines + b"\r\nbody")
        result = await world.fetch("/")
        if isinstance(result, Failure):
            assert (world.kind, result.kind) == ("curl", "protocol"), lines
        else:
            assert (result.header("content-type"), result.body.read()) == ("text/html", b"body"), lines


@case
async def test_a_folded_line_is_joined(world: World) -> None:
    world.origin.page("/", b"", "X-Folded: one\r\n\ttwo")
    assert (await world.page("/")).header("x-folded") == "one two"


@case
async def test_unread_bytes_are_not_the_next_answer(world: World) -> None:
    junk = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nINJECTED"
    world.origin.raw("/204", b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nJUNK" + junk, close=False)
    world.origin.raw("/whole", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + junk, close=False)

    async def later(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await asyncio.sleep(0.05)
        await talk.send(junk)

    world.origin.script("/later", later)
    world.origin.page("/own", b"own")
    for target in ("/204", "/whole", "/later"):
        await world.page(target)
        await asyncio.sleep(0.1)
        assert (await world.page("/own")).body.read() == b"own", target


# ---------------------------------------------------------------- time


async def silent(talk: Talk) -> None:
    await asyncio.sleep(60)


@case
async def test_silence_ends_the_fetch(world: World) -> None:
    limits = Limits(read_timeout=0.3)
    world.origin.script("/silent", silent)
    started = time.monotonic()
    assert (await world.failure("/silent", limits=limits)).kind == "timeout"

    async def stops(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
        await silent(talk)

    world.origin.script("/stops", stops)
    page = await world.page("/stops", limits=limits)
    assert (page.truncated, page.body.read()) == ("time", b"part")
    assert 0.55 < time.monotonic() - started < 2


@case
async def test_a_head_that_comes_line_by_line_is_no_silence(world: World) -> None:
    async def slow(talk: Talk) -> None:
        for line in (b"HTTP/1.1 200 OK\r\n", *[b"X-Slow: a\r\n"] * 6, b"Content-Length: 2\r\n", b"\r\n", b"ok"):
            await talk.send(line)
            await asyncio.sleep(0.35)  # the head takes eight of them, longer than any silence may

    world.origin.script("/", slow)
    page = await world.page("/", limits=Limits(read_timeout=2, total_timeout=10))
    assert (page.truncated, page.body.read()) == (None, b"ok")


@case
async def test_a_trickle_ends_at_the_total_time(world: World) -> None:
    limits = Limits(read_timeout=5, total_timeout=0.5)

    async def trickling_head(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while True:
            await talk.send(b"a")
            await asyncio.sleep(0.02)

    async def trickling_body(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await talk.send(b"a")
            await asyncio.sleep(0.02)

    world.origin.script("/head", trickling_head)
    world.origin.script("/body", trickling_body)
    started = time.monotonic()
    assert (await world.failure("/head", limits=limits)).kind == "timeout"
    assert (await world.page("/body", limits=limits)).truncated == "time"
    assert 0.9 < time.monotonic() - started < 2.5


@case
async def test_a_slow_body_ends_at_the_minimum_rate(world: World) -> None:
    async def slow(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await talk.send(b"a" * 10)
            await asyncio.sleep(0.02)

    world.origin.script("/", slow)
    started = time.monotonic()
    assert (await world.page("/", limits=Limits(minimum_rate=5_000, rate_window=0.3))).truncated == "time"
    assert time.monotonic() - started < 2


@case
async def test_connecting_has_a_limit(world: World) -> None:
    with socket.socket() as deaf:  # its queue is full: further connections get no answer
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        where = deaf.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(where)
        started = time.monotonic()
        failure = await world.failure("/", endpoints=(SocketAddress(*where),), limits=Limits(connect_timeout=0.3))
        assert failure.kind == "timeout"
        assert time.monotonic() - started < 2
        for filler in fillers:
            filler.close()


@case
async def test_cancelling_closes_the_connection(world: World) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait_for_the_end(talk: Talk) -> None:
        begun.set()
        try:
            while True:
                await talk.send(b"HTTP/1.1 103 Hints\r\n\r\n")
                await asyncio.sleep(0.02)
        finally:
            ended.set()

    world.origin.script("/", wait_for_the_end)
    task = asyncio.create_task(world.fetch("/"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 2)


# ---------------------------------------------------------------- the lease; nothing is repeated


@case
async def test_the_lease_is_asked_after_connecting_and_nothing_is_sent_without_it(world: World) -> None:
    world.origin.page("/")
    seen: list[int] = []

    class Ended(Permitted):
        def allows(self) -> bool:
            seen.append(world.origin.connections)
            return False

        def sent(self) -> None:
            raise AssertionError("nothing is sent without a permit")

    for tls in (False, True):
        assert (await world.failure("/", tls=tls, permit=Ended())).kind == "lease"
    await asyncio.sleep(0.1)
    assert len(seen) == 2
    assert world.origin.received == []
    assert (await world.page("/")).status == 200


@case
async def test_that_a_request_is_sent_is_told_on_the_loop_before_its_answer(world: World) -> None:
    """The permission may be asked on any thread, so it reads only; what is written of a host is written on the loop."""
    world.origin.page("/")
    world.origin.raw("/broken", b"no HTTP at all\r\n\r\n")
    for tls in (False, True):
        for target in ("/", "/broken"):
            permit = Permitted()
            await world.fetch(target, tls=tls, permit=permit)
            assert permit.told_on == [threading.get_ident()]
    permit = Permitted()
    await world.fetch("/", endpoints=(SocketAddress("127.0.0.1", 1),), permit=permit)
    assert permit.told_on == [], "no connection, no request"


@case
async def test_a_dead_kept_connection_makes_no_second_request(world: World) -> None:
    async def once(talk: Talk) -> None:
        if len(world.origin.received) == 1:
            await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        else:
            talk.close()

    world.origin.script("/", once)
    await world.page("/")
    assert (await world.failure("/")).kind == "cut"
    assert len(world.origin.received) == 2


@case
async def test_a_connection_that_was_closed_meanwhile_is_replaced(world: World) -> None:
    world.origin.raw("/", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", close=True)
    await world.page("/")
    await asyncio.sleep(0.1)
    assert (await world.page("/")).body.read() == b"ok"
    assert len(world.origin.received) == 2


# ---------------------------------------------------------------- addresses


@case_with(lambda: Guard("127.0.0.1"))
async def test_a_refused_address_is_never_connected_to(world: World) -> None:
    assert (await world.failure("/")).kind == "refused_address"
    assert (await world.failure("/", host="127.0.0.1")).kind == "refused_address"
    assert world.origin.connections == 0


@case_with(lambda: Guard("192.0.2.1"))
async def test_an_allowed_address_is_taken_beside_a_refused_one(world: World) -> None:
    world.origin.page("/")
    assert (await world.page("/", addresses=("192.0.2.1", "127.0.0.1"))).address == "127.0.0.1"


class TurningGuard:
    """Allows when asked for the first time, refuses from then on: the check at connect is the one that counts."""

    def __init__(self) -> None:
        self.asked = 0

    def allows(self, ip: str, port: int) -> bool:
        self.asked += 1
        return self.asked % 2 == 1


@case_with(TurningGuard)
async def test_the_address_is_checked_again_as_the_socket_opens(world: World) -> None:
    assert (await world.failure("/")).kind == "refused_address"
    assert world.origin.connections == 0


@case
async def test_a_dead_ipv6_address_falls_back_to_ipv4(world: World) -> None:
    world.origin.page("/")
    started = time.monotonic()
    assert (await world.page("/", addresses=("100::1", "127.0.0.1"))).address == "127.0.0.1"
    assert time.monotonic() - started < 1.9


@case
async def test_a_dead_port_falls_back_to_the_next_endpoint(world: World) -> None:
    world.origin.page("/")
    endpoints = (SocketAddress("127.0.0.1", 9), SocketAddress("127.0.0.1", world.origin.port))
    assert (await world.failure("/", endpoints=endpoints[:1])).kind == "connect"
    assert (await world.page("/", endpoints=endpoints)).status == 200


@case
async def test_a_literal_host_can_be_moved_too(world: World) -> None:
    world.origin.page("/")
    for host in ("192.0.2.7", "[2001:db8::7]"):
        await world.page("/", host=host)
        assert world.origin.received[-1].header_lines[0] == f"Host: {host}"


# ---------------------------------------------------------------- TLS


@case
async def test_tls_keeps_the_name(world: World) -> None:
    world.origin.page("/")
    answer = await world.page("/", tls=True)
    assert (answer.status, answer.tls_fault) == (200, None)
    assert (await world.page("/", tls=True, host="site.test.")).status == 200


@case
async def test_a_bad_certificate_is_a_failure_or_on_record(world: World) -> None:
    world.origin.page("/")
    assert (await world.failure("/", tls=True, host="other.test")).kind == "tls"
    assert world.origin.received == []
    answer = await world.page("/", tls=True, host="other.test", insecure=True)
    assert answer.tls_fault
    assert len(world.origin.received) == 1


@case
async def test_an_unknown_authority_is_a_failure(world: World) -> None:
    world.origin.page("/")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("site.test").configure_cert(context)
    async with await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0, ssl=context) as server:
        where = SocketAddress(*server.sockets[0].getsockname())
        assert (await world.failure("/", tls=True, endpoints=(where,))).kind == "tls"


WEAK_GROUP = """\
-----BEGIN DH PARAMETERS-----
MIGHAoGBAP//////////yQ/aoiFowjTExmKLgNwc0SkCTgiKZ8x0Agu+pjsTmyJR
Sgh5jjQE3e+VGbPNOkMbMCsKbfJfFDdP4TVtbVHCReSFtXZiXn7G9ExC6aY37WsL
/1y29Aa37e44a/taiZ+lrp8kEXxLH+ZJKGZR7OZTgf//////////AgEC
-----END DH PARAMETERS-----
"""
"""1024 bits, as `load_dh_params` takes them: RFC 2409 section 6.2."""


@case
async def test_a_weak_key_exchange_is_a_failure_with_its_reason(world: World) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    for ciphers in ("DHE", "ECDHE:DHE"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        world.origin.authority.issue_cert("site.test", key_type=trustme.KeyType.RSA).configure_cert(context)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
        with NamedTemporaryFile("w", suffix=".pem") as group:
            group.write(WEAK_GROUP)
            group.flush()
            context.load_dh_params(group.name)
        async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
            result = await world.fetch("/", tls=True, endpoints=(SocketAddress(*server.sockets[0].getsockname()),))
        if ciphers == "DHE":
            assert isinstance(result, Failure)
            assert (result.kind, "dh key too small" in result.detail.lower()) == ("tls", True), result
        else:
            assert isinstance(result, Response), "another exchange was on offer"


@case
async def test_a_server_without_tls_is_a_tls_failure(world: World) -> None:
    where = SocketAddress("127.0.0.1", world.origin.port)
    assert (await world.failure("/", tls=True, endpoints=(where,), limits=Limits(connect_timeout=0.5))).kind in (
        "tls",
        "timeout",
    )


# ---------------------------------------------------------------- proxies


class Proxy:
    """An HTTP proxy and a SOCKS5 one that lead every host to the origin; `asked` is what they were asked for."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.asked: list[str] = []

    async def http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.decode().split(" ", 2)
        self.asked.append(f"{method} {target}")
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\nX-Proxy: yes\r\n\r\n")
            await self._join(reader, writer, self.origin.tls_port, b"")
        else:
            await self._join(reader, writer, self.origin.port, b"GET / HTTP/1.1\r\nHost: site.test\r\n\r\n")

    async def socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        *_, kind, length = await reader.readexactly(5)
        name = (await reader.readexactly(length)).decode() if kind == 3 else f"address type {kind}"
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"{name}:{port}")
        writer.write(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        await self._join(reader, writer, self.origin.tls_port if port == 443 else self.origin.port, b"")

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, first: bytes) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        there_writer.write(first)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer), return_exceptions=True)


async def through_proxy(world: World, kind: str) -> list[str]:
    world.origin.page("/", b"ok")
    proxy = Proxy(world.origin)
    async with await asyncio.start_server(getattr(proxy, kind), "127.0.0.1", 0) as server:
        scheme = "socks5" if kind == "socks" else "http"
        url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for tls in (False, True):
            answer = await world.page("/", tls=tls, proxy=url, addresses=())
            assert (answer.body.read(), answer.header("x-proxy")) == (b"ok", None)
            assert answer.address == "127.0.0.1"  # the proxy's: what we were connected to, never a name
    return proxy.asked


@case_with(lambda: Guard("127.0.0.1"))
async def test_an_http_proxy_resolves_the_name(world: World) -> None:
    assert await through_proxy(world, "http") == ["GET http://site.test/", "CONNECT site.test:443"]


@case_with(lambda: Guard("127.0.0.1"))
async def test_a_socks_proxy_resolves_the_name(world: World) -> None:
    assert await through_proxy(world, "socks") == ["site.test:80", "site.test:443"]


@case_with(lambda: Guard("127.0.0.1"))
async def test_the_environment_leads_nobody_past_the_proxy(world: World) -> None:
    """Who crawls through a proxy is not to be known by his own address."""
    with mock.patch.dict(os.environ, {"no_proxy": "*", "NO_PROXY": "*"}):
        assert await through_proxy(world, "http") == ["GET http://site.test/", "CONNECT site.test:443"]
        assert await through_proxy(world, "socks") == ["site.test:80", "site.test:443"]


@case
async def test_nor_to_one(world: World) -> None:
    world.origin.page("/", b"ok")
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY")
    with mock.patch.dict(os.environ, dict.fromkeys(names, "http://127.0.0.1:9")):
        for tls in (False, True):
            assert (await world.page("/", tls=tls)).body.read() == b"ok"


@case
async def test_a_dead_proxy_is_told_apart(world: World) -> None:
    for scheme in ("http", "socks5"):
        assert (await world.failure("/", proxy=f"{scheme}://127.0.0.1:9")).kind == "proxy"


@case_with(lambda: Guard("127.0.0.1"))
async def test_a_proxy_that_wants_a_password_is_no_host_that_answers(world: World) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 2\r\n\r\nno')
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for tls in (False, True):
            failure = await world.failure("/", tls=tls, proxy=url, addresses=())
            assert failure.kind == "proxy"
            assert "407" in failure.detail


@case_with(lambda: Guard("127.0.0.1"))
async def test_an_answer_cut_behind_a_proxy_is_no_failure_of_the_proxy(world: World) -> None:
    """Once the request is sent an end of the connection is the URL's affair, as it is without a proxy."""
    world.origin.raw("/", b"HTTP/1.1 200 OK\r\nX-")
    proxy = Proxy(world.origin)
    for kind, scheme in (("http", "http"), ("socks", "socks5")):
        async with await asyncio.start_server(getattr(proxy, kind), "127.0.0.1", 0) as server:
            url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            for tls in (False, True):
                assert (await world.failure("/", tls=tls, proxy=url, addresses=())).kind == "cut"


@case
async def test_a_host_that_answers_as_a_proxy_does_is_a_host(world: World) -> None:
    world.origin.page("/", b"ok", status=407)
    assert (await world.page("/")).status == 407


# ---------------------------------------------------------------- HTTP/2


def test_curl_offers_http_2_only_when_told(tmp_path: Path) -> None:
    """A server that speaks HTTP/1.1 only is answered in it; what ALPN offers is seen in the handshake."""
    offered: list[list[str]] = []

    async def play() -> None:
        async with Origin() as origin:
            origin.page("/")
            for http2 in (False, True):
                transport = CurlTransport(Guard(), ca_file=origin.write_ca(tmp_path), http2=http2)
                world = World("curl", origin, transport)
                assert (await world.page("/", tls=True)).http_version == "HTTP/1.1"
                offered.append(await _alpn_of(transport))
                await world.close()

    asyncio.run(asyncio.wait_for(play(), 10))
    assert offered == [["http/1.1"], ["h2", "http/1.1"]]


async def _alpn_of(transport: Transport) -> list[str]:
    """The protocol names in the ClientHello that the transport sends."""
    hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def read_hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not hello.done():
            hello.set_result(await reader.read(65536))
        writer.close()

    async with await asyncio.start_server(read_hello, "127.0.0.1", 0) as server:
        where = SocketAddress(*server.sockets[0].getsockname())
        await transport.fetch(Request("https://site.test/", endpoints=(where,)), LIMITS, Permitted())
    record = await hello
    return [name for name in ("h2", "http/1.1") if bytes([len(name)]) + name.encode() in record]

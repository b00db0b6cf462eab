"""What serves one host after another (handles, connections, TLS sessions, buffers) keeps nothing of the one before."""

import asyncio
import random
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pycurl
import pytest

from gregor.worker.adapters.transport import requests_exchange
from gregor.worker.adapters.transport.attempts import Way
from gregor.worker.adapters.transport.curl_loop import CurlLoop
from gregor.worker.borders.transport import Failure, Limits, Request, SocketAddress
from tests.contract.origin_server import Origin, Talk
from tests.contract.test_transports import LIMITS, World, case
from tests.contract.world import Permitted

pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")


# ---------------------------------------------------------------- options


CURL = pycurl.Curl


class Recorded:
    """A curl handle that knows which options are in force on it."""

    def __init__(self) -> None:
        self.handle = CURL()
        self.options: dict[int, object] = {}

    def setopt(self, option: int, value: object) -> None:
        self.handle.setopt(option, value)
        if value not in ((), [], ""):  # which leave a list as it was
            self.options[option] = value

    def unsetopt(self, option: int) -> None:
        self.handle.unsetopt(option)
        self.options.pop(option, None)

    def reset(self) -> None:
        self.handle.reset()
        self.options.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.handle, name)


@contextmanager
def recorded() -> Iterator[list[dict[int, str]]]:
    """The options in force at the start of each transfer, callbacks by their names."""
    started: list[dict[int, str]] = []

    def start(loop: CurlLoop, handle: Any) -> Any:
        started.append({key: getattr(value, "__name__", repr(value)) for key, value in handle.options.items()})
        return usual_start(loop, handle.handle)

    def abort(loop: CurlLoop, handle: Any) -> None:
        usual_abort(loop, handle.handle)

    usual_start, usual_abort = CurlLoop.start, CurlLoop.abort
    with (
        mock.patch.object(pycurl, "Curl", Recorded),
        mock.patch.object(CurlLoop, "start", start),
        mock.patch.object(CurlLoop, "abort", abort),
    ):
        yield started


def requests_that_differ(world: World, port: int) -> list[tuple[Request, Limits]]:
    """Requests that between them set every option there is."""
    here, other = SocketAddress("127.0.0.1", world.origin.port), SocketAddress("127.0.0.1", port)
    return [
        (Request("http://a.test/", (("Authorization", "Bearer a"),), (other,)), LIMITS),
        (Request(f"http://127.0.0.1:{here.port}/", (), (here,)), LIMITS),
        (Request(f"http://b.test:{here.port}/", (("X-B", ""),), (here,)), Limits(connect_timeout=1)),
        (Request("http://192.0.2.1/", (), (other, SocketAddress("127.0.0.2", port))), LIMITS),
        (
            Request("https://other.test/", (), (SocketAddress("127.0.0.1", world.origin.tls_port),), insecure=True),
            LIMITS,
        ),
        (Request("http://c.test/", (), (), proxy=f"http://u:p@127.0.0.1:{here.port}"), LIMITS),
        (Request(f"http://a.test:{here.port}/", (("Accept", "x"),), (here,)), LIMITS),
    ]


@case
async def test_no_option_of_a_request_survives_into_the_next_one(world: World) -> None:
    if world.kind == "requests":
        await no_attribute_survives(world)
        return
    async with Origin() as second:
        for origin in (world.origin, second):
            origin.page("/", b"x")
            origin.page("http://c.test/", b"x")
        wanted: list[dict[int, str]] = []
        todo = requests_that_differ(world, second.port)
        for request, limits in todo:  # each by a transport that has served nobody
            alone = World("curl", world.origin, type(world.transport)(mock.Mock()))  # type: ignore[call-arg]
            with recorded() as started:
                await alone.transport.fetch(request, limits, Permitted())
            wanted += [{**options, pycurl.CAINFO: "", pycurl.PROXY_CAINFO: ""} for options in started]
            await alone.close()
        for _ in range(3):
            with recorded() as started:
                for request, limits in todo:
                    await world.transport.fetch(request, limits, Permitted())
            assert [{**o, pycurl.CAINFO: "", pycurl.PROXY_CAINFO: ""} for o in started] == wanted


async def no_attribute_survives(world: World) -> None:
    """What a request sets on a kept connection is set anew by the next one, or taken off."""
    set_at: list[set[str]] = []

    def note(connection: object, name: str, value: object) -> None:
        set_at[-1].add(name)
        object.__setattr__(connection, name, value)

    def taken_off(connection: object, name: str) -> None:
        set_at[-1].discard(name)
        object.__delattr__(connection, name)

    world.origin.page("/", b"x")
    with (
        mock.patch.object(requests_exchange._Served, "__setattr__", note, create=True),
        mock.patch.object(requests_exchange._Served, "__delattr__", taken_off, create=True),
    ):
        for headers in ((), (("Authorization", "x"), ("X-Empty", "")), ()):
            for tls in (False, True):
                set_at.append(set())
                limits = Limits(read_timeout=3) if headers else LIMITS
                await world.page("/", tls=tls, headers=headers, limits=limits)
    assert world.origin.connections == 2
    for second, third in ((set_at[2], set_at[4]), (set_at[3], set_at[5])):
        assert second, "it was recorded"
        assert second == third


# ---------------------------------------------------------------- connections


@case
async def test_every_request_reaches_its_own_server_with_its_own_credentials(world: World) -> None:
    chance = random.Random(25)
    async with Origin() as second, Origin() as third:
        servers = [world.origin, second, third]
        for number, server in enumerate(servers):
            server.page("/", str(number).encode())
        names = ["a.test", "b.test", "127.0.0.1", "192.0.2.9", "[2001:db8::1]", "localhost", "A.test."]
        hosts = [(name, port) for name in names for port in ("", *(f":{server.port}" for server in servers))]
        leads = {host: chance.randrange(3) for host in hosts}
        for _ in range(150):
            host = chance.choice(hosts)
            if chance.random() < 0.2:
                leads[host] = chance.randrange(3)  # the name has another address from now on
            authority = "".join(host)
            server = servers[leads[host]]
            before = len(server.received)
            secret = (("Authorization", f"Bearer {authority}"),)
            request = Request(f"http://{authority}/", secret, (SocketAddress("127.0.0.1", server.port),))
            answer = await world.transport.fetch(request, LIMITS, Permitted())
            assert not isinstance(answer, Failure), (answer, authority)
            assert answer.body.read() == str(leads[host]).encode()
            (talk,) = server.received[before:]
            assert f"Authorization: Bearer {authority}" in talk.header_lines
            assert talk.header_lines[0] == f"Host: {authority}"
        assert sum(server.connections for server in servers) < 150, "connections were kept"


@case
async def test_where_a_connection_went_is_looked_at_before_the_request(world: World) -> None:
    world.origin.page("/")
    with mock.patch.object(Way, "leads_to", return_value=False):
        for tls in (False, True):
            assert (await world.failure("/", tls=tls)).kind == "elsewhere"
    assert world.origin.received == []
    assert (await world.page("/")).status == 200


@case
async def test_where_an_answer_came_from_is_looked_at_before_it_is_kept(world: World) -> None:
    world.origin.page("/")
    if world.kind == "requests":
        return  # its one look is at the socket that is then written to and read from
    with mock.patch.object(Way, "leads_to", side_effect=[True, False]):
        assert (await world.failure("/")).kind == "elsewhere"


@case
async def test_an_address_may_be_written_in_another_way(world: World) -> None:
    way = Way(("127.0.0.1", "2001:db8::1", "::ffff:1.2.3.4"), 80, 1.0)
    for address in ("127.0.0.1", "2001:db8:0:0::1", "::ffff:102:304"):
        assert way.leads_to(address, 80)
        assert not way.leads_to(address, 81)
    assert not way.leads_to("127.0.0.2", 80)
    assert not way.leads_to("", 80)


# ---------------------------------------------------------------- credentials


@case
async def test_a_proxys_tunnel_is_asked_for_without_the_hosts_headers(world: World) -> None:
    heads: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"http://user:word@127.0.0.1:{server.sockets[0].getsockname()[1]}"
        secret = (("Authorization", "Bearer x"), ("Cookie", "a=b"))
        assert (await world.failure("/", tls=True, proxy=url, addresses=(), headers=secret)).kind == "proxy"
        await world.fetch("/", addresses=("127.0.0.1",))
    (head,) = heads
    assert b"Proxy-Authorization: Basic" in head
    assert b"Bearer" not in head
    assert b"Cookie" not in head
    assert not any(b"proxy-authorization" in talk.head.lower() for talk in world.origin.received)


# ---------------------------------------------------------------- TLS


@case
async def test_what_was_not_verified_does_not_serve_who_verifies(world: World) -> None:
    world.origin.page("/")
    for _ in range(2):
        assert (await world.page("/", tls=True, host="other.test", insecure=True)).tls_fault
        assert (await world.failure("/", tls=True, host="other.test")).kind == "tls"
    assert len(world.origin.received) == 2


@case
async def test_no_tls_session_goes_from_one_name_to_another(world: World) -> None:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        seen: list[tuple[str, bool]] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        world.origin.authority.issue_cert("a.test", "b.test", "c.test").configure_cert(context)
        context.minimum_version = context.maximum_version = version
        names: dict[ssl.SSLObject, str] = {}
        context.sni_callback = lambda line, name, _, names=names: names.update({line: name or ""})

        async def answer(
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            seen: list[tuple[str, bool]] = seen,
            names: dict[ssl.SSLObject, str] = names,
        ) -> None:
            line = writer.get_extra_info("ssl_object")
            await reader.readuntil(b"\r\n\r\n")
            seen.append((names[line], bool(line.session_reused)))
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
            where = (SocketAddress(*server.sockets[0].getsockname()),)
            for name in ("a.test", "a.test", "b.test", "a.test", "c.test", "b.test"):
                await world.page("/", tls=True, host=name, endpoints=where)
        first = [reused for at, (name, reused) in enumerate(seen) if name not in [n for n, _ in seen[:at]]]
        assert first == [False] * 3, seen


# ---------------------------------------------------------------- buffers


@case
async def test_nothing_of_an_answer_is_left_for_the_next_one(world: World) -> None:
    world.origin.page("/own", b"own", "X-Own: yes")
    for raw in (
        b"HTTP/1.1 200 OK\r\nX-Secret: a\r\nX-Mo",  # it ends inside its head
        b"HTTP/1.1 200 OK\r\nX-Secret: a\r\nContent-Length: 100\r\n\r\nsecret",
        b"HTTP/1.1 200 OK\r\nX-Secret: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nsecret",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\nsecret",
        b"HTTP/1.1 2x0 OK\r\nX-Secret: a\r\n\r\n",
        b"HTTP/1.1 103 Hints\r\nX-Secret: a\r\n\r\n",
    ):
        world.origin.raw("/", raw)
        await world.fetch("/", host="a.test")
        for host in ("b.test", "a.test"):
            answer = await world.page("/own", host=host)
            assert answer.body.read() == b"own"
            assert answer.headers == [("Content-Length", "3"), ("X-Own", "yes")]
            assert b"ecret" not in answer.response_head


@case
async def test_a_fetch_that_was_cancelled_leaves_nothing(world: World) -> None:
    begun = asyncio.Event()

    async def half(talk: Talk) -> None:
        await talk.send(b"HTTP/1.1 200 OK\r\nX-Secret: a\r\nContent-Length: 100\r\n\r\nsecret")
        begun.set()
        await asyncio.sleep(60)

    world.origin.script("/half", half)
    world.origin.page("/own", b"own")
    task = asyncio.create_task(world.fetch("/half", host="a.test"))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    for host in ("a.test", "b.test"):
        assert (await world.page("/own", host=host)).body.read() == b"own"

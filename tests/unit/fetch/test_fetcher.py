"""A request of a turn: names looked up ahead of it, the room that an address has, what is sent to whom."""

import asyncio
import time

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.base.shortage import RECOVERY, SHORTEST, LocalShortage
from gregor.worker.borders.resolver import Resolution
from gregor.worker.borders.transport import Failure, Request, SocketAddress
from gregor.worker.config.settings import Config, HostOverride, replace
from gregor.worker.fetch.address_gate import AddressGate
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.held import AddressBusy
from gregor.worker.fetch.names import NameLookups
from gregor.worker.fetch.outcomes import Outcome
from gregor.worker.frontier.queue_item import FromLog, QueueItem
from gregor.worker.web.urls import Urls
from tests.contract.world import Permitted
from tests.memory_transport import MemoryTransport, Scripted

URLS = Urls()
PLACES = {"a.test": "192.0.2.1", "b.test": "192.0.2.1", "c.test": "192.0.2.3"}


class Resolves:
    """A resolver that answers when it is let."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let = asyncio.Event()

    def remembered(self, hostname: str, port: int) -> None:
        return None

    async def resolve(self, hostname: str, port: int) -> Resolution:
        self.asked.append(hostname)
        await self.let.wait()
        return Resolution((SocketAddress(PLACES[hostname], port),), 60.0)


def fetcher(resolver: Resolves, transport: MemoryTransport, config: Config, limit: int | None = None) -> Fetcher:
    names = NameLookups(resolver, 64, time.monotonic)
    return Fetcher(
        config,
        transport,
        names,
        AddressGate(replace(config, per_address=limit), None, time.monotonic),
        URLS,
        {"https://a.test": "Bearer x"},
    )


def queued(href: str) -> QueueItem:
    return QueueItem(Ticket(href, href, "h"), FromLog(1, 0), False)


async def fetched(one: Fetcher, href: str) -> Outcome:
    url = URLS.parse(href)
    assert url is not None
    outcome, response = await one.fetch(url, Permitted(), 0.0, one.limits)
    if response is not None:
        response.close()
    return outcome


@pytest.mark.parametrize(("proxy", "asked"), [("", ["a.test", "b.test"]), ("http://p.test:3128", [])])
def test_names_are_looked_up_once_ahead_of_their_turns_and_by_the_proxy_if_there_is_one(
    proxy: str, asked: list[str]
) -> None:
    async def ahead() -> None:
        names = Resolves()
        one = fetcher(names, MemoryTransport(), replace(Config(), proxy=proxy))
        near = [queued("http://a.test/1"), None, queued("http://b.test/"), queued("http://a.test/2"), queued("none")]
        for _ in range(2):
            one.prefetch(near)
            await asyncio.sleep(0)
        assert names.asked == asked
        names.let.set()
        if looking := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(looking)
        one.prefetch(near[:1])  # what was found lies in the resolver's cache, which may have let it go
        await asyncio.sleep(0)
        assert names.asked == [*asked, *asked[:1]]

    asyncio.run(ahead())


def test_an_address_has_room_for_so_many_requests_whatever_the_names() -> None:
    async def crowd() -> None:
        names = Resolves()
        names.let.set()
        sent = asyncio.Event()

        def slow(_: Request) -> Scripted:
            sent.set()
            return Scripted(delay=60.0)

        transport = MemoryTransport({"http://a.test/": slow})
        one = fetcher(names, transport, Config(delay=0.0), limit=1)
        running = asyncio.create_task(fetched(one, "http://a.test/"))
        await sent.wait()
        with pytest.raises(AddressBusy):
            await fetched(one, "http://b.test/")
        await fetched(one, "http://c.test/")
        running.cancel()
        await asyncio.wait([running])
        await fetched(one, "http://b.test/")
        assert [request.href for request in transport.requests] == [
            "http://a.test/",
            "http://c.test/",
            "http://b.test/",
        ]

    asyncio.run(crowd())


def test_credentials_headers_and_cookies_go_where_they_belong() -> None:
    def with_cookie(_: Request) -> Scripted:
        return Scripted(headers=(("Set-Cookie", "k=v"),))

    async def ask() -> None:
        names = Resolves()
        names.let.set()
        hrefs = ["https://a.test/", "https://a.test/2", "http://a.test/", "https://c.test/"]
        transport = MemoryTransport(dict.fromkeys(hrefs, with_cookie))
        hosts = (HostOverride(host="a.test", headers={"X-Key": "1", "authorization": "of the host"}),)
        one = fetcher(names, transport, replace(Config(delay=0.0), cookies=True, hosts=hosts))
        for href in hrefs:
            await fetched(one, href)
        sent = [dict(request.headers) for request in transport.requests]
        assert [one.get("Authorization") for one in sent] == ["Bearer x", "Bearer x", None, None]
        assert [one.get("authorization") for one in sent] == [None, None, "of the host", None]
        assert [one.get("X-Key") for one in sent] == ["1", "1", "1", None]
        assert [one.get("Cookie") for one in sent] == [None, "k=v", "k=v", None]

    asyncio.run(ask())


def test_after_a_shortage_what_is_answered_brings_back_how_many_are_fetched_at_once() -> None:
    async def ask() -> None:
        names = Resolves()
        names.let.set()
        transport = MemoryTransport({"http://c.test/": Failure("timeout", "why")})
        one = fetcher(names, transport, Config(delay=0.0, concurrency=8))
        assert one.lacks(LocalShortage("no descriptor"), 8, 0) == SHORTEST
        assert one.thrift.most(8) == 4
        for number in range(RECOVERY * 4):
            await fetched(one, "http://c.test/")
            assert one.thrift.most(8) == 4, "what fails says nothing"
            await fetched(one, f"http://a.test/{number}")
        assert one.thrift.most(8) == 5

    asyncio.run(ask())

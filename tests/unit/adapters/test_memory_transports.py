"""The scripted transport, and the pair of transports, seen through it."""

import asyncio

import pytest

from gregor.worker.adapters.transport import lenient
from gregor.worker.adapters.transport.lenient import LenientTransport
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Request, Response, Transport
from tests.contract.world import Permitted
from tests.memory_transport import MemoryTransport, Scripted

MALFORMED = Failure("protocol", "header without a colon")


def fetch(transport: Transport, href: str, limits: Limits | None = None, leased: bool = True) -> FetchResult:
    return asyncio.run(transport.fetch(Request(href), limits or Limits(), Permitted(leased)))


def status(result: FetchResult) -> int | str:
    return result.status if isinstance(result, Response) else result.kind


def test_answers_come_in_turn_and_the_last_one_stays() -> None:
    transport = MemoryTransport({"http://a.test/": [Scripted(503), Failure("cut", ""), Scripted(200)]})
    assert [status(fetch(transport, "http://a.test/")) for _ in range(4)] == [503, "cut", 200, 200]
    assert status(fetch(transport, "http://a.test/other")) == 404
    assert len(transport.requests) == 5


def test_an_answer_may_depend_on_the_request() -> None:
    transport = MemoryTransport({"http://a.test/": lambda request: Scripted(body=request.href.encode())})
    result = fetch(transport, "http://a.test/")
    assert isinstance(result, Response)
    assert result.body.read() == b"http://a.test/"


def test_limits_and_lease_hold() -> None:
    transport = MemoryTransport({"http://a.test/": Scripted(body=b"12345"), "http://b.test/": Scripted(delay=0.2)})
    result = fetch(transport, "http://a.test/", Limits(max_body=4))
    assert isinstance(result, Response)
    assert (result.body.read(), result.truncated) == (b"1234", "size")
    assert status(fetch(transport, "http://b.test/", Limits(read_timeout=0.01))) == "timeout"
    assert status(fetch(transport, "http://a.test/", leased=False)) == "lease"
    assert len(transport.requests) == 2


def test_the_second_transport_is_asked_only_after_a_malformed_answer_and_not_at_once() -> None:
    first = MemoryTransport({"http://a.test/": MALFORMED, "http://b.test/": Failure("cut", "")})
    second = MemoryTransport({"http://a.test/": Scripted(200), "http://b.test/": Scripted(200)})
    pair = LenientTransport(first, lambda: second)
    assert status(fetch(pair, "http://a.test/")) == "protocol"
    assert second.requests == []
    assert status(fetch(pair, "http://a.test/")) == 200
    assert [status(fetch(pair, "http://b.test/")) for _ in range(2)] == ["cut", "cut"]
    assert len(second.requests) == 1


def test_the_second_transport_is_made_once_and_only_when_it_is_needed() -> None:
    made: list[MemoryTransport] = []

    def make() -> MemoryTransport:
        made.append(MemoryTransport({"http://a.test/": Scripted(200)}))
        return made[-1]

    pair = LenientTransport(MemoryTransport({"http://a.test/": MALFORMED}), make)
    fetch(pair, "http://a.test/")
    assert not made
    assert [status(fetch(pair, "http://a.test/")) for _ in range(2)] == [200, 200]
    assert len(made) == 1
    asyncio.run(pair.close())


def test_the_memory_of_malformed_hosts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenient, "REMEMBERED", 2)
    hosts = [f"http://{name}.test/" for name in "abc"]
    first = MemoryTransport(dict.fromkeys(hosts, MALFORMED))
    pair = LenientTransport(first, lambda: MemoryTransport({href: Scripted(200) for href in hosts}))
    assert [status(fetch(pair, href)) for href in hosts] == ["protocol"] * 3
    assert status(fetch(pair, hosts[0])) == "protocol"
    assert status(fetch(pair, hosts[2])) == 200

"""The resolver against a DNS server that says what a test tells it to say."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import SocketAddress
from gregor.worker.fetch.dns import DnsCache
from gregor.worker.fetch.host_table import HostTable


class Zone(asyncio.DatagramProtocol):
    """Answers by name and type: records as text, an rcode, or None for silence; after `delays` seconds."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], list[str] | dns.rcode.Rcode | None] = {}
        self.delays: dict[tuple[str, str], float] = {}
        self.asked: list[tuple[str, str]] = []
        self.port = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        question = query.question[0]
        key = (question.name.to_text(omit_final_dot=True), question.rdtype.name)
        self.asked.append(key)
        found = self.records.get(key, [])
        if found is None:
            return
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        if isinstance(found, dns.rcode.Rcode):
            answer.set_rcode(found)
            soa = "ns.test. admin.test. 1 2 3 4 77"
            answer.authority.append(dns.rrset.from_text("test.", 300, "IN", "SOA", soa))
        else:
            answer.answer.extend(_record(line) for line in found)
        asyncio.get_running_loop().call_later(
            self.delays.get(key, 0.0), self._transport.sendto, answer.to_wire(), address
        )


def _record(line: str) -> dns.rrset.RRset:
    name, ttl, network_class, kind, data = line.split(None, 4)
    return dns.rrset.from_text(name, int(ttl), network_class, kind, data)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Names:
    """A zone, a clock, and a resolver that has both."""

    def __init__(self, zone: Zone, hosts_file: Path) -> None:
        self.zone = zone
        self.clock = Clock()
        self.resolver = DnsResolver(
            cache=DnsCache(min_ttl=10, max_ttl=1000, failure_ttl=5, max_negative_ttl=500),
            host_table=HostTable.parse("listed.test 127.0.0.1:8001\nlisted.test [::1]:8002"),
            server=SocketAddress("127.0.0.1", zone.port),
            timeout=0.6,
            hosts_file=hosts_file,
            clock=self.clock,
        )

    async def addresses(self, hostname: str, port: int = 80) -> tuple[str, ...]:
        answer = await self.resolver.resolve(hostname, port)
        assert isinstance(answer, Resolution), answer
        assert all(endpoint.port == port for endpoint in answer.endpoints)
        return tuple(endpoint.address for endpoint in answer.endpoints)

    async def failure(self, hostname: str) -> DnsFailure:
        failure = await self.resolver.resolve(hostname, 80)
        assert isinstance(failure, DnsFailure), failure
        return failure


def case(test: Callable[[Names], Awaitable[None]]) -> Callable[[Path], None]:
    """Make a test of a coroutine."""

    async def play(folder: Path) -> None:
        hosts_file = folder / "hosts"
        hosts_file.write_text("192.0.2.9 known.test\n")
        transport, zone = await asyncio.get_running_loop().create_datagram_endpoint(Zone, ("127.0.0.1", 0))
        try:
            await test(Names(zone, hosts_file))
        finally:
            transport.close()

    def run(tmp_path: Path) -> None:
        asyncio.run(asyncio.wait_for(play(tmp_path), 10))

    return run


@case
async def test_both_families_are_found_and_kept(names: Names) -> None:
    names.zone.records["a.test", "A"] = ["a.test. 60 IN A 192.0.2.1", "a.test. 60 IN A 192.0.2.2"]
    names.zone.records["a.test", "AAAA"] = ["a.test. 30 IN AAAA 2001:db8::1"]
    assert sorted(await names.addresses("a.test", 81)) == ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
    names.clock.now += 29
    assert (await names.addresses("a.test."))[0] == "2001:db8::1"
    assert len(names.zone.asked) == 2
    names.clock.now += 2
    await names.addresses("a.test")
    assert len(names.zone.asked) == 4


@case
async def test_aliases_are_followed_by_the_server(names: Names) -> None:
    names.zone.records["a.test", "A"] = ["a.test. 60 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.1"]
    names.zone.records["a.test", "AAAA"] = ["a.test. 60 IN CNAME b.test."]
    assert await names.addresses("a.test") == ("192.0.2.1",)


@case
async def test_concurrent_look_ups_are_one_and_survive_a_cancelled_caller(names: Names) -> None:
    names.zone.records["a.test", "A"] = ["a.test. 60 IN A 192.0.2.1"]
    names.zone.delays["a.test", "A"] = names.zone.delays["a.test", "AAAA"] = 0.1
    first, *others = (asyncio.create_task(names.addresses("a.test")) for _ in range(5))
    await asyncio.sleep(0.02)
    first.cancel()
    assert set(await asyncio.gather(*others)) == {("192.0.2.1",)}
    assert len(names.zone.asked) == 2


@case
async def test_a_slow_family_does_not_hold_up_the_other(names: Names) -> None:
    names.zone.records["a.test", "A"] = ["a.test. 60 IN A 192.0.2.1"]
    names.zone.records["a.test", "AAAA"] = None
    assert await asyncio.wait_for(names.addresses("a.test"), 0.4) == ("192.0.2.1",)


@case
async def test_a_name_that_does_not_exist_is_told_apart_from_a_resolver_that_fails(names: Names) -> None:
    for kind in ("A", "AAAA"):
        names.zone.records["none.test", kind] = dns.rcode.NXDOMAIN
        names.zone.records["broken.test", kind] = dns.rcode.SERVFAIL
        names.zone.records["silent.test", kind] = None
    none, empty = await names.failure("none.test"), await names.failure("empty.test")
    assert (none.kind, none.expires) == ("nxdomain", 1000 + 77)
    assert empty.kind == "nxdomain"
    assert (await names.failure("broken.test")).kind == "servfail"
    silent = await names.failure("silent.test")
    assert (silent.kind, silent.expires) == ("timeout", 1005)


@case
async def test_half_an_answer_is_not_taken_for_nxdomain(names: Names) -> None:
    names.zone.records["half.test", "A"] = None
    names.zone.records["half.test", "AAAA"] = dns.rcode.NXDOMAIN
    assert (await names.failure("half.test")).kind == "timeout"


@case
async def test_failures_are_kept_for_a_while(names: Names) -> None:
    for kind in ("A", "AAAA"):
        names.zone.records["none.test", kind] = dns.rcode.NXDOMAIN
    await names.failure("none.test")
    names.clock.now += 76
    await names.failure("none.test")
    assert len(names.zone.asked) == 2


@case
async def test_what_needs_no_dns(names: Names) -> None:
    listed = await names.resolver.resolve("listed.test", 443)
    assert listed == Resolution((SocketAddress("127.0.0.1", 8001), SocketAddress("::1", 8002)), math.inf)
    assert await names.addresses("192.0.2.5") == ("192.0.2.5",)
    assert await names.addresses("[2001:db8::5]") == ("2001:db8::5",)
    assert await names.addresses("localhost") == ("::1", "127.0.0.1")
    assert await names.addresses("x.localhost.") == ("::1", "127.0.0.1")
    assert await names.addresses("known.test") == ("192.0.2.9",)
    assert names.zone.asked == []


@pytest.mark.parametrize("hostname", ["a" * 64 + ".test", "a..test", ".".join(["abcdefg"] * 40), "-_x.test"])
def test_names_that_dns_cannot_hold(hostname: str, tmp_path: Path) -> None:
    @case
    async def ask(names: Names) -> None:
        assert (await names.failure(hostname)).kind == "nxdomain"

    ask(tmp_path)

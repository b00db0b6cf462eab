"""Ports of other protocols are not asked, unless the operator says so."""

import asyncio

import pytest

from gregor.worker.config.settings import Config, replace
from gregor.worker.fetch.outcomes import Fetched, Gone, PortRefused
from gregor.worker.fetch.ports import BLOCKED, PortPolicy
from tests.memory_transport import MemoryTransport
from tests.unit.fetch.test_fetcher import Resolves, fetched, fetcher


def test_the_usual_ports_are_asked_and_those_of_other_protocols_are_not() -> None:
    policy = PortPolicy()
    assert [port for port in (80, 443, 8000, 8080, 8081, 8443, 65535) if policy.refuses(port)] == []
    assert all(policy.refuses(port) for port in (0, 21, 22, 23, 25, 110, 143, 465, 587, 993, 6000, 6667, 10080))
    assert len(BLOCKED) == 83


def test_allowing_a_port_allows_no_other() -> None:
    policy = PortPolicy([6667, 80])
    assert not policy.refuses(6667)
    assert policy.refuses(6666)


@pytest.mark.parametrize("href", ["http://a.test:6667/robots.txt", "https://a.test:25/", "http://a.test:0/"])
def test_nothing_is_looked_up_or_sent_for_a_refused_port(href: str) -> None:
    async def ask() -> None:
        names, transport = Resolves(), MemoryTransport()
        names.let.set()
        outcome = await fetched(fetcher(names, transport, Config()), href)
        assert isinstance(outcome, PortRefused)
        assert (names.asked, transport.requests) == ([], [])

    asyncio.run(ask())


def test_an_allowed_port_is_asked() -> None:
    async def ask() -> None:
        names, transport = Resolves(), MemoryTransport()
        names.let.set()
        config = replace(Config(), allow_ports=(6667,))
        outcome = await fetched(fetcher(names, transport, config), "http://a.test:6667/")
        assert isinstance(outcome, Gone | Fetched)
        assert len(transport.requests) == 1

    asyncio.run(ask())

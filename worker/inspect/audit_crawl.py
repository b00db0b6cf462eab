"""The audit of a crawl: reads its rows once, sorts the requests, and asks for the robots.txt of a few hosts ahead."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Final, NamedTuple, Protocol, TypeAlias

from gregor.schemas.messages import decode, encode
from gregor.schemas.parts import RobotsCopy
from gregor.worker.base.streams import in_order
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.audit import AddressAudit, AuditedRequest, Findings, HostAudit, requests_of, untold
from gregor.worker.robots import copies as robots_copies

_ADDRESS: Final = " "
"""Stands before an address in the name of a group: no host begins so."""

_TOGETHER: Final = 200
"""Requests of a host that are judged in one go: so many at a time are in memory, for each host that is read ahead."""
_TOLD_EACH: Final = 1000
TellCount: TypeAlias = Callable[[str, int], None]
"""Hears what is done, and of how many."""


class Sorting(Protocol):
    """Sorts more than fits into memory."""

    def add(self, found: Iterable[tuple[str, float, bytes]]) -> None:
        """Values with their group and time."""

    def values(self) -> Iterator[tuple[str, bytes]]:
        """Group by group, in the order of time."""


class _Chunk(NamedTuple):
    """Requests of a group, in the order of time, with the copies of robots.txt of their origins: one dictionary for all
    of the group, which is added to under its lock."""

    group: str
    requests: list[AuditedRequest]
    copies: dict[str, tuple[RobotsCopy, ...]]
    reading: asyncio.Lock


async def audit(
    reader: Reader, sorting: Sorting, agent: str, host: str | None = None, tell: TellCount = lambda *_: None
) -> Findings:
    """Judge every request that the store knows of, or those to one host; ``tell`` hears how far it is."""
    findings, looked = Findings(), 0
    async for row in reader.rows(None, host):
        looked += 1
        if looked % _TOLD_EACH == 0:
            tell("looking at URLs", looked)
        findings.untold += untold(row)
        requests = requests_of(row)
        sorting.add([(request.host, request.asked.at, encode(request)) for request in requests])
        if host is None:
            sorting.add(_by_address(requests))
    name, judged = "", 0
    of_address, of_host = AddressAudit(""), HostAudit(agent)
    async for group, requests, copies, _ in in_order(_chunks(sorting), partial(_with_copies, reader)):
        if group != name:
            _add(findings, name, of_host, of_address)
            name, of_address, of_host = group, AddressAudit(group.removeprefix(_ADDRESS)), HostAudit(agent)
        for request in requests:
            if group.startswith(_ADDRESS):
                of_address.add(request)
            else:
                of_host.add(request, copies)
        judged += len(requests)
        tell("judging requests", judged)
    _add(findings, name, of_host, of_address)
    return findings


def _add(findings: Findings, group: str, of_host: HostAudit, of_address: AddressAudit) -> None:
    """What is found of a group, whose requests are all judged."""
    if group.startswith(_ADDRESS):
        findings.add_address(of_address)
    elif group:
        findings.add(of_host)


async def _chunks(sorting: Sorting) -> AsyncIterator[_Chunk]:
    for group, values in groupby(sorting.values(), key=itemgetter(0)):
        requests = (decode(data, AuditedRequest) for _, data in values)
        copies, reading = dict[str, tuple[RobotsCopy, ...]](), asyncio.Lock()
        while some := list(islice(requests, _TOGETHER)):
            yield _Chunk(group, some, copies, reading)


async def _with_copies(reader: Reader, chunk: _Chunk) -> _Chunk:
    """Read ahead for many hosts: one look after the other would take the sum of their ways. Once for each origin."""
    if not chunk.group.startswith(_ADDRESS):
        async with chunk.reading:
            for origin in {request.origin for request in chunk.requests if request.href} - chunk.copies.keys():
                record = await reader.robots(origin)
                chunk.copies[origin] = robots_copies.copies(record) if record is not None else ()
    return chunk


def _by_address(requests: Iterable[AuditedRequest]) -> Iterator[tuple[str, float, bytes]]:
    """Requests by each address that they may have gone to, where something holds for it."""
    for request in requests:
        if request.asked.address_delay > 0.0:
            for address in request.asked.addresses:
                yield _ADDRESS + address, request.asked.at, encode(request)

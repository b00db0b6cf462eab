"""The audit of a crawl: reads its rows once, sorts the requests, and asks for the robots.txt of one host at a time."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from gregor.schemas.messages import decode, encode
from gregor.schemas.parts import RobotsCopy
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.audit import AuditedRequest, Findings, HostAudit, requests_of, untold
from gregor.worker.robots import copies as robots_copies


class Sorting(Protocol):
    """Sorts more than fits into memory."""

    def add(self, found: Iterable[tuple[str, float, bytes]]) -> None:
        """Values with their group and time."""

    def values(self) -> Iterator[tuple[str, bytes]]:
        """Group by group, in the order of time."""


async def audit(reader: Reader, sorting: Sorting, agent: str, host: str | None = None) -> Findings:
    """Judge every request that the store knows of, or those to one host."""
    findings = Findings()
    async for row in reader.rows(None, host):
        findings.untold += untold(row)
        sorting.add([(request.host, request.asked.at, encode(request)) for request in requests_of(row)])
    for _, values in groupby(sorting.values(), key=itemgetter(0)):
        of_host, copies = HostAudit(agent), dict[str, tuple[RobotsCopy, ...]]()
        for _, data in values:
            request = decode(data, AuditedRequest)
            if request.href and request.origin not in copies:
                record = await reader.robots(request.origin)
                copies[request.origin] = robots_copies.copies(record) if record is not None else ()
            of_host.add(request, copies)
        findings.add(of_host)
    return findings

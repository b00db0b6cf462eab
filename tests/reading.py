"""A `Reader` over plain values, and the pages and rows that tests of the reading commands start from."""

import io
from collections.abc import AsyncIterator, Callable, Sequence
from hashlib import sha256
from typing import BinaryIO

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Link,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    url_fingerprint,
)
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import WHOLE, Part, Similar, Waiting, refuse
from gregor.worker.read.sketches import alike

AT = 1_700_000_000.25


class MemoryReader:
    """`Reader` of what it was given."""

    def __init__(
        self,
        rows: Sequence[Row] = (),
        pages: Sequence[Page] = (),
        bodies: Sequence[bytes] = (),
        waiting: Sequence[Waiting] = (),
        letters: Sequence[DeadLetter] = (),
        robots: Sequence[RobotsRecord] = (),
        hosts: Sequence[HostRecord] = (),
        partitions: Sequence[PartitionRecord] = (),
    ) -> None:
        self.on_damage: Callable[[Damaged], None] = refuse
        self._partitions = partitions
        self._rows = {row.key: row for row in rows}
        self._versions = pages
        self._pages = {page.key: page for page in pages}
        self._bodies = {sha256(body).hexdigest(): body for body in bodies}
        self._waiting, self._letters = waiting, letters
        self._robots = {record.origin: record for record in robots}
        self._hosts = {record.host: record for record in hosts}

    async def rows(self, state: str | None, host: str | None, after: str = "") -> AsyncIterator[Row]:
        behind = not after
        for row in self._rows.values():
            if behind and state in (None, row.state) and host in (None, row.host):
                yield row
            behind = behind or row.key == after

    async def partitions(self) -> AsyncIterator[PartitionRecord]:
        for record in self._partitions:
            yield record

    async def pages(self, part: Part = WHOLE, *, versions: bool = False) -> AsyncIterator[Page]:
        for page in self._versions if versions else self._pages.values():
            if url_fingerprint(page.key) % part.parts == part.number:
                yield page

    async def row(self, key: str) -> Row | None:
        return self._rows.get(key)

    async def rows_of(self, keys: Sequence[str]) -> dict[str, Row]:
        return {key: self._rows[key] for key in keys if key in self._rows}

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        asked = (one for one in self._versions if one.key == key and one.visit == visit)
        return self._pages.get(key) if visit is None else next(asked, None)

    async def body(self, sha256: str) -> BinaryIO | None:
        return io.BytesIO(self._bodies[sha256]) if sha256 in self._bodies else None

    async def small_bodies(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: self._bodies[name] for name in names if name in self._bodies}

    async def similar(self, sketch: bytes, least: float, limit: int) -> list[Similar]:
        stored = ((one.key, one.sketch) for one in self._pages.values())
        return [Similar(key, much) for key, much in alike(sketch, stored, least)[:limit]]

    async def find(self, key: str, host: str) -> list[Waiting]:
        return [one for one in self._waiting if one.ticket.key == key]

    async def waiting(self) -> AsyncIterator[Waiting]:
        for one in self._waiting:
            yield one

    async def dead_letters(self) -> AsyncIterator[DeadLetter]:
        for letter in self._letters:
            yield letter

    async def robots(self, origin: str) -> RobotsRecord | None:
        return self._robots.get(origin)

    async def all_robots(self) -> AsyncIterator[RobotsRecord]:
        for record in self._robots.values():
            yield record

    async def host(self, host: str) -> HostRecord | None:
        return self._hosts.get(host)

    async def seed_hosts(self) -> list[str]:
        return sorted({row.host for row in self._rows.values() if row.link == "seed"})

    async def close(self) -> None:
        return


def page(href: str, body: bytes = b"<p>one", links: Sequence[Link] = (), **more: object) -> Page:
    """A stored page of ``href`` with a body, not yet with a row."""
    made = Page(
        key=href,
        href=href,
        host=href.split("/")[2],
        visit=1,
        kind="new",
        status=200,
        fetched_at=AT,
        content_type="Text/HTML; charset=utf-8",
        encoding="utf-8",
        title="One",
        text="one",
        body=sha256(body).hexdigest(),
        size=len(body),
        links=list(links),
        request_head=b"GET / HTTP/1.1\r\nHost: a.test\r\nAuthorization: Basic word\r\nCookie: a=word\r\n\r\n",
        response_head=b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\nServer: \xe9\r\n\r\n",
        address="127.0.0.1",
        elapsed=0.5,
    )
    for name, value in more.items():
        setattr(made, name, value)
    return made


def row(of: Page | Ticket, state: str = "fetched", **more: object) -> Row:
    """The row of a page or of a ticket that was settled."""
    status = of.status if isinstance(of, Page) else 0
    fields = {"visits": 1, "state": state, "outcome": state, "status": status, "label": of.label} | more
    return Row(key=of.key, href=of.href, host=of.host, **fields)  # type: ignore[arg-type]


def ticket(href: str, **more: object) -> Ticket:
    """A ticket for a first visit."""
    return Ticket(href=href, key=href, host=href.split("/")[2], **more)  # type: ignore[arg-type]

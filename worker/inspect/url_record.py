"""What the reading commands say of a URL: its row, page and waiting tickets joined, and their form in JSON."""

import sqlite3
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import BinaryIO

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gregor.schemas.events import rfc3339
from gregor.schemas.messages import KEPT, Page, Row, Ticket, url_fingerprint
from gregor.worker.base.streams import in_order
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.selection import EVERYTHING, Selection, chosen
from gregor.worker.inspect.versions import undamaged
from gregor.worker.web.heads import printable
from gregor.worker.web.http_headers import masked
from gregor.worker.web.urls import Url


class LinkRecord(Struct, frozen=True):
    """A link of a page, as in JSON."""

    url: str
    kind: str
    nofollow: bool


class UrlRecord(Struct, kw_only=True):
    """One URL, as in JSON. None where there is nothing to say; ``text``, ``body`` and headers only where they were
    asked for.

    ``state``, ``status``, ``outcome`` and ``checked_at`` are of the last visit; ``fetched_at``, ``version`` (the number
    of the visit that brought it) and ``document_status`` of the document that is told of.
    """

    url: str
    status: int | None
    state: str
    depth: int
    sha256: str | None = None
    charset: str | None = None
    title: str | None = None
    duplicate_of: str | None = None
    label: str | None = None
    fetched_at: str | None = None
    truncated: bool = False
    unread: str | None = None
    text: str | UnsetType | None = UNSET
    links: list[LinkRecord] = []
    key: str
    host: str
    mime: str | None = None
    size: int | None = None
    outcome: str | None = None
    rule: str | None = None
    redirected_to: str | None = None
    canonical: str | None = None
    directives: tuple[str, ...] = ()
    near_duplicate_of: str | None = None
    checked_at: str | None = None
    language: str | None = None
    version: int | None = None
    document_status: int | None = None
    requisite: bool = False
    page_class: str | None = None
    class_probability: float | None = None
    relevance: float | None = None
    markdown: str | UnsetType | None = UNSET
    body: str | UnsetType | None = UNSET
    request_headers: list[str] | UnsetType = UNSET
    response_headers: list[str] | UnsetType = UNSET


def encode(record: Struct | dict[str, object]) -> bytes:
    """One line of JSON, without its end."""
    return msgspec.json.encode(record)


async def of_row(
    reader: Reader, row: Row, *, text: bool = False, version: int | None = None
) -> tuple[UrlRecord, Page | None]:
    """The record of a URL that has a row, and its page if one is kept: the newest, or that of a visit."""
    record = _of_row(row)
    if version is not None:
        page = await undamaged(reader, reader.page(row.key, version))
    else:
        page = await undamaged(reader, reader.page(row.key)) if row.state in KEPT else None
    if page is not None:
        await _describe(reader, record, page, text)
    return record, page


def _of_row(row: Row) -> UrlRecord:
    return UrlRecord(
        url=row.href,
        status=row.status or None,
        state=row.state,
        depth=row.depth,
        label=row.label or None,
        key=row.key,
        host=row.host,
        outcome=row.outcome or None,
        rule=row.rule or None,
        redirected_to=row.target or None,
        fetched_at=next((rfc3339(attempt.at) for attempt in reversed(row.attempts) if attempt.status), None),
        checked_at=rfc3339(row.attempts[-1].at) if row.attempts else None,
        requisite=row.requisite,
    )


def of_ticket(ticket: Ticket) -> UrlRecord:
    """The record of a URL that waits and has no row yet."""
    return UrlRecord(
        url=ticket.href,
        status=None,
        state="waiting",
        depth=ticket.depth,
        label=ticket.label or None,
        key=ticket.key,
        host=ticket.host,
        requisite=ticket.requisite,
    )


async def of_page(reader: Reader, page: Page, row: Row | None = None, *, text: bool = False) -> UrlRecord:
    """The record of a stored page; with its ``row`` it says what became of its URL later."""
    if row is not None:
        record = _of_row(row)
        record.state = page.state if row.state in KEPT else row.state
    else:
        record = UrlRecord(
            url=page.href, status=page.status, state=page.state, depth=page.depth, key=page.key, host=page.host
        )
        record.label, record.requisite = page.label or None, page.requisite
    await _describe(reader, record, page, text)
    return record


async def add_contents(reader: Reader, record: UrlRecord, page: Page, *, body: bool, headers: bool) -> None:
    """Put the body, in base64, and the lines of both heads into a record; secrets in headers masked."""
    if headers:
        record.request_headers = [line for line in printable(masked(page.request_head)) if line]
        record.response_headers = [line for line in printable(page.response_head) if line]
    if body:
        stored = await body_of(reader, page, page.body) if page.body else None
        record.body = None
        if stored is not None:
            with stored[0] as content:
                record.body = b64encode(content.read()).decode()


async def _describe(reader: Reader, record: UrlRecord, page: Page, text: bool) -> None:
    record.status = record.status or page.status
    record.document_status = page.status
    record.version = page.visit
    record.language = page.language or None
    record.sha256 = page.body or None
    record.charset = page.encoding or None
    record.title = page.title
    record.duplicate_of = await href_of(reader, page.duplicate_of)
    record.near_duplicate_of = await href_of(reader, page.near_duplicate_of)
    record.fetched_at = rfc3339(page.fetched_at)
    record.truncated = bool(page.truncated)
    record.unread = page.unread or None
    record.links = [LinkRecord(link.url, link.kind, link.nofollow) for link in page.links]
    record.mime = mime(page)
    record.size = page.size
    record.canonical = page.canonical or None
    record.directives, record.relevance = page.directives, page.relevance
    if page.page_class:
        record.page_class, record.class_probability = page.page_class, page.class_probability
    if text:
        record.text = page.text


async def href_of(reader: Reader, key: str) -> str | None:
    """What was requested for a key: keys are internal, people and tools know URLs as they were found."""
    if not key:
        return None
    row = await undamaged(reader, reader.row(key))
    return key if row is None else row.href


async def body_of(reader: Reader, page: Page, *names: str) -> tuple[BinaryIO, str] | None:
    """The first of these bodies of a page that is there and whole, with its sha256; None when none is.

    The reader's listener hears of the URL when one is damaged, or all are missing.
    """
    damaged = False
    for sha256 in names:
        try:
            body = await reader.body(sha256)
        except Damaged as damage:
            damaged = True
            reader.on_damage(Damaged("body of", page.href, damage.why))
        else:
            if body is not None:
                return body, sha256
    if names and not damaged:
        reader.on_damage(Damaged("body of", page.href, "it is missing"))
    return None


async def read_body(reader: Reader, page: Page) -> bytes | None:
    """The decoded body of a page; None where it cannot be read, which the reader's listener hears."""
    opened = await body_of(reader, page, page.body) if page.body else None
    if opened is None:
        return None
    with opened[0] as body:
        return body.read()


def mime(page: Page) -> str | None:
    """The media type of a page, without parameters, in lower case."""
    return page.content_type.partition(";")[0].strip().lower() or None


class Known(Struct, frozen=True):
    """What the reading commands find of one URL: a row, tickets that wait, or neither."""

    row: Row | None
    tickets: tuple[Ticket, ...]


async def find(reader: Reader, url: Url) -> Known:
    """Look a URL up, by its canonical form."""
    row = await reader.row(url.key)
    waiting = () if row is not None else await reader.find(url.key, url.host)
    return Known(row, tuple(one.ticket for one in waiting))


async def all_records(reader: Reader, wanted: Selection = EVERYTHING) -> AsyncIterator[tuple[UrlRecord, Page | None]]:
    """Every URL that the crawl knows and that is wanted, once: those with a row, then those that only wait."""

    async def described(row: Row) -> tuple[UrlRecord, Page | None, Row]:
        return *await of_row(reader, row), row

    async for record, page, row in in_order(reader.rows(wanted.state, wanted.host), described):
        if await chosen(reader, wanted, row, page):
            yield record, page
    async for ticket in only_waiting(reader, wanted):
        yield of_ticket(ticket), None


async def only_waiting(reader: Reader, wanted: Selection) -> AsyncIterator[Ticket]:
    """A ticket of every URL that is wanted and was never visited."""
    if wanted.state not in (None, "waiting") or wanted.changed or wanted.since is not None:
        return
    with Once() as once:
        async for waiting in reader.waiting():
            ticket = waiting.ticket
            # The other kinds ask for a URL that has a row; an unfinished ticket of this kind is of one without.
            is_one = ticket.kind == "new" and wanted.host in (None, ticket.host)
            if is_one and once.first(ticket.key):
                yield ticket


class Once:
    """Tells the first time that a key is met; in a temporary file of SQLite's, so that memory stays bounded."""

    def __enter__(self) -> "Once":
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE met (fingerprint INTEGER PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("BEGIN")
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def first(self, key: str) -> bool:
        """Whether ``key`` was not met before."""
        fingerprint = url_fingerprint(key) - (1 << 63)  # SQLite's integers are signed
        return self._database.execute("INSERT OR IGNORE INTO met VALUES (?)", [fingerprint]).rowcount == 1

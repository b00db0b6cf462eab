"""What a crawl knows as tables: pages, links, hosts, items; a row at a time, each value of the type of its column."""

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

from gregor.schemas.messages import KEPT, Page, Row, State
from gregor.worker.borders.reader import Part, Reader
from gregor.worker.inspect import selection, stored_items, url_record
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.shapes import ValueShape
from gregor.worker.links.reasons import what_decided
from gregor.worker.settle.revisits import last_visit
from gregor.worker.settle.rows import OPTED_OUT
from gregor.worker.settle.verdicts import GIVEN_UP

ColumnKind = Literal["text", "int", "real", "bool", "time", "texts", "json", "field"]
"""Of a column. ``time``: unix seconds; ``texts``: a list; ``json``: a text of JSON; ``field``: a value of an item."""
RowValues = tuple[Any, ...]
"""Those of a row, None where there is nothing to say."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: ColumnKind = "text"
    shape: ValueShape = "text"
    """Of the values of a field."""


class Table(NamedTuple):
    """A table: its name, its columns, and those of them that name a row."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    rows: Callable[[Reader, Selection, Part], AsyncIterator[RowValues]]
    host: str
    """The column that says whose a row is."""
    date: str
    """The column that says when it was."""
    fixed: int | None = None
    """So many of the first columns are there whatever the rows; None: all of them."""

    def place_of(self, name: str) -> int:
        """Where a column is."""
        return next(number for number, column in enumerate(self.columns) if column.name == name)


PAGES: Final = (
    *(Column("url"), Column("key"), Column("host"), Column("state"), Column("status", "int"), Column("outcome")),
    *(Column("depth", "int"), Column("label"), Column("checked_at", "time"), Column("fetched_at", "time")),
    *(Column("version", "int"), Column("document_status", "int"), Column("mime"), Column("charset")),
    *(Column("language"), Column("title"), Column("text"), Column("size", "int"), Column("sha256")),
    *(Column("links", "int"), Column("canonical"), Column("directives", "texts"), Column("duplicate_of")),
    *(Column("near_duplicate_of"), Column("truncated", "bool"), Column("unread")),
    *(Column("requisite", "bool"), Column("page_class"), Column("class_probability", "real")),
    Column("relevance", "real"),
)
LINKS: Final = (
    *(Column("source"), Column("source_key"), Column("source_host"), Column("position", "int"), Column("target")),
    *(Column("kind"), Column("nofollow", "bool"), Column("fate"), Column("text"), Column("found_at", "time")),
    Column("language"),
)
HOSTS: Final = (
    *(Column("host"), Column("urls", "int"), *(Column(state, "int") for state in get_args(State))),
    *(Column("trapped", "int"), Column("pages", "int"), Column("bytes", "int"), Column("errors", "int")),
    *(Column("seconds", "real"), Column("first_seen", "time"), Column("last_visit", "time")),
    Column("languages", "texts"),
)

MOST_LANGUAGES: Final = 10
"""That are told of a host."""
_PUT_LANGUAGE: Final = (
    "INSERT INTO languages VALUES (?, ?, ?) ON CONFLICT (host, name) DO UPDATE SET pages = pages + excluded.pages"
)
_LANGUAGES_OF: Final = "SELECT name FROM languages WHERE host = ? ORDER BY pages DESC, name LIMIT ?"

ITEMS: Final = (
    *(Column("url"), Column("key"), Column("host"), Column("version", "int"), Column("number", "int")),
    *(Column("item"), Column("rule"), Column("rule_version"), Column("id", "json"), Column("change")),
    *(Column("changed_fields", "texts"), Column("fetched_at", "time"), Column("label"), Column("language")),
    Column("fields", "json"),
)


async def pages(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
    """Each stored page in its newest version, with what became of its URL."""

    async for batch in selection.batches(reader, wanted, part):
        originals = {key for page, _ in batch for key in (page.duplicate_of, page.near_duplicate_of) if key}
        hrefs = {key: row.href for key, row in (await reader.rows_of(list(originals))).items()} if originals else {}
        for page, row in batch:
            yield _of_page(page, row, hrefs)


def _of_page(page: Page, row: Row | None, hrefs: Mapping[str, str]) -> RowValues:
    """``hrefs``: what was requested for the keys of originals; a key where that is not known."""
    copied, near = page.duplicate_of, page.near_duplicate_of
    return (
        *_of_url(page, row),
        *(page.fetched_at, page.visit, page.status, url_record.mime(page), page.encoding or None),
        *(page.language or None, page.title, page.text, page.size, page.body or None, len(page.links)),
        *(page.canonical or None, list(page.directives), hrefs.get(copied, copied) or None),
        *(hrefs.get(near, near) or None, bool(page.truncated), page.unread or None),
        *(selection.is_requisite(page, row), page.page_class or None),
        *(page.class_probability if page.page_class else None, page.relevance),
    )


def _of_url(page: Page, row: Row | None) -> RowValues:
    """What its last visit says of a URL."""
    if row is None:
        return page.href, page.key, page.host, page.state, page.status, None, page.depth, page.label or None, None
    state = page.state if row.state in KEPT else row.state
    checked = row.attempts[-1].at if row.attempts else None
    status = row.status or page.status or None
    return row.href, row.key, row.host, state, status, row.outcome or None, row.depth, row.label or None, checked


async def links(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
    """Each link of each stored page in its newest version."""
    async for page, _ in selection.pages(reader, wanted, part):
        for position, link in enumerate(page.links):
            yield (
                *(page.href, page.key, page.host, position, link.url, link.kind, link.nofollow, link.fate),
                *(link.text or None, page.fetched_at, page.language or None),
            )


async def items(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
    """Each item that was stored with a page, of its newest version."""
    async for page, row in selection.pages(reader, wanted, part):
        for number, item in enumerate(page.items):
            change = stored_items.change_of(item, page, row)
            yield (
                *(page.href, page.key, page.host, page.visit, number, item.item, item.rule, item.version),
                *(item.id or None, change, list(item.changed_fields) if change == item.change else []),
                *(page.fetched_at, page.label or None, page.language or None, item.fields.decode()),
            )


async def hosts(reader: Reader, wanted: Selection, part: Part) -> AsyncIterator[RowValues]:
    """Each host of which a URL is known, with its URLs by state; all of them, whatever part is asked for. Of one that
    opted out nothing is told: what is kept of its URLs is only that they are not asked for."""
    with _Sums() as sums:
        async for row in reader.rows(wanted.state, wanted.host):
            if row.rule == OPTED_OUT:
                sums.opted_out(row.host)
            elif wanted.takes(row, None):
                sums.add(row)
        async for ticket in url_record.only_waiting(reader, wanted):
            sums.add_waiting(ticket.host)
        for values in sums.rows():
            yield values


class _Sums:
    """Sums by host; in a temporary file of SQLite's beyond some thousand, so that memory stays bounded."""

    _MOST: Final = 10_000

    def __enter__(self) -> "_Sums":
        names = [column.name for column in HOSTS[1:-1]]
        self._counts = len(names) - 2
        columns = ", ".join(names)
        added = ", ".join(f"{name} = {name} + excluded.{name}" for name in names[:-2])
        self._put = (
            f"INSERT INTO sums (host, {columns}) VALUES (?{', ?' * len(names)}) ON CONFLICT (host) DO UPDATE "
            f"SET {added}, first_seen = min(first_seen, excluded.first_seen), "
            f"last_visit = max(last_visit, excluded.last_visit)"
        )
        shown = "urls > waiting OR host NOT IN (SELECT host FROM opted_out)"
        self._all = f"SELECT host, {columns} FROM sums WHERE {shown} ORDER BY host"
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute(f"CREATE TABLE sums (host PRIMARY KEY, {columns}) WITHOUT ROWID")
        self._database.execute("CREATE TABLE opted_out (host PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("CREATE TABLE languages (host, name, pages, PRIMARY KEY (host, name)) WITHOUT ROWID")
        self._database.execute("BEGIN")
        self._sums: dict[str, list[float]] = {}
        self._languages: Counter[tuple[str, str]] = Counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def _of(self, host: str, state: State) -> list[float]:
        """The sums of a host, with one URL more."""
        sums = self._sums.get(host)
        if sums is None:
            if len(self._sums) == self._MOST:
                self._flush()
            sums = self._sums[host] = [0] * self._counts + [float("inf"), 0.0]
        sums[0] += 1
        sums[1 + get_args(State).index(state)] += 1
        return sums

    def opted_out(self, host: str) -> None:
        """A host of whose URLs no more is kept than that they are not asked for: those that wait are not told of."""
        self._database.execute("INSERT OR IGNORE INTO opted_out VALUES (?)", (host,))

    def add_waiting(self, host: str) -> None:
        """A URL of a host that was never visited."""
        self._of(host, "waiting")

    def add(self, row: Row) -> None:
        """A URL of a host."""
        sums = self._of(row.host, row.state)
        sums[-7] += row.state == "denied" and what_decided(row.rule, "trap") is not None
        sums[-6] += bool(row.page)
        sums[-5] += row.kept_size
        sums[-4] += row.state in GIVEN_UP
        sums[-3] += sum(attempt.elapsed for attempt in row.attempts)
        sums[-2] = min(sums[-2], row.first_seen or float("inf"))
        sums[-1] = max(sums[-1], last_visit(row))
        if row.kept_language:
            self._languages[row.host, row.kept_language] += 1
            if len(self._languages) == self._MOST:
                self._flush()

    def _flush(self) -> None:
        self._database.executemany(self._put, ([host, *sums] for host, sums in self._sums.items()))
        self._sums.clear()
        self._database.executemany(_PUT_LANGUAGE, ((*pair, pages) for pair, pages in self._languages.items()))
        self._languages.clear()

    def _languages_of(self, host: str) -> list[str]:
        return [name for (name,) in self._database.execute(_LANGUAGES_OF, (host, MOST_LANGUAGES))]

    def rows(self) -> Iterator[RowValues]:
        """The sums, by host."""
        self._flush()
        for *values, first, last in self._database.execute(self._all):
            times = None if first == float("inf") else first, last or None
            yield (*values, *times, self._languages_of(values[0]))


TABLES: Final = {
    "pages": Table("pages", PAGES, ("key",), pages, "host", "fetched_at"),
    "links": Table("links", LINKS, ("source_key", "position"), links, "source_host", "found_at"),
    "items": Table("items", ITEMS, ("key", "number"), items, "host", "fetched_at"),
    "hosts": Table("hosts", HOSTS, ("host",), hosts, "host", "last_visit"),
}
"""What can be exported, by name."""


def plain(value: Any) -> Any:
    """A value where there are no lists and objects."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value

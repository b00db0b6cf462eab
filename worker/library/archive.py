"""A crawl that is read, beside its worker or after it."""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from importlib import import_module
from os import PathLike
from types import TracebackType
from typing import Any, Literal, get_args

import msgspec

from gregor.schemas.messages import Page, Row, State
from gregor.worker.base.errors import BadInput
from gregor.worker.base.extras import named_if_missing
from gregor.worker.borders.reader import WHOLE
from gregor.worker.compose.engine import engine_of
from gregor.worker.inspect import selection, url_record
from gregor.worker.inspect.explain import explain
from gregor.worker.inspect.item_tables import of_rule
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.table_files import Batches, record_batch
from gregor.worker.inspect.tables import TABLES
from gregor.worker.library.arguments import settings, text
from gregor.worker.library.loop import Loop
from gregor.worker.library.page import RulesFiles, StoredPage, read_rules, warn
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.scope import Scope
from gregor.worker.operate.choose import moment
from gregor.worker.web.hostnames import one_host
from gregor.worker.web.urls import Url

TableName = Literal["pages", "links", "items", "hosts"]
_MENTIONS = 10
_NEVER = 2**31
"""So many visits no URL has."""
_NO_TIME = 2**53
"""So many seconds no date has."""


class Archive:
    """What a crawl remembers. To be closed, or used in a ``with`` statement; from any thread, also where a loop runs.

    What is damaged is left out, with a warning.
    """

    def __init__(self, data: str | PathLike[str], arguments: Mapping[str, object], config: str | None = None) -> None:
        """Raises `BadInput` where there is no crawl, or for a setting that cannot be used."""
        self._config = settings(data, arguments, config).config
        self._loop = Loop()
        try:
            with named_if_missing():
                self._reader, self._urls = self._loop.run(engine_of(self._config).read())
        except BaseException:
            self._loop.close()
            raise
        self._reader.on_damage = warn
        self._is_open = True

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End reading. May be repeated."""
        if self._is_open:
            self._is_open = False
            self._loop.run(self._reader.close())
            self._loop.close()

    def pages(
        self,
        *,
        host: str | None = None,
        state: str | None = None,
        since: datetime | float | str | None = None,
        versions: bool = False,
        requisites: bool = False,
    ) -> Iterator[StoredPage]:
        """The stored pages in their newest version, or with ``versions`` in all; of a host, of URLs in a state now, of
        what is new or changed since a time (unix seconds, a datetime with a zone, or as after ``--since``: "1d",
        "2026-11-29"). What only pages show is left out unless ``requisites`` are asked for, too. Raises `BadInput`."""
        wanted = _selected(host, state, since)

        async def stored() -> AsyncIterator[tuple[Page, Row | None]]:
            async for page, row in selection.pages(self._reader, wanted, versions=versions):
                if requisites or not selection.is_requisite(page, row):
                    yield page, row

        for page, row in self._loop.iterate(stored()):
            yield StoredPage(page, self._body, row)

    def page(self, url: str, version: int | None = None) -> StoredPage | None:
        """A page in its newest version, or that of a visit; None where none is kept. Raises `BadInput` for no URL."""
        if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
            raise BadInput(f"version wants an integer, not {type(version).__name__}")
        if version is not None and not 0 < version < _NEVER:
            return None
        key = self._url(url).key
        page = self._loop.run(self._reader.page(key, version))
        return None if page is None else StoredPage(page, self._body, self._loop.run(self._reader.row(key)))

    def items(
        self, rules: RulesFiles | None = None, *, host: str | None = None, versions: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The items that the crawl stored with its pages, with ``_change`` and the like; or what ``rules`` make of the
        stored pages now. With ``versions`` of all versions of pages. Raises `BadInput` for rules that cannot be used.
        """
        ruleset = None if rules is None else read_rules(rules)
        for page in self.pages(host=host, versions=versions):
            yield from page.items if ruleset is None else page.extracted(ruleset)

    def links(self, *, host: str | None = None) -> Iterator[dict[str, Any]]:
        """Each link of each stored page: source, target, kind, fate and so on, as `gregor export links` has them."""
        return self._rows("links", _selected(host))

    def hosts(self) -> Iterator[dict[str, Any]]:
        """Each host with its URLs by state, pages and bytes."""
        return self._rows("hosts", _selected())

    def explain(self, url: str) -> dict[str, Any]:
        """What happened to a URL and why, as `gregor explain --json` tells it. Raises `BadInput` for no URL."""
        asked = self._url(url)

        async def explained() -> object:
            scope = Scope(scope_rules(self._config), await self._reader.seed_hosts())
            return await explain(self._reader, self._urls, asked, self._config, scope, _MENTIONS, time.time())

        explanation: dict[str, Any] = msgspec.to_builtins(self._loop.run(explained()))
        return explanation

    def arrow(self, table: TableName = "pages", *, host: str | None = None, rule: str | None = None) -> Any:
        """A table of Arrow (`pyarrow.Table`), all of it in memory: typed columns as `gregor export parquet` has them.
        ``rule``: the items of one, a column for each field. Needs the extra "export"."""
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise BadInput("tables of Arrow need packages more: pip install 'gregor-crawler[export]'") from None

        if table not in TABLES:
            raise BadInput(f"{table!r} is no table: there are {', '.join(TABLES)}")
        if rule is not None and table != "items":
            raise BadInput(f"rule is for items, not for {table}")
        chosen = _selected(host)
        wanted = TABLES[table] if rule is None else self._loop.run(of_rule(self._reader, chosen, rule))
        made: list[Any] = [record_batch(wanted, [[] for _ in wanted.columns])]
        batches = Batches(wanted, lambda columns: made.append(record_batch(wanted, columns)))
        for values in self._loop.iterate(wanted.rows(self._reader, chosen, WHOLE)):
            batches.put(values)
        batches.flush()
        return pa.Table.from_batches(made)

    def dataframe(self, table: TableName = "pages", *, host: str | None = None, rule: str | None = None) -> Any:
        """The same as a DataFrame of pandas. Needs the extra "dataframe"."""
        with named_if_missing("dataframe"):
            import_module("pandas")  # missed first: its extra brings Arrow, too, that of Arrow not pandas
            return self.arrow(table, host=host, rule=rule).to_pandas()

    def _rows(self, name: TableName, wanted: Selection) -> Iterator[dict[str, Any]]:
        names = [column.name for column in TABLES[name].columns]
        for values in self._loop.iterate(TABLES[name].rows(self._reader, wanted, WHOLE)):
            yield dict(zip(names, values, strict=True))

    def _url(self, said: str) -> Url:
        url = self._urls.parse(text("url", said))
        if url is None:
            raise BadInput(f"{self._urls.refusal(said)}: {said!r}")
        return url

    def _body(self, page: Page) -> bytes | None:
        return self._loop.run(url_record.read_body(self._reader, page))


def _selected(
    host: str | None = None, state: str | None = None, since: datetime | float | str | None = None
) -> Selection:
    """Raises `BadInput` for what would choose nothing, whatever is stored."""
    if state is not None and state not in get_args(State):
        raise BadInput(f"{state!r} is no state: there are {', '.join(get_args(State))}")
    if isinstance(since, datetime):
        if since.tzinfo is None:
            raise BadInput("since wants a datetime with a time zone, or unix seconds")
        since = since.timestamp()
    elif isinstance(since, str):
        since = moment("since", since, time.time())
    elif since is not None and (
        isinstance(since, bool) or not isinstance(since, int | float) or not abs(since) < _NO_TIME
    ):
        raise BadInput('since wants unix seconds, a datetime with a time zone, or a text such as "1d" or "2026-11-29"')
    if host is not None and (named := one_host(text("host", host))) is None:
        raise BadInput(f"{host!r} is no host: write www.example.org, or www.example.org:8080")
    return Selection(None if host is None else named, state, since)

"""What the rows of a crawl that nobody works on say at one glance: its hosts, and the last URLs with their outcomes."""

import heapq
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from gregor.schemas.messages import Row, url_fingerprint
from gregor.worker.api.backend import HostsQuery
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.host_views import HostView, first
from gregor.worker.observe.stats import RECENT

MOST_ROWS: Final = 200_000
"""Rows that are looked at: a larger crawl would be waited for too long."""


def _by_name(host: HostView) -> str:
    return host.host


_KEYS: Final[dict[str, Callable[[HostView], Any]]] = {
    "queued": lambda host: -host.queued,
    "failures": lambda host: -host.failures,
    "cause": lambda host: (not host.cause, host.cause),
    "state": lambda host: host.state,
}


class KeptRows:
    """Looks at all rows once, and again when their counts have changed."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._counts: Mapping[str, int] | None = None
        self._last: list[Row] = []
        self._hosts: dict[str, HostView] = {}
        self._counted_all = False

    async def last(self, counts: Mapping[str, int]) -> list[Row]:
        """The URLs that were visited last, the latest first. ``counts``: of the rows, by state."""
        await self._look(counts)
        return self._last

    async def hosts(self, counts: Mapping[str, int], asked: HostsQuery) -> list[HostView]:
        """The hosts that have rows, and what is left to do of each."""
        await self._look(counts)
        chosen = (
            host
            for host in self._hosts.values()
            if host.host > asked.after and asked.search in host.host and asked.state in ("", host.state)
        )
        key = _KEYS.get(asked.sort, _by_name)
        down = asked.order == "last" and not asked.after
        return first(chosen, asked.limit, lambda host: (key(host), host.host), reverse=down)

    async def waiting(self, counts: Mapping[str, int]) -> int | None:
        """How many URLs wait in all, as the hosts tell it; None where there are too many to count."""
        await self._look(counts)
        return sum(host.queued for host in self._hosts.values()) if self._counted_all else None

    async def _waiting(self) -> Counter[str]:
        """How many URLs of each host wait for a visit that is not planned for later, each counted once."""
        urls: Counter[str] = Counter()
        counted: set[int] = set()
        looked = 0
        async for waiting in self._reader.waiting():
            number = url_fingerprint(waiting.ticket.key)
            if waiting.ticket.kind in ("new", "retry", "recrawl") and number not in counted:
                counted.add(number)
                urls[waiting.ticket.host] += 1
            looked += 1
            if looked >= MOST_ROWS:
                self._counted_all = False
                break
        return urls

    async def _look(self, counts: Mapping[str, int]) -> None:
        if counts == self._counts:
            return
        newest: list[tuple[float, str, Row]] = []
        hosts: dict[str, HostView] = {}
        self._counted_all = sum(counts.values()) <= MOST_ROWS
        if self._counted_all:
            async for row in self._reader.rows(None, None):
                if row.attempts:
                    entry = (row.attempts[-1].at, row.key, row)
                    if len(newest) < RECENT:
                        heapq.heappush(newest, entry)
                    else:
                        heapq.heappushpop(newest, entry)
                hosts[row.host] = _with(hosts.get(row.host), row)
            for name, waiting in (await self._waiting()).items():
                hosts[name] = replace(hosts.get(name) or _none_of(name), state="waiting", queued=waiting)
        self._counts, self._hosts = dict(counts), hosts
        self._last = [row for _, _, row in sorted(newest, key=lambda entry: entry[:2], reverse=True)]


def _none_of(host: str) -> HostView:
    return HostView(host, "idle", 0, 0.0, 0.0, 0, "")


def _with(host: HostView | None, row: Row) -> HostView:
    """A host with one more of its rows."""
    host = host or _none_of(row.host)
    return replace(host, failures=host.failures + 1, cause=row.outcome) if row.state == "dead" else host

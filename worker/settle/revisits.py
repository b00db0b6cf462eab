"""When a page is visited again: by its observed changes, and by what sitemaps say of it. Pure; unix seconds."""

from typing import Final

import msgspec

from gregor.schemas.messages import Row, Ticket
from gregor.worker.config.settings import Config, revisit_bounds
from gregor.worker.read.sitemaps.entries import CHANGE_FREQUENCIES, DAY

AGE_SHARE: Final = 0.1
"""What did not change for so long will hardly change within this share of it (RFC 9111 section 4.2.2)."""
SLACK: Final = DAY
"""So far ahead of us may a date be: zones that were forgotten, clocks that are wrong."""


class SitemapHint(msgspec.Struct, frozen=True):
    """What a sitemap says of a page: when it changed last (0: nothing), and one of CHANGE_FREQUENCIES (or nothing)."""

    lastmod: float = 0.0
    changefreq: str = ""

    def __bool__(self) -> bool:
        return bool(self.lastmod or self.changefreq)

    @classmethod
    def of(cls, ticket: Ticket, row: Row | None) -> "SitemapHint":
        """What holds: the word of the ticket is newer than that of the row."""
        if ticket.lastmod or ticket.changefreq or row is None:
            return cls(ticket.lastmod, ticket.changefreq)
        return cls(row.lastmod, row.changefreq)


class Revisits(msgspec.Struct, frozen=True):
    """`first` is the interval of a page of which nothing is known; each interval is between the other two."""

    first: float
    shortest: float
    longest: float

    @classmethod
    def of(cls, config: Config) -> "Revisits | None":
        """The policy of a configuration; None when no page is visited again."""
        if config.revisit is None:
            return None
        return cls(config.revisit, *revisit_bounds(config))

    def interval(
        self, changed: int, unchanged: int, said: SitemapHint, fetched: float, spread: float = 0.0, pace: float = 1.0
    ) -> float:
        """Seconds from a fetch to the next: sooner when the page changed often, later when it did not.

        A stated frequency is where the adaption begins. A date of change before the fetch makes it later. `spread` is a
        share by which it is longer, so that what came together does not come together again; `pace`: the part of it
        that is waited, since the page ranks high.
        """
        stated = CHANGE_FREQUENCIES.get(said.changefreq, self.first)
        adapted = self._bounded(stated) * 2.0 ** max(-3, min(unchanged - changed, 6))
        quiet = AGE_SHARE * (fetched - said.lastmod) if said.lastmod else 0.0
        return self._bounded(max(adapted, quiet) * pace * (1.0 + spread))

    def owed(self, row: Row, said: SitemapHint, now: float) -> float | None:
        """When a known page is to be visited for what a sitemap says of it; None if not sooner than it is planned.

        It is due at once when it changed after its last visit, though never within the shortest interval of it.
        """
        visited = row.attempts[-1].at if row.attempts else row.first_seen
        if visited < said.lastmod <= now + SLACK:
            wait = self.shortest
        elif row.due:
            wait = self.interval(row.changed, row.unchanged, said, visited)
        else:
            return None
        due = max(now, visited + wait)
        return due if not row.due or due < row.due else None

    def _bounded(self, interval: float) -> float:
        return max(self.shortest, min(interval, self.longest))

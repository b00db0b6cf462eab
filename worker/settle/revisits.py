"""When a page is visited again: by its observed changes, and by what sitemaps say of it. Pure; unix seconds."""

import math
from typing import Final

import msgspec

from gregor.schemas.messages import Row, Ticket
from gregor.worker.config.revisiting import revisit_bounds
from gregor.worker.config.settings import Config
from gregor.worker.read.sitemaps.entries import CHANGE_FREQUENCIES, DAY
from gregor.worker.settle.change_learning import ChangeLearning
from gregor.worker.settle.change_rate import ChangeRate

AGE_SHARE: Final = 0.1
"""What did not change for so long will hardly change within this share of it (RFC 9111 section 4.2.2)."""
_MOST_REPLAYED: Final = 20
_DISTRUST: Final = 0.5
"""The share of false words among a worker's sitemaps from which on none is taken for more than a hint."""
SLACK: Final = DAY
"""So far ahead of us may a date be: zones that were forgotten, clocks that are wrong."""


def last_visit(row: Row) -> float:
    """When the URL was asked for last, whatever came; unix seconds."""
    return row.attempts[-1].at if row.attempts else row.first_seen


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
    """`first` is the interval of a page of which nothing is known, and the mean of all; each interval is between the
    other two. ``learning``: what the worker learns of all its pages."""

    first: float
    shortest: float
    longest: float
    learning: ChangeLearning = msgspec.field(default_factory=lambda: ChangeLearning(DAY))
    stale_after: float = math.inf

    @classmethod
    def of(cls, config: Config) -> "Revisits | None":
        """The policy of a configuration; None when no page is visited again."""
        if config.revisit is None:
            return None
        stale_after = math.inf if config.stale_after is None else config.stale_after
        return cls(config.revisit, *revisit_bounds(config), ChangeLearning(config.revisit), stale_after)

    def interval(
        self, rates: ChangeRate | None, said: SitemapHint, fetched: float, spread: float = 0.0, importance: float = 1.0
    ) -> float:
        """Seconds from a fetch to the next: when the visit is worth it, by what is known of the page's changes.

        Of a page of which nothing is known, a stated frequency is where it begins. A date of change before the fetch
        makes it later. `spread` is a share by which it is longer, so that what came together does not come together
        again.
        """
        if rates is None:
            wait = self._bounded(CHANGE_FREQUENCIES.get(said.changefreq, self.first)) / importance
        else:
            wait = self.learning.due_after(rates, self.shortest, self.longest, importance)
        quiet = AGE_SHARE * (fetched - said.lastmod) / importance if said.lastmod else 0.0
        return self._bounded(max(wait, quiet) * (1.0 + spread))

    def known_of(self, row: Row | None) -> ChangeRate | None:
        """What is known of a page's changes; of a row of before, by how many visits found one. None: nothing is."""
        if row is None or not row.changed + row.unchanged:
            return None
        if (kept := ChangeRate.read(row.rate)) is not None:
            return kept
        span = last_visit(row) - row.first_seen if row.first_seen else 0.0
        usual = span / max(1, row.visits - 1) or self.first
        rates = ChangeRate.expected(self._bounded(CHANGE_FREQUENCIES.get(row.changefreq, self.first)))
        for number in range(min(_MOST_REPLAYED, row.changed + row.unchanged)):
            rates = rates.visited(usual, number * row.changed % (row.changed + row.unchanged) < row.changed)
        return rates

    def learn(self, row: Row, said: SitemapHint, changed: bool, now: float) -> ChangeRate:
        """What is known of a page after a visit now that found a change, or none; the border hears how late it was."""
        visited = last_visit(row)
        rates = self.known_of(row)
        if rates is None and (stated := CHANGE_FREQUENCIES.get(said.changefreq)) is not None:
            rates = ChangeRate.expected(self._bounded(stated))
        return self.learning.learn(rates, now - visited, changed, words=visited < said.lastmod <= now + SLACK)

    def dropped_before(self, row: Row | None, due: float, now: float) -> bool:
        """Whether a page that is gone is dropped before it would be looked for again."""
        since = row.gone_since if row is not None and row.gone_since else now
        return since + self.stale_after <= due

    def gone_for(self, row: Row | None, now: float) -> float:
        """Seconds after which a page that is gone is looked for again: as long as it has been gone, and no sooner than
        it would have been otherwise; so ever more rarely."""
        since = row.gone_since if row is not None and row.gone_since else now
        return self._bounded(max(self.first, now - since))

    def owed(self, row: Row, said: SitemapHint, now: float) -> float | None:
        """When a known page is to be visited for what a sitemap says of it; None if not sooner than it is planned.

        It is due at once when it changed after its last visit, though never within the shortest interval of it; where
        such words are wrong as a rule, when the visit is worth it.
        """
        visited = last_visit(row)
        if visited < said.lastmod <= now + SLACK:
            wait = self.shortest
            if self.learning.false > _DISTRUST:
                rates = self.known_of(row) or self.learning.prior
                wait = self.learning.due_after(rates, self.shortest, self.longest, words=1)
        elif row.due and row.state != "gone":  # of what is gone only a change is news
            wait = self.interval(self.known_of(row), said, visited)
        else:
            return None
        due = max(now, visited + wait)
        return due if not row.due or due < row.due else None

    def _bounded(self, interval: float) -> float:
        return max(self.shortest, min(interval, self.longest))

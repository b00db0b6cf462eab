"""What one visit of a URL found: the record by which its settle is decided. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from gregor.schemas.messages import Changed, Link, Page, Row, State, Ticket
from gregor.worker.borders.log import Vanished
from gregor.worker.borders.transport import Response
from gregor.worker.extract.crawled import Extracted
from gregor.worker.extract.identity import compared, of_vanished
from gregor.worker.fetch.fetcher import conditions
from gregor.worker.fetch.outcomes import Denied, Outcome
from gregor.worker.read.fingerprints import distance
from gregor.worker.settle.rows import OPTED_OUT
from gregor.worker.web.urls import Url

NOISE: Final = 3
"""Bits by which the simhashes of two versions may differ that say the same."""


class Visited(msgspec.Struct, frozen=True):
    """A visit of the ticket's URL, of which the store says ``row``.

    ``outcome`` is None when the page of this very ticket was stored before: an earlier settle was cut short. ``url``:
    what was asked for, if anything was to be. ``page`` and ``tickets``: what was read, and its links that are to be
    published; ``redirect``: where it leads. ``stored``: the version that a revisit asked about. ``seconds``: what the
    request took.
    """

    ticket: Ticket
    row: Row | None
    outcome: Outcome | None
    url: Url | None = None
    response: Response | None = None
    page: Page | None = None
    tickets: Sequence[Ticket] = ()
    redirect: Link | None = None
    stored: Page | None = None
    seconds: float = 0.0
    extracted: Extracted | None = None

    def without_content(self) -> "Visited":
        """The same visit of a host that opted out, maybe since the request was made: nothing of its answer is kept."""
        return msgspec.structs.replace(
            self, outcome=Denied(OPTED_OUT), page=None, tickets=(), stored=None, extracted=None
        )

    @property
    def same(self) -> bool:
        """Whether the document that came says what the stored one says."""
        return self.page is not None and self.stored is not None and self.page.fingerprint == self.stored.fingerprint

    @property
    def only_noise(self) -> bool:
        """Whether the document differs from the stored one in what says nothing: a date, a counter, a token."""
        page, stored = self.page, self.stored
        if page is None or stored is None or not page.simhash or not stored.simhash:
            return False
        return distance(page.simhash, stored.simhash) <= NOISE

    def news(self, state: State, now: float) -> Page | Vanished | Changed | None:
        """What is to be told of its page: that it is stored, that it and its items are no longer there, or that the
        URL stands otherwise than before. ``state`` is the verdict's, ``now`` unix seconds."""
        stored, row, visit = self.stored, self.row, self.ticket.visit + 1
        if self.page is not None:
            return self.page
        if state == "gone" and stored is not None and not self._was_gone and (items := of_vanished(stored.items)):
            return Vanished(msgspec.structs.replace(stored, visit=visit, fetched_at=now, items=items))
        if row is None or not row.page or state in (row.state, "waiting"):
            return None
        return Changed(row.key, row.href, row.host, visit, state, now, row.requisite)

    @property
    def _was_gone(self) -> bool:
        return self.row is not None and self.row.state == "gone"

    @property
    def held(self) -> State | None:
        """The state of the version that the request asked about; None when it had no condition."""
        return self.stored.state if self.stored is not None and conditions(self.stored) else None

    @property
    def pushed_back(self) -> bool:
        """Whether the host answered that it wants fewer requests."""
        if isinstance(self.outcome, Denied):
            return False
        return self.response is not None and self.response.status in (429, 503)


class Examined(msgspec.Struct, frozen=True):
    """What an outcome says: a ``page``, if a document came; where a ``redirect`` leads; the tickets of what is to be
    published."""

    outcome: Outcome
    page: Page | None = None
    tickets: Sequence[Ticket] = ()
    redirect: Link | None = None
    extracted: Extracted | None = None

    def visited(
        self, ticket: Ticket, row: Row | None, url: Url, response: Response | None, stored: Page | None, seconds: float
    ) -> Visited:
        """The visit that it comes of, as its settle needs it: see `Visited`."""
        extracted, page = self.extracted, self.page
        if page is not None and extracted is not None:
            page.items = compared(extracted.items, stored.items if stored is not None else (), extracted.asked)
        details = self.tickets, self.redirect, stored, seconds, extracted
        return Visited(ticket, row, self.outcome, url, response, page, *details)

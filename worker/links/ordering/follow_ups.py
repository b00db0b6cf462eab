"""The tickets of the links of a page: which are published, and how they stand. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from gregor.schemas.messages import Page, Ticket
from gregor.worker.base.pieces import PIECE, InPieces
from gregor.worker.links import tickets
from gregor.worker.links.configured import REQUISITES
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.fetch_order import FetchOrder
from gregor.worker.links.ordering.policy import SEED, BroughtPage
from gregor.worker.links.priority import of_link
from gregor.worker.links.traps import Traps
from gregor.worker.web.urls import Url

Chosen: TypeAlias = Mapping[int, tuple[Url, str, int]]
"""Links that are followed, by the fingerprints of their URLs: URL, kind, and the front queue that somebody gave, 0 for
none."""


class Sent(Protocol):
    """What was published lately: see `RecentlySent`."""

    def knows(self, fingerprint: int, depth: int, /) -> bool:
        """Whether the URL of a fingerprint need not be published for a link that is so deep."""

    def unknown(self, fingerprints: Collection[int], depth: int, /) -> set[int]:
        """Those of which it does not know that."""


class Followed(NamedTuple):
    """The tickets of the links of a page that are published, and what the policy could not do for it: its name, and
    causes."""

    tickets: list[Ticket]
    failures: Sequence[tuple[str, str]] = ()


class FollowUps:
    """Makes those of one worker. ``order``: where a policy scores; else depth decides."""

    def __init__(self, traps: Traps, sent: Sent, order: FetchOrder | None = None, relevant_from: float = 0.0) -> None:
        """``relevant_from``: from which relevance on a page is relevant for the topic, if there is any."""
        self._traps = traps
        self._relevant_from = relevant_from
        self._sent = sent
        self._order = order

    def of_links(self, ticket: Ticket, url: Url, page: Page, chosen: Chosen, now: float) -> InPieces[Followed]:
        """The tickets of the chosen links of a page; ``now``: unix seconds."""
        if page.relevance is not None:
            ticket = msgspec.structs.replace(ticket, astray=self.astray(ticket, page))
        if self._order is not None:
            return (yield from self._scored(self._order, ticket, url, page, chosen, now))
        depth, knows, follow_ups = ticket.depth, self._sent.knows, list[Ticket]()
        for number in filter(self._sent.unknown(chosen, depth).__contains__, chosen):  # as a rule none
            target, kind, priority = chosen[number]
            if not knows(number, depth + (kind not in REQUISITES)):
                follow_ups.append(self._traps.ranked(tickets.referred(ticket, target, kind, now, priority)))
                if len(follow_ups) % PIECE == 0:
                    yield
        return Followed(follow_ups)

    def astray(self, ticket: Ticket, page: Page) -> int:
        """How many pages in a row, this one the last, are not relevant. A seed is as good as relevant."""
        relevance = page.relevance
        return 0 if relevance is None or relevance >= self._relevant_from or not ticket.depth else ticket.astray + 1

    def _scored(
        self, order: FetchOrder, ticket: Ticket, url: Url, page: Page, chosen: Chosen, now: float
    ) -> InPieces[Followed]:
        scored = [number for number, (_, kind, _) in chosen.items() if kind not in REQUISITES]
        worth, usual = SEED if ticket.worth is None else ticket.worth, of_link(ticket.depth + 1)
        brought = BroughtPage(
            url.href,
            url.key,
            url.host,
            ticket.depth,
            ticket.via,
            worth,
            len(scored),
            page.title or "",
            page.text,
            page.relevance,
        )
        of_each = yield from order.worths(brought, _found_links(ticket, url, page, chosen))
        worths = dict(zip(scored, of_each, strict=True))
        failures = [(f"ordering {order.policy.name}", cause) for cause in order.policy.failures]
        follow_ups: list[Ticket] = []
        for count, (number, (target, kind, priority)) in enumerate(chosen.items(), start=1):
            if count % PIECE == 0:
                yield
            brings = total = worths.get(number)
            if kind not in REQUISITES and self._sent.knows(number, ticket.depth + 1):
                total = None if brings is None else order.owe(number, target.host, brings)
                if total is None:
                    continue
            placed = order.place(total, priority, usual)
            follow = tickets.referred(ticket, target, kind, now, placed.priority)
            follow_ups.append(self._traps.ranked(msgspec.structs.replace(follow, worth=placed.worth, brings=brings)))
        return Followed(follow_ups, failures)


def _found_links(ticket: Ticket, url: Url, page: Page, chosen: Chosen) -> Iterator[FoundLink]:
    """The chosen links of a page but those of requisites, as a plug-in sees them."""
    first = {link.url: link for link in reversed(page.links)}
    depth, label = ticket.depth + 1, ticket.label
    for target, kind, _ in chosen.values():
        if kind not in REQUISITES:
            link = first[target.href]
            yield FoundLink(
                target.href, target.key, target.host, kind, link.text, link.nofollow, url.href, depth, label
            )

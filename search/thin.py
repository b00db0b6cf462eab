"""Thin answers: queries that find few documents, or only old ones, and what could be ordered for them. Pure.

Old documents are worth a visit anew; where few are found, what is linked on their hosts is worth finding sooner. Of a
query that finds nothing nobody knows where to look, unless it names a host.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

import msgspec

from gregor.search.borders import Answer
from gregor.search.query import ParsedQuery

FEW: Final = 5
"""A query that finds fewer documents finds few."""
_HOSTS: Final = 3
_VISITS: Final = 10
"""Hosts and visits that one query may lead to."""
_HOUR: Final = 3600.0
_AGAIN: Final = 24 * _HOUR
"""Seconds for which a query that was answered leads to nothing more."""
_REMEMBERED: Final = 10_000
_LONGEST: Final = 150


class ThinAnswer(msgspec.Struct, frozen=True):
    """What a thin answer asks for: URLs to be visited again; hosts, or domains as "*.example.org", of which more is to
    be found; and why."""

    visits: tuple[str, ...]
    hosts: tuple[str, ...]
    why: str


def wish(asked: ParsedQuery, answer: Answer, now: float, old_after: float) -> ThinAnswer | None:
    """What the answer to a query asks for; None where it is not thin. ``old_after``: seconds since the newest of the
    documents was fetched. Hosts that only the query names are among the hosts: whoever orders looks whether the crawl
    has them."""
    if not asked.words or answer.partial:
        return None
    hits = () if answer.any_word else answer.hits
    few = len(hits) < FEW and (answer.any_word or answer.total < FEW)
    old = bool(hits) and max(hit.at for hit in hits) < now - old_after
    if not few and not old:
        return None
    hosts = (*_named(asked), *(hit.host for hit in hits)) if few else ()
    visits = tuple(hit.href for hit in hits[:_VISITS]) if old else ()
    what = " and ".join(word for word, holds in (("few", few), ("old", old)) if holds)
    return ThinAnswer(visits, tuple(dict.fromkeys(hosts))[:_HOSTS], f"{what} results for: {asked.said[:_LONGEST]}")


def _named(asked: ParsedQuery) -> list[str]:
    """The hosts and domains that a query is about."""
    wanted = [condition for condition in asked.filters if not condition.without]
    hosts = [condition.value[0] for condition in wanted if condition.name == "host"]
    return hosts + [f"*.{condition.value[0]}" for condition in wanted if condition.name == "site"]


class OrderAllowance:
    """How much may be ordered: so many orders and visits within any hour, and once a day for a query."""

    def __init__(self, per_hour: int, clock: Callable[[], float]) -> None:
        """``clock``: seconds that only grow."""
        self._per_hour = per_hour
        self._clock = clock
        self._spent: deque[float] = deque()
        self._queries: OrderedDict[str, float] = OrderedDict()

    def is_new(self, query: str) -> bool:
        """Whether a query led to nothing within a day; from now on it did."""
        now = self._clock()
        if now - self._queries.get(query, now - _AGAIN) < _AGAIN:
            return False
        self._queries[query] = now
        self._queries.move_to_end(query)
        while len(self._queries) > _REMEMBERED:
            self._queries.popitem(last=False)
        return True

    def take(self, wanted: int) -> int:
        """How many of so many may be ordered now; they count from now on."""
        now = self._clock()
        while self._spent and self._spent[0] <= now - _HOUR:
            self._spent.popleft()
        taken = max(0, min(wanted, self._per_hour - len(self._spent)))
        self._spent.extend([now] * taken)
        return taken

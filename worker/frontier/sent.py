"""The recently-sent cache."""

from collections.abc import Collection, Iterable, Sequence

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.base.pieces import PIECE, InPieces, with_pauses


class RecentlySent:
    """The recently-sent cache: links that were published lately and need not be published again.

    It learns a link only after its acknowledgement, so that a failed publish loses nothing.
    """

    def __init__(self, size: int) -> None:
        """``size`` is how many are known at most; the older half is forgotten at once."""
        self._most = -(-size // 2)
        self._young: set[int] = set()
        self._old: set[int] = set()

    def knows(self, fingerprint: int, depth: int = 0) -> bool:
        """Whether the URL of this fingerprint was published lately, and need not be for a link that is so deep."""
        return fingerprint in self._young or fingerprint in self._old

    def unknown(self, fingerprints: Collection[int], depth: int = 0) -> set[int]:
        """Those that it does not `know`; of many that is sooner said at once."""
        return set(fingerprints).difference(self._young).difference(self._old)

    async def learn_all(self, tickets: Sequence[Ticket]) -> None:
        """The same as `learn`, of any number."""
        await with_pauses(self._learning(tickets))

    def _learning(self, tickets: Sequence[Ticket]) -> InPieces[None]:
        for start in range(0, len(tickets), PIECE):
            if start:
                yield
            self.learn(tickets[start : start + PIECE])

    def learn(self, tickets: Iterable[Ticket]) -> None:
        """Tickets were published and acknowledged."""
        for ticket in tickets if self._most else ():
            self._young.update(map(url_fingerprint, _names(ticket)))
            if len(self._young) >= self._most:
                self._old, self._young = self._young, set()

    def forget(self, key: str) -> None:
        """A URL is as if it had never been published."""
        for half in (self._young, self._old):
            half.discard(url_fingerprint(key))
            half.discard(url_fingerprint(as_requisite(key)))


def as_requisite(key: str) -> str:
    """By what name a URL is known that was published as a requisite: a link to it must be published too."""
    return f"{key} requisite"


def _names(ticket: Ticket) -> set[str]:
    return {as_requisite(ticket.key)} if ticket.requisite else {ticket.key, ticket.news}


class SentByDepth(RecentlySent):
    """Where depth decides what is followed: a link is known unless it was found on a shorter way."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._near: dict[int, int] = {}
        self._before: dict[int, int] = {}

    def knows(self, fingerprint: int, depth: int = 0) -> bool:
        """Whether it was published lately, and not only as deeper than ``depth``."""
        least = self._near.get(fingerprint)
        if least is None:
            least = self._before.get(fingerprint)
        return least is not None and least <= depth

    def unknown(self, fingerprints: Collection[int], depth: int = 0) -> set[int]:
        """See `RecentlySent.unknown`."""
        return {number for number in fingerprints if not self.knows(number, depth)}

    def learn(self, tickets: Iterable[Ticket]) -> None:
        """Tickets were published and acknowledged."""
        for ticket in tickets if self._most else ():
            for name in _names(ticket):
                fingerprint = url_fingerprint(name)
                if not self.knows(fingerprint, ticket.depth):
                    self._near[fingerprint] = ticket.depth
            if len(self._near) >= self._most:
                self._before, self._near = self._near, {}

    def forget(self, key: str) -> None:
        """A URL is as if it had never been published."""
        for depths in (self._near, self._before):
            depths.pop(url_fingerprint(key), None)
            depths.pop(url_fingerprint(as_requisite(key)), None)

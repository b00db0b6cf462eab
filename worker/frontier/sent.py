"""The recently-sent cache."""

from collections.abc import Iterable

from gregor.schemas.messages import Ticket, url_fingerprint


class RecentlySent:
    """The recently-sent cache: links that were published lately and need not be published again.

    It learns a link only after its acknowledgement, so that a failed publish loses nothing.
    """

    def __init__(self, size: int) -> None:
        """``size`` is how many are known at most; the older half is forgotten at once."""
        self._most = -(-size // 2)
        self._young: set[int] = set()
        self._old: set[int] = set()

    def knows(self, fingerprint: int) -> bool:
        """Whether the URL of this fingerprint was published lately."""
        return fingerprint in self._young or fingerprint in self._old

    def learn(self, tickets: Iterable[Ticket]) -> None:
        """Tickets were published and acknowledged."""
        for ticket in tickets if self._most else ():
            self._young.add(url_fingerprint(ticket.key))
            if ticket.news != ticket.key:
                self._young.add(url_fingerprint(ticket.news))
            if len(self._young) >= self._most:
                self._old, self._young = self._young, set()

"""How many of a worker's requests visits of known pages may take while new ones wait. Pure; monotonic seconds."""

import math
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.frontier.queue_item import QueueItem
from gregor.worker.links.rank import Rank

MOST_SAVED: Final = 4.0
"""So many requests may visits of known pages have in advance, or what one other brings them; what is unused beyond goes
to new ones."""
QUIET: Final = 5.0
"""Seconds without a request for a new page, and none waiting, after which none is thought to come."""
STUCK: Final = 60.0
"""Seconds after which new pages that wait are thought to wait for something else than requests."""


def asks_again(ticket: Ticket) -> bool:
    """Whether a visit is of a known page, and nobody ordered it."""
    return ticket.kind == "revisit" and not ticket.ordered


class RevisitShare:
    """That of one worker. Each other request brings visits of known pages their share of one; while new pages wait, one
    that finds no such share is held. Where none waits, they have all."""

    def __init__(self, share: float, monotonic: Callable[[], float]) -> None:
        """``share``: from 0 to less than 1."""
        self._brings = share / (1.0 - share)
        self._most = max(MOST_SAVED, self._brings)
        self._monotonic = monotonic
        self._saved = 0.0
        self._last_other = monotonic()
        self._new_pages = 0
        self._held: dict[Hashable, Callable[[], bool]] = {}

    @classmethod
    def of(cls, share: float | None, monotonic: Callable[[], float]) -> "RevisitShare | None":
        """That of the setting; None where nothing is bounded."""
        return None if share is None or share >= 1.0 else cls(share, monotonic)

    @property
    def closed_for(self) -> float:
        """Seconds for which no visit of a known page may be asked for, if nothing changes; 0 when one may."""
        if self._saved >= 1.0:
            return 0.0
        return max(0.0, self._last_other + (STUCK if self._new_pages else QUIET) - self._monotonic())

    def take(self) -> bool:
        """Take the share of a request, which is `given_back` if none is made. Whether there was need of it."""
        if self._saved < 1.0:
            return False
        self._saved -= 1.0
        return True

    def given_back(self) -> None:
        """A share was taken in vain."""
        self._brings_more(1.0)

    def asked_other(self) -> None:
        """A request was made that is no visit of a known page."""
        self._last_other = self._monotonic()
        self._brings_more(self._brings)

    def _brings_more(self, share: float) -> None:
        self._saved = min(self._most, self._saved + share)
        for _ in range(math.floor(self._saved)):
            while self._held and not self._held.pop(next(iter(self._held)))():
                pass  # that one waits for something else by now

    def hold(self, who: Hashable, call: Callable[[], bool]) -> None:
        """Call when one may be asked for. The call says whether ``who`` still waits for it."""
        self._held[who] = call

    def wake(self, who: Hashable) -> None:
        """Something else is to be asked for meanwhile."""
        if (call := self._held.pop(who, None)) is not None:
            call()

    def change(self, new_pages: int) -> None:
        """So many new pages more wait in memory, or fewer."""
        self._new_pages += new_pages


class WaitingPages:
    """The new pages of a partition that wait in its owner's memory."""

    def __init__(self, share: RevisitShare) -> None:
        self.share = share
        self._count = 0
        self._closed = False

    def change(self, count: int) -> None:
        """So many more wait, or fewer."""
        if not self._closed:
            self._count += count
            self.share.change(count)

    def close(self) -> None:
        """The partition is given up."""
        self.share.change(-self._count)
        self._count, self._closed = 0, True


class VisitsAgain:
    """The visits of known pages in the back queue of a host, and which of them may be asked for."""

    def __init__(self, pages: WaitingPages) -> None:
        self._pages = pages
        self._asking = False  # what was taken last is a visit of a known page
        self._taken = False  # its share was taken
        self._waiting: deque[QueueItem] = deque()

    def put(self, item: QueueItem, slot: int, *, back: bool = False) -> int:
        """Have a visit wait at the end, or, put ``back``, at the front. The ``slot`` that it has."""
        item.state, item.lane, item.slot = "queued", Rank.OPEN, slot
        (self._waiting.appendleft if back else self._waiting.append)(item)
        return slot

    def first(self, other: Callable[[], object | None]) -> QueueItem | None:
        """The visit that comes next: when one may be asked for, or when there is no ``other`` that waits."""
        while self._waiting and self._waiting[0].state != "queued":
            self._waiting.popleft()
        if not self._waiting or (self._pages.share.closed_for and other() is not None):
            return None
        return self._waiting[0]

    def came(self, again: bool) -> None:
        """A ticket waits in the queue; ``again``: for a visit of a known page."""
        if not again:
            self._pages.change(1)
            self._pages.share.wake(self)
        elif self._taken:  # put back
            self._taken = False
            self._pages.share.given_back()

    def left(self, again: bool, *, visited: bool) -> None:
        """A ticket does not wait any longer; ``visited``: its visit begins."""
        if not again:
            self._pages.change(-1)
        if visited:
            self._asking, self._taken = again, False

    def holds(self) -> float:
        """Seconds for which the request of the visit that began must wait; 0: it has its share now."""
        if not self._asking or self._taken:
            return 0.0
        if seconds := self._pages.share.closed_for:
            return seconds
        self._taken = self._pages.share.take()
        return 0.0

    def asked(self) -> None:
        """Its request was made."""
        if not self._asking:
            self._pages.share.asked_other()
        self._taken = False

    def hold(self, call: Callable[[], bool]) -> None:
        """Call when the host may be asked for something."""
        self._pages.share.hold(self, call)

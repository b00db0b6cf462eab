"""The order of a worker's URLs: what links are worth by its policy, where that puts them, and what is owed to others.

A link to a URL that was published before brings no ticket, but what it is worth: the partition in which the URL waits
is told at once where this worker owns it; else it is summed here until it is worth a ticket. Pure, bounded in memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from gregor.worker.base.pieces import InPieces
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage, ScoringPolicy
from gregor.worker.links.ordering.quantiles import RunningQuantiles
from gregor.worker.links.ordering.standings import Standings

KEPT_EVERY: Final = 8
"""Checkpoints after which what was learnt is written anew."""


class Placed(NamedTuple):
    """What a link that is published gets: its worth, and its front queue."""

    worth: float | None
    priority: int


class FetchOrder:
    """That of one worker."""

    def __init__(
        self, policy: ScoringPolicy, partition_of: Callable[[str], int], memory: int, counts: Counter[str] | None = None
    ) -> None:
        """``memory``: URLs outside memory of which a worth is remembered. ``counts``: where it is counted how many
        tickets of known URLs were "published" and "admitted" since these stand better now."""
        self.policy = policy
        self._partition_of = partition_of
        self._memory = memory
        self.published = RunningQuantiles()
        """Of what was published: by these front queues are chosen."""
        self._partitions: WeakValueDictionary[int, Standings] = WeakValueDictionary()
        self._owed: dict[int, float] = {}
        self._owed_before: dict[int, float] = {}
        self._counts: Counter[str] = Counter() if counts is None else counts
        self._kept, self._asked = b"", 0

    def standings(self, partition: int, share: float) -> Standings:
        """Those of a partition that is owned from now on, which has this share of the memory."""
        made = Standings(self.policy.adds, int(self._memory * share), self._paid, self._counts)
        self._partitions[partition] = made
        return made

    def kept(self, partition: int) -> bytes:
        """What the policy has learnt, for the record of a partition: the first that is owned has it, and no other. Made
        anew after some pages, since it is asked for at each checkpoint."""
        if partition != min(self._partitions, default=partition):
            return b""
        self._asked += 1
        if self._asked % KEPT_EVERY == 1 or not self._kept:
            self._kept = self.policy.kept()
        return self._kept

    @property
    def owned(self) -> Mapping[int, Standings]:
        """The partitions that are owned."""
        return self._partitions

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float | None]]:
        """What each link of a page is worth."""
        kept = self.policy.tax if page.links else 1.0
        if kept and (here := self._partitions.get(self._partition_of(page.host))) is not None:
            here.flow(kept * page.worth)
        return (yield from self.policy.worths(page, links))

    def place(self, worth: float | None, priority: int, usual: int) -> Placed:
        """Where a URL goes whose link is worth so much. ``priority``: the front queue that was given to it, 0 for none;
        ``usual``: that of its depth, for what has no worth. What was given counts: the worth is brought between its
        borders."""
        if worth is None:
            return Placed(None, priority or usual)
        self.published.note(worth)
        queue = self.published.queue(worth)
        if not priority or priority == queue:
            return Placed(worth, queue)
        least = self.published.least(priority if priority < queue else priority - 1)
        bounded = worth if least is None else max(worth, least) if priority < queue else min(worth, least)
        return Placed(bounded, priority)

    def owe(self, fingerprint: int, host: str, worth: float) -> float | None:
        """A further link leads to a URL that was published before. The worth of a ticket that is to be published for
        it all the same; None as a rule."""
        here = self._partitions.get(self._partition_of(host))
        promotes = here.credit(fingerprint, worth) if here is not None else None
        if here is not None and promotes:
            self._counts["published"] += 1
            return here.lend(fingerprint)
        if promotes is not None:
            return None
        owed = self._owed.get(fingerprint)
        if owed is None:
            owed = self._owed_before.pop(fingerprint, 0.0)
        owed = self._owed[fingerprint] = owed + worth if self.policy.adds else max(owed, worth)
        if len(self._owed) >= max(2, self._memory // 2):
            self._owed, self._owed_before = {}, self._owed
        least = self.published.least(2)
        if here is not None or least is None or owed < least:
            return None
        self._owed.pop(fingerprint, None)
        self._counts["published"] += 1
        return owed

    def _paid(self, fingerprint: int) -> float:
        """What is owed to a URL that comes into memory here."""
        return self._owed.pop(fingerprint, 0.0) or self._owed_before.pop(fingerprint, 0.0)

"""The URLs of one host in its owner's memory, in order. Pure."""

import heapq
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

import msgspec

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.frontier.growth import ROW, Growth
from gregor.worker.frontier.lanes import (
    AGAIN_FIRST,
    ANSWER_FIRST,
    BACK_FIRST,
    FIRST_PLACES,
    IN_TURNS,
    LANES,
    LANES_IN_TURN,
    MOST_TIMES,
    SCORED_SLOTS,
    SLOTS,
    how_often,
    place_of_spent,
    worth_of_next,
)
from gregor.worker.frontier.queue_item import OPEN_SLOT, FromLog, QueueItem
from gregor.worker.frontier.revisit_share import VisitsAgain
from gregor.worker.frontier.section_turns import SectionTurns
from gregor.worker.links.ordering.standings import FIRST, Standings
from gregor.worker.links.rank import COMBINES, LOOKS_DATED, LOOKS_ENDLESS, LOOKS_PAST, Judged, Rank
from gregor.worker.links.shapes import counted, section, target_of, view

Judge: TypeAlias = Callable[[Ticket], Judged]
"""Says how a ticket stands among those of its host."""

_OPEN: Final = Judged(Rank.OPEN)
_LOOKS: Final = frozenset({LOOKS_DATED, LOOKS_ENDLESS, LOOKS_PAST, COMBINES})
"""Why a URL sinks by its looks alone."""


def open_to_all(ticket: Ticket) -> Judged:
    """The judge where nothing is learnt."""
    return _OPEN


class BackQueue:
    """Four lanes by rank: what grows without end sinks behind what does not, and nothing starves.

    In the open lane the best priority is first, then arrival. It is served before the others, which get a share of the
    turns while they wait; in the next two the sections of the site take turns, the rarer the more of a section waits.
    What is spent comes when nothing else is left: the deepest first, since what leads on shows itself there, and from
    all over its shapes. A rank may change while an item waits: it is asked again as it is next. What left is skipped.

    Where a policy scores, what is worth most is first in the open lane, and what is large belongs there too.
    """

    def __init__(
        self, judge: Judge = open_to_all, standings: Standings | None = None, again: VisitsAgain | None = None
    ) -> None:
        """``standings``: what the URLs of its partition are worth, where a policy scores; ``again``: where visits of
        known pages have a share of the requests."""
        self.again = again
        self._judge = judge
        self._standings = standings
        self._lanes: list[list[tuple[float, int, QueueItem]]] = [[] for _ in LANES]
        self._first_slot = SCORED_SLOTS - 1 if standings is not None else 0
        self._slots = [0] * (SLOTS + self._first_slot + 1)  # the last is for visits of known pages
        self._growth = Growth()
        self._sections: dict[str, int] = {}
        self._sequence = 0
        self._turn = 0
        self._turns = {lane: SectionTurns() for lane in IN_TURNS}

    def __len__(self) -> int:
        return sum(self._slots)

    @property
    def best(self) -> float:
        """What its next URL is worth, where a policy scores; what sank counts a part of that, what is spent nothing."""
        return worth_of_next(self._lanes[Rank.OPEN], self._lanes[Rank.SUNK])

    def waiting(self, slot: int) -> int:
        """Items of a slot: all open ones have one, the sections of the site one each; those beyond share the last."""
        return self._slots[slot]

    def slot_of(self, ticket: Ticket) -> int:
        """The slot of a ticket as it is judged now."""
        return self._slot(self._judged(ticket), self._peek(ticket))

    def next_slots(self, slots: Iterable[int]) -> list[tuple[int, int]]:
        """Slots in the order in which they are filled, each with the items that wait in it; where a policy scores, with
        those of better bands too."""
        if self._standings is None:
            return [(slot, self._slots[slot]) for slot in slots]
        return [
            (slot, sum(self._slots[: slot + 1]) if slot < SCORED_SLOTS else self._slots[slot]) for slot in sorted(slots)
        ]

    def takes(self, ticket: Ticket, size: int) -> bool:
        """Whether there is room for one more such ticket: each slot has `size` places, and one more for what would be
        next: what is spent and deeper than all that waits, or worth more. Of the latter `FIRST_PLACES` wait in one, or
        twice as many as have room."""
        judged, worth = self._judged(ticket), self._peek(ticket)
        slot = self._slot(judged, worth)
        if judged.section:
            found_on = section(target_of(ticket.via)) if ticket.via else ""
            self._growth.came(judged.section, found_on, odd=judged.reason in (LOOKS_DATED, LOOKS_ENDLESS, LOOKS_PAST))
        if self._slots[slot] < size or (judged.rank is Rank.SPENT and self._is_deepest(ticket)):
            return True
        if self._standings is None or judged.rank is not Rank.OPEN or self._slots[slot] >= max(FIRST_PLACES, 2 * size):
            return False  # each may be worth more than the one before
        return bool(self._lanes[Rank.OPEN]) and worth > self.best

    def _is_deepest(self, ticket: Ticket) -> bool:
        heap = self._lanes[Rank.SPENT]
        while heap and heap[0][2].state != "queued":
            heapq.heappop(heap)
        return not heap or place_of_spent(ticket) >> 32 < int(heap[0][0]) >> 32

    def put(self, item: QueueItem) -> None:
        """Add at the end of its priority. Tickets that were waiting before go ahead of new ones, and a robots.txt that
        another host asks for ahead of all: this one may itself be waiting for its answer."""
        if item.ticket.kind == "robots":
            self._sequence += 1
            self._add(item, Rank.OPEN, OPEN_SLOT, ANSWER_FIRST, self._sequence)
        elif self.again is not None and item.again:
            self._slots[self.again.put(item, len(self._slots) - 1)] += 1
        else:
            if self._standings is not None and item.ticket.kind == "new":
                ticket, again = item.ticket, not isinstance(item.source, FromLog)
                number = url_fingerprint(ticket.key)
                item.worth = self._standings.weigh(number, ticket.worth, ticket.priority, again=again)
            self._push(item, self._judged(item.ticket))
        if self.again is not None:
            self.again.came(item.again)

    def put_back(self, item: QueueItem) -> None:
        """Return an item to the front."""
        if self.again is not None and item.again:
            self._slots[self.again.put(item, len(self._slots) - 1, back=True)] += 1
        else:
            self._sequence += 1
            place = ANSWER_FIRST if item.ticket.kind == "robots" else BACK_FIRST
            self._add(item, Rank.OPEN, OPEN_SLOT, place, -self._sequence)
        if self.again is not None:
            self.again.came(item.again)

    def take(self) -> QueueItem | None:
        """The first item, now being visited. `QueueItem.refused` says why it need not be."""
        if self.again is not None and (again := self.again.first(self._next)) is not None:
            self._leave(again, "visited")
            return again
        lane = self._next()
        if lane is None:
            return None
        place, _, item = heapq.heappop(self._lanes[lane])
        if lane in IN_TURNS:
            self._turns[lane].serve(int(place))
        judged = self._judged(item.ticket)
        if (
            lane == Rank.SPENT
            and judged.rank is Rank.REFUSED
            and not (judged.spare and self._is_row(judged.section, item.ticket))
        ):
            item.refused = judged.reason
        else:
            self._turn += 1
        if judged.section and item.ticket.kind == "new":
            self._growth.taken(judged.section)
        self._leave(item, "visited")
        return item

    def first(self) -> QueueItem | None:
        """The item that `take` would give."""
        if self.again is not None and (again := self.again.first(self._next)) is not None:
            return again
        lane = self._next()
        return None if lane is None else self._lanes[lane][0][2]

    def remove(self, item: QueueItem) -> None:
        """Take an item out of the middle."""
        if item.state == "queued":
            self._leave(item, "left")

    def lift(self, item: QueueItem) -> None:
        """Put an item whose worth has become more where it belongs now."""
        if item.state != "queued" or item.lane is not Rank.OPEN or item.ticket.kind != "new":
            return
        self._slots[item.slot] -= 1
        self._sequence += 1
        self._add(item, Rank.OPEN, self._slot(_OPEN, item.worth), -item.worth, self._sequence)
        heap = self._lanes[Rank.OPEN]
        if len(heap) > MOST_TIMES * len(self) + SLOTS:
            best: dict[QueueItem, tuple[float, int, QueueItem]] = {}
            for entry in sorted(heap):
                if entry[2].state == "queued":  # what left would fill the room, and each rise would sort
                    best.setdefault(entry[2], entry)
            heap[:] = best.values()  # sorted, so a heap

    def _leave(self, item: QueueItem, state: str) -> None:
        """An item does not wait here any longer; its ticket takes along what it is worth."""
        item.state = state
        self._slots[item.slot] -= 1
        if self.again is not None:
            self.again.left(item.again, visited=state == "visited")
        if self._standings is not None and item.ticket.kind == "new":
            self._standings.went(url_fingerprint(item.ticket.key))
            item.waits_in = None
            if item.worth < FIRST:
                item.ticket = msgspec.structs.replace(item.ticket, worth=self._standings.worth(item.worth))

    def _peek(self, ticket: Ticket) -> float:
        """How a ticket stands where a policy scores."""
        if self._standings is None or ticket.kind != "new":
            return 0.0
        return self._standings.peek(url_fingerprint(ticket.key), ticket.worth, ticket.priority)

    def _push(self, item: QueueItem, judged: Judged) -> None:
        self._sequence += 1
        lane = min(judged.rank, Rank.SPENT)
        place: float
        if lane is Rank.SPENT:
            place = place_of_spent(item.ticket)
        elif lane in IN_TURNS:
            waiting = self._growth.of(judged.section).waiting
            often = how_often(judged.reason, waiting)
            place = self._turns[lane].place(judged.section, target_of(item.ticket.key), waiting, often)
        elif item.ticket.kind != "new":
            place = AGAIN_FIRST
        else:
            place = item.ticket.priority if self._standings is None else -item.worth
        self._add(item, lane, self._slot(judged, item.worth), place, self._sequence)

    def _add(self, item: QueueItem, lane: Rank, slot: int, place: float, sequence: int) -> None:
        item.state, item.lane, item.slot = "queued", lane, slot
        heapq.heappush(self._lanes[lane], (place, sequence, item))
        self._slots[slot] += 1
        if self._standings is not None and item.ticket.kind == "new" and item.waits_in is None:
            item.waits_in = self
            self._standings.came(url_fingerprint(item.ticket.key), item)

    def _is_row(self, name: str, ticket: Ticket) -> bool:
        """Whether of a section that is refused never more than a few tickets waited when it came to that; one, if they
        look endless, as a calendar's. Pages that only a whole number tells apart are a row, however many each leads to:
        between two of them there are finitely many."""
        grown, target = self._growth.of(name), target_of(ticket.key)
        endless = view(target).endless
        grown.forks = grown.forks or grown.waiting > (1 if endless else ROW)
        return not grown.forks or (not endless and counted(target))

    def _judged(self, ticket: Ticket) -> Judged:
        """How a ticket stands, by what is learnt of its pages and by how its section grows: what ends need not sink for
        its looks, and what grows on, or looks endless in good part, sinks whatever else it looks like."""
        judged = self._judge(ticket)
        if self._standings is not None and judged.rank is Rank.LARGE:
            judged = judged._replace(rank=Rank.OPEN)
        if not judged.section or judged.rank > Rank.SUNK:
            return judged
        grown = self._growth.of(judged.section)
        if judged.rank is Rank.SUNK:
            return judged._replace(rank=Rank.OPEN) if judged.reason in _LOOKS and grown.ends else judged
        return judged._replace(rank=Rank.SUNK) if grown.grows or grown.odd else judged

    def _slot(self, judged: Judged, worth: float) -> int:
        if judged.rank is Rank.OPEN:
            return OPEN_SLOT if self._standings is None else self._standings.band(worth)
        if judged.section not in self._sections and len(self._sections) < SLOTS - 2:
            self._sections[judged.section] = self._first_slot + 1 + len(self._sections)
        return self._sections.get(judged.section, self._first_slot + SLOTS - 1)

    def _next(self) -> Rank | None:
        """The lane whose first item is next; items that sank meanwhile were moved."""
        for lane in LANES_IN_TURN[self._turn % len(LANES_IN_TURN)]:
            while heap := self._lanes[lane]:
                place, _, item = heap[0]
                if item.state != "queued" or item.lane != lane:
                    heapq.heappop(heap)
                elif (
                    place <= AGAIN_FIRST
                    or (rank := min((judged := self._judged(item.ticket)).rank, Rank.SPENT)) == lane
                ):
                    return lane
                elif rank < lane:
                    if lane is not Rank.SUNK:
                        return lane
                    self._raise(item.slot)
                    return self._next()
                else:
                    heapq.heappop(heap)
                    self._slots[item.slot] -= 1
                    self._push(item, judged)
        return None

    def _raise(self, slot: int) -> None:
        """What sank of a slot and stands better now goes to its lane at once, ahead of the rest of what sank."""
        for _, _, item in list(self._lanes[Rank.SUNK]):
            sank = item.state == "queued" and item.lane is Rank.SUNK and item.slot == slot
            if sank and (judged := self._judged(item.ticket)).rank < Rank.SUNK:
                self._slots[slot] -= 1
                self._push(item, judged)

"""The URLs of one host in its owner's memory, in order, and where each ticket came from. Pure."""

import heapq
import zlib
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from gregor.schemas.messages import Ticket
from gregor.worker.frontier.growth import ROW, Growth
from gregor.worker.frontier.section_turns import SectionTurns
from gregor.worker.links.rank import COMBINES, LOOKS_ENDLESS, Judged, Rank
from gregor.worker.links.shapes import counted, section, target_of, view

Judge: TypeAlias = Callable[[Ticket], Judged]
"""Says how a ticket stands among those of its host."""

LANES: Final = (Rank.OPEN, Rank.LARGE, Rank.SUNK, Rank.SPENT)
_SUNK_BEFORE: Final = (Rank.OPEN, Rank.SUNK, *LANES)
_OTHERS: Final = {4: _SUNK_BEFORE, 3: (Rank.LARGE, *LANES), 7: (Rank.SUNK, *LANES)}
LANES_IN_TURN: Final = tuple(_OTHERS.get(turn, LANES) for turn in range(8))
"""In which order the lanes are asked, by turn: one turn in eight is for what sank, one for what is large."""
IN_TURNS: Final = (Rank.LARGE, Rank.SUNK)
"""Lanes in which the sections of a site take turns."""
SLOTS: Final = 16
"""Parts of a back queue that have room of their own: for the open items, and for the others of each section."""
OPEN_SLOT: Final = 0
ANSWER_FIRST, BACK_FIRST = -2, -1
"""Places of what is asked before all that was judged: what other hosts wait for, before what came back."""
MOST_DEPTH: Final = 1 << 20

_OPEN: Final = Judged(Rank.OPEN)


def open_to_all(ticket: Ticket) -> Judged:
    """The judge where nothing is learnt."""
    return _OPEN


class FromLog(NamedTuple):
    """A frontier record."""

    priority: int
    offset: int


class FromBucket(NamedTuple):
    """A calendar entry."""

    bucket: int


class FromChunk(NamedTuple):
    """An entry of a host's backlog."""

    host: str
    chunk: int


TicketSource: TypeAlias = FromLog | FromBucket | FromChunk


class QueueItem:
    """A live ticket: one identity, one item. Followers are further sources of the same ticket; they finish with it.

    ``inherited``: the ticket was there at the takeover, so an earlier owner may have begun its visit. ``lenient``: its
    answer was malformed, and it is asked for once more. ``refused``: why it need not be visited; empty as a rule.
    ``shortages``: how often this machine could not ask for it.
    """

    __slots__ = (
        "followers",
        "inherited",
        "lane",
        "lenient",
        "refused",
        "shortages",
        "slot",
        "source",
        "state",
        "ticket",
    )

    def __init__(self, ticket: Ticket, source: TicketSource, inherited: bool) -> None:
        self.ticket = ticket
        self.source = source
        self.inherited = inherited
        self.lenient = False
        self.refused = ""
        self.lane = Rank.OPEN
        self.slot = OPEN_SLOT
        self.shortages = 0
        self.followers: list[TicketSource] = []
        self.state = "queued"  # then "visited" while its visit runs, "left" when it is no longer in the queue

    def sources(self) -> Iterable[TicketSource]:
        """Where it came from, the followers' sources after its own."""
        yield self.source
        yield from self.followers


class BackQueue:
    """Four lanes by rank: what grows without end sinks behind what does not, and nothing starves.

    In the open lane the best priority is first, then arrival. It is served before the others, which get a share of the
    turns while they wait; in the next two the sections of the site take turns, the rarer the more of a section waits.
    What is spent comes when nothing else is left: the deepest first, since what leads on shows itself there, and from
    all over its shapes. A rank may change while an item waits: it is asked again when the item would be next. An
    item that left is skipped.
    """

    def __init__(self, judge: Judge = open_to_all) -> None:
        self._judge = judge
        self._lanes: list[list[tuple[int, int, QueueItem]]] = [[] for _ in LANES]
        self._slots = [0] * SLOTS
        self._growth = Growth()
        self._sections: dict[str, int] = {}
        self._sequence = 0
        self._turn = 0
        self._turns = {lane: SectionTurns() for lane in IN_TURNS}

    def __len__(self) -> int:
        return sum(self._slots)

    def waiting(self, slot: int) -> int:
        """Items of a slot: all open ones have one, the sections of the site one each; those beyond share the last."""
        return self._slots[slot]

    def slot_of(self, ticket: Ticket) -> int:
        """The slot of a ticket as it is judged now."""
        return self._slot(self._judged(ticket))

    def takes(self, ticket: Ticket, size: int) -> bool:
        """Whether there is room for one more such ticket: each slot has `size` places, and one more for what is spent
        and deeper than all that waits, which is next."""
        judged = self._judged(ticket)
        slot = self._slot(judged)
        if judged.section:
            found_on = section(target_of(ticket.via)) if ticket.via else ""
            self._growth.came(judged.section, found_on, odd=judged.reason == LOOKS_ENDLESS)
        return self._slots[slot] < size or (judged.rank is Rank.SPENT and self._is_deepest(ticket))

    def _is_deepest(self, ticket: Ticket) -> bool:
        heap = self._lanes[Rank.SPENT]
        while heap and heap[0][2].state != "queued":
            heapq.heappop(heap)
        return not heap or _place_of_spent(ticket) >> 32 < heap[0][0] >> 32

    def put(self, item: QueueItem) -> None:
        """Add at the end of its priority. Tickets that were waiting before go ahead of new ones, and a robots.txt that
        another host asks for ahead of all: this one may itself be waiting for its answer."""
        if item.ticket.kind == "robots":
            self._sequence += 1
            self._add(item, Rank.OPEN, OPEN_SLOT, ANSWER_FIRST, self._sequence)
        else:
            self._push(item, self._judged(item.ticket))

    def put_back(self, item: QueueItem) -> None:
        """Return an item to the front."""
        self._sequence += 1
        place = ANSWER_FIRST if item.ticket.kind == "robots" else BACK_FIRST
        self._add(item, Rank.OPEN, OPEN_SLOT, place, -self._sequence)

    def take(self) -> QueueItem | None:
        """The first item, now being visited. `QueueItem.refused` says why it need not be."""
        lane = self._next()
        if lane is None:
            return None
        place, _, item = heapq.heappop(self._lanes[lane])
        if lane in IN_TURNS:
            self._turns[lane].serve(place)
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
        item.state = "visited"
        self._slots[item.slot] -= 1
        return item

    def first(self) -> QueueItem | None:
        """The item that `take` would give."""
        lane = self._next()
        return None if lane is None else self._lanes[lane][0][2]

    def remove(self, item: QueueItem) -> None:
        """Take an item out of the middle."""
        if item.state == "queued":
            item.state = "left"
            self._slots[item.slot] -= 1

    def _push(self, item: QueueItem, judged: Judged) -> None:
        self._sequence += 1
        lane = min(judged.rank, Rank.SPENT)
        place: int
        if lane is Rank.SPENT:
            place = _place_of_spent(item.ticket)
        elif lane in IN_TURNS:
            waiting = self._growth.of(judged.section).waiting
            place = self._turns[lane].place(judged.section, target_of(item.ticket.key), waiting)
        else:
            place = item.ticket.priority if item.ticket.kind == "new" else 0
        self._add(item, lane, self._slot(judged), place, self._sequence)

    def _add(self, item: QueueItem, lane: Rank, slot: int, place: int, sequence: int) -> None:
        item.state, item.lane, item.slot = "queued", lane, slot
        heapq.heappush(self._lanes[lane], (place, sequence, item))
        self._slots[slot] += 1

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
        if not judged.section or judged.rank > Rank.SUNK:
            return judged
        grown = self._growth.of(judged.section)
        if judged.rank is Rank.SUNK:
            return (
                judged._replace(rank=Rank.OPEN) if judged.reason in (LOOKS_ENDLESS, COMBINES) and grown.ends else judged
            )
        return judged._replace(rank=Rank.SUNK) if grown.grows or grown.odd else judged

    def _slot(self, judged: Judged) -> int:
        if judged.rank is Rank.OPEN:
            return OPEN_SLOT
        if judged.section not in self._sections and len(self._sections) < SLOTS - 2:
            self._sections[judged.section] = 1 + len(self._sections)
        return self._sections.get(judged.section, SLOTS - 1)

    def _next(self) -> Rank | None:
        """The lane whose first item is next; items that sank meanwhile were moved."""
        for lane in LANES_IN_TURN[self._turn % len(LANES_IN_TURN)]:
            while heap := self._lanes[lane]:
                place, _, item = heap[0]
                if item.state != "queued" or item.lane != lane:
                    heapq.heappop(heap)
                elif place < 0 or (rank := min((judged := self._judged(item.ticket)).rank, Rank.SPENT)) == lane:
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
        """What sank of a slot and stands better now goes to its lane at once: it need not wait for turns beside the
        rest of what sank."""
        for _, _, item in list(self._lanes[Rank.SUNK]):
            sank = item.state == "queued" and item.lane is Rank.SUNK and item.slot == slot
            if sank and (judged := self._judged(item.ticket)).rank < Rank.SUNK:
                self._slots[slot] -= 1
                self._push(item, judged)


def _place_of_spent(ticket: Ticket) -> int:
    """The deepest first, and those of one depth in no order that a site could choose."""
    return (MOST_DEPTH - min(ticket.depth, MOST_DEPTH)) << 32 | zlib.crc32(ticket.key.encode())

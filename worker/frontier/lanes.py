"""The lanes and slots of a back queue, and the places of what waits there. Pure."""

import zlib
from collections.abc import Sequence
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.frontier.queue_item import QueueItem
from gregor.worker.links.ordering.quantiles import BANDS
from gregor.worker.links.ordering.standings import FIRST
from gregor.worker.links.rank import LOOKS_DATED, LOOKS_PAST, Rank

LANES: Final = (Rank.OPEN, Rank.LARGE, Rank.SUNK, Rank.SPENT)
_SUNK_BEFORE: Final = (Rank.OPEN, Rank.SUNK, *LANES)
_OTHERS: Final = {4: _SUNK_BEFORE, 3: (Rank.LARGE, *LANES), 7: (Rank.SUNK, *LANES)}
LANES_IN_TURN: Final = tuple(_OTHERS.get(turn, LANES) for turn in range(8))
"""In which order the lanes are asked, by turn: one turn in eight is for what sank, one for what is large."""
IN_TURNS: Final = (Rank.LARGE, Rank.SUNK)
"""Lanes in which the sections of a site take turns."""
SLOTS: Final = 16
"""Parts of a back queue that have room of their own: for the open items, and for the others of each section."""
_OFTEN: Final = {LOOKS_DATED: 6.0, LOOKS_PAST: 0.25}
"""Turns of what sank for its dates alone, for each of another section: most such pages are of archives, until they go
past all dates that pages are of."""
_FEW: Final = 16
_FEWS_TURNS: Final = 2.0
SCORED_SLOTS: Final = len(BANDS) + 1
"""Where a policy scores, the open items of each band have a slot of their own, before those of the sections."""
ANSWER_FIRST, BACK_FIRST, AGAIN_FIRST = -4 * FIRST, -3 * FIRST, -2 * FIRST
"""Places of what is asked before all that was judged: what other hosts wait for, before what came back."""
MOST_DEPTH: Final = 1 << 20
MOST_TIMES: Final = 4
"""Entries that items in the open lane have on average at most: each rise leaves one behind."""

FIRST_PLACES: Final = 64
"""Items that a slot may have, at least, where each is worth more than all that waited before it came."""
SUNK_COUNTS: Final = 0.5
"""What a URL that sank is worth, where hosts are compared."""


def place_of_spent(ticket: Ticket) -> int:
    """The deepest first, and those of one depth in no order that a site could choose."""
    return (MOST_DEPTH - min(ticket.depth, MOST_DEPTH)) << 32 | zlib.crc32(ticket.key.encode())


def worth_of_next(
    open_items: Sequence[tuple[float, int, QueueItem]], sunk: Sequence[tuple[float, int, QueueItem]]
) -> float:
    """What the next URL of a host is worth, where hosts are compared. Of two with URLs that are worth as much that is
    first where they look sound; where all sank, as in a large section, it is still before hosts that lead to little."""
    if open_items:
        return -open_items[0][0]
    return SUNK_COUNTS * sunk[0][2].worth if sunk else -FIRST


def how_often(reason: str, waiting: int) -> float:
    """The turns of a section in a lane where sections take turns, for each of another one. ``reason``: why it is there;
    ``waiting``: how many of its tickets wait. Where few do, each page leads to the next few: that costs a page a step,
    and what grows without end costs ever more."""
    return _OFTEN.get(reason, _FEWS_TURNS if waiting <= _FEW else 1.0)

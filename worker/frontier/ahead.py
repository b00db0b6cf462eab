"""Dates that a clock wrote while it was ahead, brought back to what they would have been.

From every date beyond half of the way what a crawl is ahead of the clock of now is taken. Dates before that were
written by right clocks.
"""

from typing import Final, NamedTuple, TypeVar

import msgspec

from gregor.schemas.messages import Ticket

T = TypeVar("T")

MARGIN: Final = 3600.0
"""Seconds that a crawl may be ahead: more than summer time and drift."""
CLOCK: Final = "clock"
"""The place of the fault."""
_DATES: Final = frozenset(
    {
        *("at", "due", "expires", "fetched_at", "first_seen", "gone_since", "good_at"),
        *("not_before", "ordered", "rules", "since", "until"),
    }
)
"""Fields of messages and records that are unix seconds of the crawl's own time."""
_WAITS: Final = frozenset({"not_before", "until"})
"""Those of them that say how long somebody waits."""
LONGEST_WAIT: Final = 86400.0
"""Seconds: within so many a wait may be one that was ordered by a right clock. Then it stays: waiting longer harms
nobody."""


class Ahead(NamedTuple):
    """How far a crawl is ahead of ``now``, unix seconds."""

    seconds: float
    now: float

    @property
    def border(self) -> float:
        """Dates beyond it were written while the clock was ahead."""
        return self.now + self.seconds / 2

    def back(self, date: float) -> float:
        """A date as it would have been."""
        return date - self.seconds if date > self.border else date

    def wait_back(self, until: float) -> float:
        """The same of the end of a wait."""
        return self.back(until) if until > self.now + LONGEST_WAIT else until


def days(seconds: float) -> str:
    """So much time, for people."""
    return f"{seconds / 86400:.1f} days"


def apart(seconds: float) -> str:
    """On which side of another clock one is that is so much ahead of it, for people."""
    return f"{days(seconds)} ahead of" if seconds > 0 else f"{days(-seconds)} behind"


def in_words(seconds: float) -> str:
    """Why that is a fault."""
    return f"its dates are {days(seconds)} ahead of this machine's clock"


def dated_back(value: T, ahead: Ahead) -> T:
    """A record with its dates brought back, those of the records in it as well; itself where there is none."""
    if isinstance(value, msgspec.Struct):
        changes = {}
        for name in value.__struct_fields__:
            part = getattr(value, name)
            date = name in _DATES and isinstance(part, float)
            back = ahead.wait_back if name in _WAITS else ahead.back
            changed = back(part) if date else dated_back(part, ahead)
            if changed is not part:
                changes[name] = changed
        return msgspec.structs.replace(value, **changes) if changes else value
    if isinstance(value, tuple):
        parts = tuple(dated_back(part, ahead) for part in value)
        if any(new is not old for new, old in zip(parts, value, strict=True)):
            return parts  # type: ignore[return-value]
    return value


def in_time(ticket: Ticket, now: float) -> Ticket:
    """A ticket that was made by ``now`` at the latest, with what else it says of time as long after."""
    ahead = ticket.at - now
    return ticket if ahead <= MARGIN else dated_back(ticket, Ahead(ahead, now))

"""Whether this machine's own line is down: when all that is asked fails at once, that is no fault of the hosts. Pure.

What speaks for it are hosts that answered lately and can no longer be reached, one after another, while nobody answers
at all; and, before anybody did, names that no resolver answers for. Hosts that never answered say nothing else: lists
are full of dead ones. Times are seconds of one clock that never goes back.
"""

from collections import OrderedDict
from enum import Enum
from typing import Final

HOSTS: Final = 3
"""Hosts in a row that answered lately and cannot be reached: then the line is down."""
NAMES: Final = 5
"""Names in a row that nobody answers for, before any host did."""
LATELY: Final = 300.0
"""Seconds for which an answer says that a host is there."""
DOUBT: Final = 2.0
"""Seconds after which a host is asked once more that cannot be reached, before it is known whose fault that is."""
SOONEST, LATEST = 1.0, 30.0
"""Seconds from one look whether the line is back to the next: at first, doubled each time, and at most."""
MOST_WAIT: Final = 300.0
"""Seconds for which a host's turn is put off at most. An answer to another one brings it back at once."""
PATIENCE: Final = 600.0
"""Seconds for which the line is believed to be down if one address alone cannot be reached, which may just as well be
down itself; so often as long as the square of how many addresses there are."""
LONGEST: Final = 86400.0
"""Seconds for which it is believed at most."""

_KNOWN: Final = 4096


class Blame(Enum):
    """Whose fault it is that a host could not be reached."""

    HOST = "host"
    NOBODY_YET = "nobody yet"
    LINE = "line"


class OwnLine:
    """What tells of the line of one worker."""

    def __init__(self) -> None:
        self._answered: OrderedDict[str, float] = OrderedDict()  # when each host answered last, the latest last
        self._any_answer = False  # anybody ever answered
        self._failing: dict[str, str] = {}  # hosts that cannot be reached since anybody answered, and at what address
        self._unnamed: set[str] = set()  # hosts whose names nobody answered for, likewise
        self._doubted: set[str] = set()  # hosts that were asked once more for that, and did not answer since
        self._since: float | None = None  # when it was found to be down
        self._back = float("-inf")  # when it came back last
        self._look_at = 0.0
        self._pause = SOONEST
        self._held = 0  # turns that were put off since the last look

    def down(self, now: float) -> bool:
        """Whether it is believed to be down."""
        return self._since is not None and now - self._since <= self._believed_for

    def answered(self, host: str, now: float) -> bool:
        """A host answered. Whether the line had been believed to be down until then."""
        was_down, self._since = self.down(now), None
        self._answered[host] = now
        self._answered.move_to_end(host)
        if len(self._answered) > _KNOWN:
            forgotten, _ = self._answered.popitem(last=False)
            self._doubted.discard(forgotten)  # only a host that answered is ever doubted
        self._any_answer = True
        self._failing.clear()
        self._unnamed.clear()
        self._doubted.discard(host)
        if was_down:
            self._back = now
            self._doubted.clear()
        return was_down

    def failed(self, host: str, address: str, now: float, *, sent: bool = False) -> Blame:
        """A host could not be reached at an address; its name could not be looked up where that is empty. ``sent``: a
        request was written, so the connection stood: no sign of the line's, though it may be its fault."""
        is_known = now - self._answered.get(host, float("-inf")) <= LATELY
        if is_known and not sent:
            self._failing[host] = address
        elif not address and not self._any_answer:
            self._unnamed.update((host,) if len(self._unnamed) < NAMES else ())
        if self._since is None and (len(self._failing) >= HOSTS or len(self._unnamed) >= NAMES):
            self._since, self._pause, self._held, self._look_at = now, SOONEST, 0, now + SOONEST
        if self.down(now):
            return Blame.LINE
        if is_known and not sent and self._since is None and host not in self._doubted and self._others(host, now):
            self._doubted.add(host)
            return Blame.NOBODY_YET
        return Blame.HOST

    def wait(self, now: float) -> float:
        """Seconds for which a turn has to wait that would ask now; 0 if it may: a look whether the line is back. Those
        that wait come one after another, so that there is always one to look."""
        if not self.down(now):
            return 0.0
        if now >= self._look_at:
            self._look_at, self._held = now + self._pause, 0
            self._pause = min(2 * self._pause, LATEST)
            return 0.0
        wait = self._look_at - now + self._held * self._pause
        self._held += 1
        return min(wait, MOST_WAIT)

    def came_back(self, now: float, within: float) -> bool:
        """Whether it was down until lately: what failed before may be remembered for so many seconds."""
        return now - self._back <= within

    def _others(self, host: str, now: float) -> bool:
        """Whether enough other hosts answered lately that the line could be told from this one."""
        latest = [name for name in list(reversed(self._answered))[:HOSTS] if name != host]
        return sum(now - self._answered[name] <= LATELY for name in latest) >= HOSTS - 1

    @property
    def _believed_for(self) -> float:
        return min(LONGEST, PATIENCE * max(1, len(set(self._failing.values()))) ** 2)

"""What a worker's requests tell of its own line, and the turns that wait until it is back."""

from collections.abc import Callable, Hashable
from typing import Final

from gregor.worker.borders.transport import Permit
from gregor.worker.fetch.held import InDoubt, LineDown
from gregor.worker.fetch.outcomes import Broken, Failed, Outcome
from gregor.worker.fetch.own_line import DOUBT, Blame, OwnLine
from gregor.worker.observe.logging import logs

_UNREACHED: Final = frozenset({"connect", "dns", "proxy", "timeout"})
"""Causes of failures that may be the line's."""
_ANSWERED: Final = frozenset({"protocol", "too_large_headers", "decode", "legacy_tls"})
"""Causes of failures that show that somebody answered."""

_LOG = logs("fetch")


class NotingPermit:
    """The permit of a request, which notes besides whether the request was written."""

    __slots__ = ("_permit", "was_sent")

    def __init__(self, permit: Permit) -> None:
        self._permit = permit
        self.was_sent = False

    def allows(self) -> bool:
        """See `Permit.allows`."""
        return self._permit.allows()

    def sent(self) -> None:
        """See `Permit.sent`."""
        self.was_sent = True
        self._permit.sent()


class LineWatch:
    """Is told how each request ended. ``remembered``: seconds for which a failed look-up of a name holds."""

    def __init__(self, remembered: float, monotonic: Callable[[], float]) -> None:
        self._now = monotonic
        self._line = OwnLine()
        self._remembered = remembered
        self._waiting: dict[Hashable, Callable[[], bool]] = {}

    @property
    def down(self) -> bool:
        """Whether the line is believed to be down."""
        return self._line.down(self._now())

    def ask(self) -> None:
        """A host's turn is about to ask. Raises `LineDown` if it has to wait."""
        if wait := self._line.wait(self._now()):
            raise LineDown(wait, self._waiting)

    def note(self, host: str, address: str, outcome: Outcome, sent: bool) -> None:
        """What a request came to; ``address``: where it went, empty if that was not found; ``sent``: it was written.
        Raises `LineDown` or `InDoubt` if that is not to count against the host."""
        match outcome:
            case Failed(cause, status=0) if cause in _UNREACHED:
                self._unreached(host, address, cause, sent)
            case Failed(status=0) | Broken(status=0):
                if outcome.cause in _ANSWERED:
                    self.answered(host)
            case _:
                pass

    def answered(self, host: str) -> None:
        """A host answered: whoever waits for the line goes on."""
        if self._line.answered(host, self._now()):
            waiting = list(self._waiting.values())
            self._waiting.clear()
            for wake in waiting:
                wake()
            _LOG.info("the line is back: what waited for it is asked", waited=len(waiting))

    def _unreached(self, host: str, address: str, cause: str, sent: bool) -> None:
        now, was_down = self._now(), self.down
        if cause == "dns" and not was_down and self._line.came_back(now, self._remembered):
            raise LineDown(self._remembered, self._waiting)  # found while it was down, and still remembered
        blame = self._line.failed(host, address, now, sent=sent)
        if blame is Blame.NOBODY_YET:
            raise InDoubt(DOUBT)
        if blame is Blame.LINE:
            if not was_down:
                _LOG.warning(
                    "nothing that is asked can be reached: this machine's own line seems to be down, so URLs wait, a "
                    "few hosts are asked from time to time, and no failure counts against any"
                )
            raise LineDown(max(DOUBT, self._line.wait(now)), self._waiting)

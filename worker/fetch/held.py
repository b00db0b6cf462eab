"""Why a request cannot be made yet: the turn ends without it, and takes no place among the visits until it can."""

from collections.abc import Callable, Hashable

from gregor.worker.fetch.address_state import AddressState
from gregor.worker.frontier.revisit_share import VisitsAgain


class TurnHeld(Exception):
    """Nothing was sent, or nothing came of it that counts. The turn waits for something, ``seconds`` at most."""

    seconds: float

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """Call once when what is waited for has come. The call says whether ``who`` still waited for it."""
        raise NotImplementedError


class AddressBusy(TurnHeld):
    """An address has no room yet, or is another worker's."""

    def __init__(self, state: AddressState, host: str, seconds: float) -> None:
        super().__init__(state.address)
        self._state = state
        self._host = host
        self.seconds = seconds

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """See `TurnHeld.call_when_over`."""
        self._state.waiting[self._host] = call


class NameAwaited(TurnHeld):
    """A name is still being looked up."""

    seconds = 60.0

    def __init__(self, call_when_done: Callable[[Callable[[object], object]], None]) -> None:
        super().__init__("a name is still being looked up")
        self._call_when_done = call_when_done

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """See `TurnHeld.call_when_over`."""
        self._call_when_done(lambda _: call())


class LineDown(TurnHeld):
    """Nothing that is asked can be reached, so it is this machine's own line: the turn waits until somebody answers."""

    def __init__(self, seconds: float, waiting: dict[Hashable, Callable[[], bool]]) -> None:
        """``waiting``: what to call when it is back, each host once."""
        super().__init__("nothing that is asked can be reached")
        self.seconds = seconds
        self._waiting = waiting

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """See `TurnHeld.call_when_over`."""
        self._waiting[who] = call


class InDoubt(TurnHeld):
    """The host could not be reached, and nobody can say yet whether that is its fault: it is asked once more."""

    def __init__(self, seconds: float) -> None:
        super().__init__("it is asked once more")
        self.seconds = seconds

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """The time alone ends it."""


class RevisitHeld(TurnHeld):
    """Visits of known pages had their share of the requests: this one waits until there is more of it."""

    def __init__(self, again: VisitsAgain, seconds: float) -> None:
        super().__init__("visits of known pages had their share")
        self._again = again
        self.seconds = seconds

    def call_when_over(self, who: Hashable, call: Callable[[], bool]) -> None:
        """See `TurnHeld.call_when_over`."""
        self._again.hold(call)

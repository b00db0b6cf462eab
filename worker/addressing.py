"""How many requests run to each IP address, and who waits for one to end. Pure."""

from collections.abc import Callable, Hashable


class AddressGate:
    """`limit` requests at once to one address; None: no limit. Memory holds addresses in use, and each waiter once."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._running: dict[str, int] = {}
        self._waiting: dict[str, dict[Hashable, Callable[[], bool]]] = {}

    def enter(self, address: str) -> bool:
        """Begin a request; False when the address has no room."""
        if self._limit is None or not address:
            return True
        running = self._running.get(address, 0)
        if running >= self._limit:
            return False
        self._running[address] = running + 1
        return True

    def wait(self, address: str, who: Hashable, call: Callable[[], bool]) -> None:
        """Call when the address has room again; once, however often ``who`` waits. False: the room is another's."""
        self._waiting.setdefault(address, {})[who] = call

    def leave(self, address: str) -> None:
        """A request ended."""
        if self._limit is None or not address:
            return
        self._running[address] -= 1
        if not self._running[address]:
            del self._running[address]
        waiting = self._waiting.get(address, {})
        while waiting:
            if waiting.pop(next(iter(waiting)))():
                break
        if not waiting:
            self._waiting.pop(address, None)

"""How many requests run to each IP address, and who waits for one to end. Pure."""

from collections import deque
from collections.abc import Callable


class AddressGate:
    """`limit` requests at once to one address; None: no limit. Memory holds addresses in use only."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._running: dict[str, int] = {}
        self._waiting: dict[str, deque[Callable[[], None]]] = {}

    def enter(self, address: str) -> bool:
        """Begin a request; False when the address has no room."""
        if self._limit is None or not address:
            return True
        running = self._running.get(address, 0)
        if running >= self._limit:
            return False
        self._running[address] = running + 1
        return True

    def wait(self, address: str, call: Callable[[], None]) -> None:
        """Call once when the address has room again."""
        self._waiting.setdefault(address, deque()).append(call)

    def leave(self, address: str) -> None:
        """A request ended."""
        if self._limit is None or not address:
            return
        self._running[address] -= 1
        if not self._running[address]:
            del self._running[address]
        if waiting := self._waiting.get(address):
            call = waiting.popleft()
            if not waiting:
                del self._waiting[address]
            call()

"""Origins that offer HTTP/2 and are better asked in HTTP/1.1 for a while. Pure; monotonic times in seconds."""

from collections import OrderedDict
from typing import Final

from gregor.worker.borders.transport import FetchResult, Response

REMEMBERED: Final = 10_000
"""Origins that are kept in mind."""
WHILE: Final = 3600.0
"""Seconds until HTTP/2 is tried again: servers change, and what wanted HTTP/1.1 may have been one resource."""
RESETS: Final = 2
"""Streams reset one after another after which HTTP/2 is given up for a while: one reset is an accident."""


class Http1Origins:
    """Those that asked for it (HTTP_1_1_REQUIRED, RFC 9113 section 7), and those whose streams are reset every time."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()
        self._resets: OrderedDict[str, int] = OrderedDict()

    def holds(self, origin: str, now: float) -> bool:
        """Whether to speak HTTP/1.1 with an origin now."""
        return self._until.get(origin, 0.0) > now

    def note(self, origin: str, result: FetchResult, now: float, *, reset: bool) -> None:
        """What came of a request that could be made in HTTP/2; `reset`: its stream was reset."""
        if isinstance(result, Response):
            self._resets.pop(origin, None)
        elif result.kind == "downgrade":
            self._remember(self._until, origin, now + WHILE)
        elif reset:
            times = self._resets.pop(origin, 0) + 1
            if times >= RESETS:
                self._remember(self._until, origin, now + WHILE)
            else:
                self._remember(self._resets, origin, times)

    @staticmethod
    def _remember(known: "OrderedDict[str, float] | OrderedDict[str, int]", origin: str, value: int | float) -> None:
        known.pop(origin, None)
        known[origin] = value  # type: ignore[assignment]
        if len(known) > REMEMBERED:
            known.popitem(last=False)

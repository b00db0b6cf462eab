"""What is told of a server that is away for long: one line, one more from time to time, and that it is back."""

import time
from collections.abc import Callable
from typing import Final

from gregor.worker.borders.errors import Unavailable
from gregor.worker.observe.logging import logs

_log = logs("index")
AGAIN: Final = 300.0
"""Seconds after which it is told again that a server is still away."""


class Away:
    """Tells of servers that keep an index from being written."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` gives monotonic seconds."""
        self._clock = clock
        self._since: dict[str, float] = {}
        self._last_lines: dict[tuple[str, str], float] = {}

    def warn(self, error: Unavailable) -> None:
        """A server could not do what was asked."""
        now, kind = self._clock(), (error.service, error.condition)
        self._since.setdefault(error.service, now)
        if now - self._last_lines.get(kind, -AGAIN) >= AGAIN:
            self._last_lines[kind] = now
            _log.warning("the index cannot be written now", why=str(error))

    def back(self, service: str) -> None:
        """A server did what was asked."""
        if not self._since or (since := self._since.pop(service, None)) is None:
            return
        self._last_lines = {kind: at for kind, at in self._last_lines.items() if kind[0] != service}
        _log.warning("the index is written again", service=service, seconds=round(self._clock() - since, 1))

"""One of the processes of a crawl, as the process knows it that began it."""

import sys
import time
from asyncio.subprocess import Process
from contextlib import suppress
from typing import Final

from gregor.worker.compose.words import Broke, ToWorker, encoded
from gregor.worker.inspect.rates import Meter
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending

_LONG_LINE: Final = 1 << 16
"""Bytes of a line that is shown before its end."""


class Member:
    """A process as it is known here."""

    def __init__(self, process: Process, number: int, place: int) -> None:
        """``number``: how many were begun before it, at whatever ``place``."""
        self.process = process
        self.number = number
        self.place = place
        self.begun = time.monotonic()
        self.name = self.api = ""
        self.ending: Ending | None = None
        self.failed: Broke | None = None
        self.gates: set[str] = set()
        """Under which names it asked for turns of addresses."""
        self.queued: dict[int, int] = {}
        self.stats = Stats()
        self.meter = Meter()

    def say(self, word: ToWorker) -> None:
        """It hears it soon, unless it has ended."""
        if self.process.stdin is not None and not self.process.stdin.is_closing():
            self.process.stdin.write(encoded(word))

    async def relay(self) -> None:
        """Show what it writes to standard error, where a live view may be: lines, but for very long ones."""
        pipe, begun = self.process.stderr, b""
        assert pipe is not None
        while piece := await pipe.read(_LONG_LINE):
            lines, newline, begun = (begun + piece).rpartition(b"\n")
            if len(begun) > _LONG_LINE:  # it is not remembered: whoever writes it waits for room in the pipe
                lines, newline, begun = lines + newline, begun, b""
            _show(lines + newline)
        _show(begun)


def _show(text: bytes) -> None:
    with suppress(OSError):
        sys.stderr.write(text.decode(errors="replace"))
        sys.stderr.flush()


def in_words(code: int) -> str:
    """An exit code of a process."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"

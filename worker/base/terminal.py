"""A terminal on which lines are drawn again in place, while what else is written to it scrolls by above them."""

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from io import TextIOBase
from typing import Final, TextIO, cast

from gregor.worker.base.errors import speaks_json

SHOW_CURSOR: Final = "\x1b[?25h"
_HIDE_CURSOR: Final = "\x1b[?25l"
_CUT: Final = "\x1b[?7l", "\x1b[?7h"
"""Between these a terminal cuts lines that are too long instead of wrapping them, which would spoil the count."""
_REST_OF_LINE: Final = "\x1b[K"
_BELOW: Final = "\x1b[J"
_USUAL: Final = os.terminal_size((80, 24))


def redraws(out: TextIO) -> bool:
    """Whether something can be drawn again in place there."""
    return out.isatty() and os.environ.get("TERM") != "dumb" and not speaks_json()


class Panel:
    """The last lines of a terminal. Any thread may draw, and write above."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lines: Sequence[str] = ()
        self._lock = threading.RLock()

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines of the terminal as it is now."""
        try:
            size = os.get_terminal_size(self._out.fileno())
        except OSError:
            return _USUAL
        return size if all(size) else _USUAL

    def draw(self, lines: Sequence[str]) -> None:
        """These instead of those before; as many as there is room for. Raises `OSError`."""
        with self._lock:
            start = self._start()
            self._lines = lines[: self.size.lines - 1]
            self._write(start + self._drawn())

    def above(self, text: str) -> None:
        """Whole lines that stay. Raises `OSError`."""
        with self._lock:
            self._write(f"{self._start()}{_BELOW}{text}{self._drawn()}")

    def _start(self) -> str:
        """To the first column of the first line."""
        up = len(self._lines) - 1
        return f"\x1b[{up}A\r" if up > 0 else "\r"

    def _drawn(self) -> str:
        return "\n".join(f"{line}{_REST_OF_LINE}" for line in self._lines).join(_CUT) + _BELOW

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class _Above(TextIOBase):
    """Standard error for others, line by line."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._begun = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        lines, newline, self._begun = (self._begun + text).rpartition("\n")
        if newline:
            self._panel.above(lines + newline)
        return len(text)

    def end(self) -> None:
        """What is no whole line yet."""
        if self._begun:
            self.write("\n")


@contextlib.contextmanager
def panel(out: TextIO) -> Iterator[Panel]:
    """A panel there, below which all goes on at the end. What is written to standard error stands above it. Raises
    `OSError`."""
    shown = Panel(out)
    others = _Above(shown)
    out.write(_HIDE_CURSOR)
    try:
        with contextlib.redirect_stderr(cast(TextIO, others)):
            yield shown
    finally:
        others.end()
        out.write(f"\n{SHOW_CURSOR}")
        out.flush()

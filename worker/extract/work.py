"""What rules may cost on one page: markup whose elements stand within each other is read again for each of them."""

from typing import Final

from gregor.worker.extract.model import Spent
from gregor.worker.read.native import Core

MOST: Final = 250_000
"""Steps on one page: each about 2 µs, which is what a piece of text costs that is read."""
_OWN: Final = 32
"""Characters of the page that allow for a step more: large pages have much to read without any nesting."""
_COUNTED: Final = 128
"""Characters of markup that are written, to count them, in one step."""
_WALKED: Final = 512
"""Characters of markup that a selector of CSS walks over in one step."""
_TAGS: Final = 2
_PARSED: Final = 256
"""Tags and, beside them, characters of markup that are parsed in one step."""
_PASSED: Final = 16
"""Nodes that an XPath passes, or ancestors that are looked at, in one step."""
_TAKEN: Final = 32
"""Characters of text that are taken in one step."""


class Work:
    """What is left of it. Its methods raise `Spent` once nothing is."""

    def __init__(self, size: float = 0, most: int = MOST, core: Core | None = None) -> None:
        """``size``: the bytes of the page; ``most``: the steps beside those that it allows for; ``core``: what does
        some of it natively, at the same price."""
        self._left = most + size / _OWN
        self.core = core

    def steps(self, steps: float) -> None:
        """So many steps are made."""
        self._left -= steps
        if self._left < 0:
            raise Spent("its elements are nested too often for so much of them to be read")

    def count(self, characters: int) -> None:
        """Markup of that length is written."""
        self.steps(characters / _COUNTED)

    def walk(self, characters: int) -> None:
        """Markup of that length is walked over."""
        self.steps(characters / _WALKED)

    def parse(self, markup: str) -> None:
        """It is parsed."""
        self.steps(markup.count("<") / _TAGS + len(markup) / _PARSED)

    def nodes(self, passed: float) -> None:
        """So many nodes are passed without being read."""
        self.steps(passed / _PASSED)

    def take(self, characters: int) -> None:
        """A piece of text of that length is taken: a step of its own."""
        self.take_all(1, characters)

    def take_all(self, pieces: int, characters: int) -> None:
        """So many pieces of text are taken, of that length together."""
        self.steps(pieces + characters / _TAKEN)


def unbounded() -> Work:
    """For what reads a thing once."""
    return Work(float("inf"))

"""The border to what several processes of one crawl count together, for budgets that are the whole crawl's."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Beside(NamedTuple):
    """What all other processes of the crawl have: visits that run, and pages that this run visited."""

    running: int = 0
    visited: int = 0


class CountedTogether(Protocol):
    """One process's view. No method waits."""

    def put(self, running: int, visited: int) -> Beside:
        """Say what this process has; what the others have, as one step: of two that say it one hears of the other."""

    def stored(self) -> Mapping[str, int] | None:
        """ "pages_200", "bytes" and "requisites" of the whole crawl, as they are stored now; None: they are counted by
        this process alone. Raises `Unavailable`."""


class Alone:
    """`CountedTogether` of a process that is the whole crawl."""

    def put(self, running: int, visited: int) -> Beside:
        """Nobody else has anything."""
        return Beside()

    def stored(self) -> Mapping[str, int] | None:
        """Counted here."""
        return None

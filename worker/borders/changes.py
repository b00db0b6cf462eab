"""The border of those who follow what a crawl stores, changes and removes."""

from typing import Protocol

import msgspec

from gregor.schemas.messages import Page, Row


class UrlChange(msgspec.Struct, frozen=True):
    """How a URL stands now that it has changed: its newest page (None: none is kept, or it is damaged) and its row."""

    position: int  # grows with every change
    key: str
    page: Page | None
    row: Row | None


class ChangeFeed(Protocol):
    """Every URL of which something is or was kept, in the order of its last change.

    A change is there as soon as what changed is: both are one write. A URL that changes again moves to the end, so that
    whoever begins at 0 reads each once, as it stands. What was read may be read again from any position.
    Each call may raise `Unavailable`.
    """

    async def changes(self, after: int, limit: int) -> list[UrlChange]:
        """The next changes behind a position, ascending; [] when nothing has changed since.

        At most so many, and fewer, but one at least, where their pages are large.
        """

    async def end(self) -> int:
        """The position of the last change; 0 without one."""

    async def close(self) -> None:
        """End what it reads with. Nothing else may be called afterwards, but this again."""

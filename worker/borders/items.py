"""The border of those who make the items or classes of stored pages anew, beside the crawl's workers."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gregor.schemas.items import StoredItem


class ItemSet(msgspec.Struct, frozen=True):
    """What rules made of a version of a page now. ``asked``: the rules; what others found stays."""

    key: str
    visit: int
    items: list[StoredItem]
    asked: frozenset[str]
    classified: tuple[str, float] | None = None
    """The class that a model gives it now, and how likely that is; None: no model was asked, and it stays."""


class ItemWriter(Protocol):
    """Puts sets of items in the place of those of stored pages. Every method may raise `Unavailable`."""

    async def put(self, sets: Sequence[ItemSet]) -> int:
        """Each with its page in one write; how many pages were still there. The same again changes nothing."""

    async def close(self) -> None:
        """End. Nothing else may be called afterwards, but this again."""

"""The border to the seen set."""

from collections.abc import Sequence
from typing import Protocol


class SeenSet(Protocol):
    """A filter of URLs that have a row or an entry, and the owners of content fingerprints.

    It may forget, which costs reads, and never says True of what was not marked but for a fingerprint that two URLs
    share. Every method may raise `Unavailable`, and may be called again with the same arguments.
    """

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]:
        """Whether each was marked, in the order asked; fingerprints are unsigned 64-bit numbers. [] for none."""

    async def mark(self, fingerprints: Sequence[int]) -> None:
        """Mark them, durable as far as the engine goes; again changes nothing. Nothing for none."""

    async def forget(self, fingerprints: Sequence[int]) -> None:
        """They were never marked: nothing is kept of these URLs any more. Nothing for what is not marked, or none."""

    async def disown(self, fingerprint: bytes, key: str) -> None:
        """The page of this key owns the content no more, if it does: it is about to be deleted."""

    async def content(self, fingerprint: bytes) -> str | None:
        """The key of the page that owns this content; None if none does, or that was forgotten."""

    async def claim(self, fingerprint: bytes, key: str) -> str:
        """Set if absent; the key that owns the content now. Only for a page that is stored; it owns while it lasts.

        The same claim again answers the same. Of two at once one wins, and both hear which.
        """

    async def close(self) -> None:
        """End. Nothing else may be called afterwards, but this again."""

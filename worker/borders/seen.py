"""The border to the seen set."""

from collections.abc import Sequence
from typing import Protocol


class SeenSet(Protocol):
    """A filter of URLs that have a row or an entry, and the owners of content fingerprints."""

    async def seen(self, fingerprints: Sequence[int]) -> list[bool]: ...

    async def mark(self, fingerprints: Sequence[int]) -> None: ...

    async def content(self, fingerprint: bytes) -> str | None:
        """The key of the page that owns this content."""

    async def claim(self, fingerprint: bytes, key: str) -> str:
        """Set if absent; the key that owns the content now. Only for a page that is stored; it owns while it lasts."""

    async def close(self) -> None: ...

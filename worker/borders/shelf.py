"""The border to what the workers of an index on servers remember together, beside its documents.

Every write carries a stamp of its partition's owner; an older owner's loses. Each may raise `Unavailable`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from gregor.schemas.messages import Row


class UrlToIndex(msgspec.Struct, frozen=True):
    """That a URL is to be looked at: a page of it was stored, or it stands otherwise (``change``, see `StateEvent`)."""

    key: str
    visit: int = 0
    change: str = ""
    requisite: bool = False

    def settled(self, row: Row | None) -> Row | None:
        """The row as it will stand: what is told may come before the row is written."""
        if row is None or self.visit < row.visits:
            return row
        state = self.change or "fetched"
        if self.change == "erased" or (self.visit == row.visits and row.requisite == self.requisite):
            return row
        return msgspec.structs.replace(row, state=state, requisite=self.requisite)


class Post(msgspec.Struct, frozen=True, array_like=True):
    """What index workers tell each other: a URL to be looked at, or a content whose document is to be written."""

    look: str = ""
    write: str = ""


class IndexedUrl(msgspec.Struct, frozen=True):
    """How a URL was indexed: its content ("": it is not to be found), and where its links lead, with their words.

    While that is replaced: how it was, with the contents that it may be under instead (``pending``), and the links of
    both.
    """

    content: str = ""
    links: Sequence[tuple[str, int]] = ()
    host: str = ""
    ranked: bytes = b""  # the links by which ranks are computed, see `RankedLinks`; not given when it is read
    pending: Sequence[str] = ()

    def contents(self) -> list[str]:
        """All contents that it may be under, each once."""
        return list(dict.fromkeys(content for content in (self.content, *self.pending) if content))


class RankedLinks(msgspec.Struct, frozen=True):
    """Where the links of a URL lead by which ranks are computed: pairs of 64 bits (little-endian), the number of the
    target and that of the words (`gregor.search.links`)."""

    key: str
    host: str
    links: bytes


class Held(msgspec.Struct, frozen=True):
    """A URL of a content."""

    key: str
    visit: int
    duplicate: bool
    depth: int


class LinkWords(msgspec.Struct, frozen=True):
    """What links of a host say that lead to a URL."""

    host: str
    text: str


class ContentRank(msgspec.Struct, frozen=True):
    """What a content is ranked (0: no more), its step, and the step that its document was asked for with."""

    content: str
    rank: float
    bucket: int
    asked: int = 0


class Shelf(Protocol):
    """What is remembered. Every method may raise `Unavailable`, a write perhaps after some of its effect.

    The same write again changes nothing. ``stamp``: the write time of the caller, owner of the partition that the first
    argument is in; where a greater one has written, nothing happens. A write without anything to write does nothing.
    """

    async def noted(self, key: str) -> IndexedUrl | None:
        """How a URL was indexed last; None when it was not."""

    async def contents_of(self, keys: Sequence[str]) -> list[str]:
        """The contents that those URLs may be under, pending ones too, each once, in the order asked; [] for none."""

    async def note(self, key: str, noted: IndexedUrl, stamp: int) -> None:
        """Replace how a URL was indexed; it is forgotten where ``noted`` has no content, nor one that is pending.

        The links by which ranks are computed stay as they are where one is pending.
        """

    async def hold(self, content: str, held: Held, stamp: int) -> None:
        """A URL is of a content from now on; what was held of it there is replaced."""

    async def let_go(self, content: str, key: str, stamp: int) -> None:
        """A URL is of a content no more; nothing if it was not."""

    async def held(self, content: str) -> list[Held]:
        """The URLs of a content, by key; [] if it has none."""

    async def link(self, source: str, host: str, added: Mapping[tuple[str, int], str], stamp: int) -> None:
        """Add links of a page, by target and words: what they say; what another page of the host said is replaced."""

    async def unlink(self, source: str, host: str, removed: Sequence[tuple[str, int]], stamp: int) -> None:
        """Remove links of a page; what another page of the host says, or was not there, is left as it is."""

    async def anchors(self, keys: Sequence[str], limit: int) -> list[LinkWords]:
        """What links say that lead to these URLs, each text once for a host, in the order asked and then by host.

        At most ``limit`` for each URL, in all; [] for none.
        """

    async def bucket(self, content: str) -> int:
        """On which step of ranks a content is, from 0 on; 0 before it was ranked."""

    async def epoch(self, partition: int) -> int:
        """The highest that an owner of an index partition had; 0 before there was one."""

    async def own(self, partition: int, epoch: int) -> None:
        """An owner of a partition begins, with an epoch that is kept beside the earlier ones."""

    async def close(self) -> None:
        """End what it reads with. Nothing else may be called afterwards, but this again."""

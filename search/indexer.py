"""Follows a crawl's changes into an index.

The order of a step: 1 the book takes the changes in, durably, and says which documents they concern; 2 the documents
are written; 3 the index commits them with the position; 4 the book forgets what was to be written. A crash between any
two costs that something is written again: what is read next begins at the lower of both positions, and what was not
written is still in the book. A document is named by its content, so that writing it again doubles nothing.

A document of which only the words of links changed waits until nothing newer is to be written, or too many wait. Who is
far behind a crawl takes in many changes before documents are written: links among what is taken in are then known, and
nearly every document is written once instead of twice.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

import msgspec

from gregor.schemas.messages import Page
from gregor.search.borders import Index
from gregor.search.documents import Anchor, IndexedDocument, Noted, content_of, document, in_order, is_found
from gregor.worker.borders.changes import ChangeFeed, UrlChange

BATCH: Final = 2000
"""Changes that are taken in, and documents that are written, at once."""
_MOST_LATER: Final = 20_000
"""Documents that may wait for their anchors."""
GATHERED: Final = 20_000
"""Changes that are taken in at most before documents are written."""
FEW: Final = 100
"""While more changes than these wait, they are taken in before documents are written."""

PageOf = Callable[[str, int | None], Awaitable[Page | None]]
"""A version of a stored page, the newest for None."""


class Notes(Protocol):
    """What an indexer remembers beside the index: see `gregor.search.adapters.book`."""

    @property
    def position(self) -> int: ...
    def take_in(self, pages: Sequence[tuple[str, Page | None]], position: int) -> None: ...
    def unwritten(self, limit: int, *, soon: bool) -> list[str]: ...
    def left(self) -> int: ...
    def settled(self, contents: Sequence[str]) -> None: ...
    def rewrite(self, contents: Sequence[str]) -> None: ...
    def noted(self, contents: Sequence[str]) -> dict[str, Noted]: ...
    def anchors(self, keys: Sequence[str]) -> list[Anchor]: ...


class IndexingProgress(msgspec.Struct):
    """What was done."""

    changes: int = 0
    documents: int = 0
    removed: int = 0
    newest: float = 0.0  # when the page was fetched that was taken in last, unix seconds; 0: none was


class Indexer:
    """Takes in what changed, step by step; one at a time for an index."""

    def __init__(self, feed: ChangeFeed, page_of: PageOf, notes: Notes, index: Index) -> None:
        self._feed = feed
        self._page_of = page_of
        self._notes = notes
        self._index = index
        self._position = self._committed = min(notes.position, index.position())
        self._gathered = 0  # changes that were taken in since documents were written
        self._at_hand: dict[tuple[str, int], Page] = {}  # pages that were taken in last
        self._to_write: list[str] = []  # contents whose documents are written with the next commit
        self._next = 0  # the place of the next one among these
        self._is_up_to_date = False  # whether with these all is written that was taken in
        self.progress = IndexingProgress()

    async def behind(self) -> int:
        """How many changes are not taken in, at most."""
        return max(0, await self._feed.end() - self._position)

    async def mend(self, as_they_are: Sequence[UrlChange], contents: Sequence[str]) -> None:
        """Take URLs in once more as they stand, and write contents anew, or take out what is not there any more.

        After all else was taken in.
        """
        pages = [(change.key, change.page if is_found(change.page, change.row) else None) for change in as_they_are]
        self._notes.take_in(pages, self._position)
        self._notes.rewrite(contents)
        while unwritten := self._notes.unwritten(BATCH, soon=True):
            await self._put(unwritten)
            self._settle(unwritten)

    async def step(self) -> int:
        """Take in the next changes, and write documents, or a part of them; how many of both there were."""
        count = 0
        if not self._to_write:
            changes = await self._feed.changes(self._position, BATCH)
            count = len(changes)
            if changes:
                self._take_in(changes)
                if self._gathered < GATHERED and await self.behind() > FEW:
                    return count
                self._gathered = 0
            self._choose(later=not changes)
            if changes and not self._to_write:
                self._committed = self._position
                self._settle(())
        try:
            return count + await self._write_on()
        except BaseException:
            self._to_write = []  # chosen again: the book still has them
            raise

    def _take_in(self, changes: Sequence[UrlChange]) -> None:
        position = changes[-1].position
        pages = [(change.key, change.page if is_found(change.page, change.row) else None) for change in changes]
        self._notes.take_in(pages, position)
        self._position = position
        self._gathered += len(changes)
        self._at_hand = {(page.key, page.visit): page for _, page in pages if page is not None}
        self.progress.changes += len(changes)
        fetched = [change.page.fetched_at for change in changes if change.page is not None]
        self.progress.newest = fetched[-1] if fetched else self.progress.newest

    def _choose(self, *, later: bool) -> None:
        """Which documents are written next, with one commit; ``later``: also those of which only anchors changed."""
        chosen = self._notes.unwritten(GATHERED, soon=True)
        self._is_up_to_date = len(chosen) < GATHERED
        if not chosen and (later or self._notes.left() >= _MOST_LATER):
            chosen = self._notes.unwritten(BATCH, soon=False)
        self._to_write, self._next = chosen, 0

    async def _write_on(self) -> int:
        """Write the next documents, and commit behind the last one; how many."""
        some = self._to_write[self._next : self._next + BATCH]
        await self._put(some)
        self._next += len(some)
        if some and self._next == len(self._to_write):
            if self._is_up_to_date:
                self._committed = self._position
            self._settle(self._to_write)
            self._to_write, self._at_hand = [], {}
        return len(some)

    def _settle(self, contents: Sequence[str]) -> None:
        self._index.commit(self._committed)
        self._notes.settled(contents)

    async def _put(self, contents: Sequence[str]) -> None:
        for content, noted in self._notes.noted(contents).items():
            made = await self._document(content, noted)
            if made is None:
                self._index.remove([content])
                self.progress.removed += 1
            else:
                self._index.put([made])  # one by one: nobody knows how large they are
                self.progress.documents += 1

    async def _document(self, content: str, noted: Noted) -> IndexedDocument | None:
        """The document of a content as it stands; None when it is to be found no more."""
        members = in_order(noted.members)
        for member in members:
            page = self._at_hand.get((member.key, member.visit)) or await self._page_of(member.key, member.visit)
            # One that is stored no more, or was replaced meanwhile, is among the changes that come.
            if page is not None and content_of(page) == content:
                kept = [other for other in members if other.key != member.key]
                keys = [other.key for other in members]
                return document(page, [member, *kept], self._notes.anchors(keys), noted.rank)
        return None

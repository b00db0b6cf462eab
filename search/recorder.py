"""Takes what is kept of a crawl's URLs, or of those given up, into an index of its own, scan by scan.

A scan goes through all of them and writes those that are new since the last one. Where fewer are kept than were written
(a host opted out, a letter was dropped) the index is made anew. What is written again changes nothing.
"""

from collections.abc import AsyncIterator, Callable
from typing import Final, Generic, Protocol, TypeVar

from gregor.search.borders import Index
from gregor.search.documents import IndexedDocument

R = TypeVar("R")
_AT_ONCE: Final = 500
_MARGIN: Final = 60.0
"""Seconds by which a record may be older than one that was seen before it: clocks of several workers differ."""


class Records(Index, Protocol):
    """An index whose documents can all be taken out."""

    def clear(self) -> None:
        """Take all documents out; as all that is written, seen after `commit`."""


class Recorder(Generic[R]):
    """Keeps one index."""

    def __init__(
        self,
        records: Callable[[], AsyncIterator[R]],
        document_of: Callable[[R], IndexedDocument],
        index: Records,
    ) -> None:
        self._records = records
        self._document_of = document_of
        self._index = index
        self._newest = 0.0
        self._alike = 0  # records more than documents: those of one name

    async def scan(self) -> int:
        """Take in what is new; how much it was."""
        seen, count = await self._write(self._newest - _MARGIN if self._newest else 0.0)
        if seen - self._index.count() != self._alike:
            self._index.clear()
            seen, again = await self._write(0.0)
            self._alike, count = seen - self._index.count(), count + again
        return count

    async def _write(self, since: float) -> tuple[int, int]:
        """Write those of a time or later, and those of none; how many were seen, and written."""
        documents: list[IndexedDocument] = []
        seen = count = 0
        async for record in self._records():
            seen += 1
            document = self._document_of(record)
            if document.at >= since or not document.at:
                documents.append(document)
                self._newest = max(self._newest, document.at)
            if len(documents) >= _AT_ONCE:
                self._index.put(documents)
                count += len(documents)
                documents.clear()
        self._index.put(documents)
        self._index.commit(self._index.position() + 1)
        return seen, count + len(documents)

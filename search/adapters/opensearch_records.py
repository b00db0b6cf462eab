"""Indexes of what happened in a crawl, in OpenSearch: one that its owner may empty, and one of lines that any write."""

from collections.abc import Collection, Sequence
from typing import Final

from gregor.search.adapters.opensearch_index import OpenSearchIndex
from gregor.search.adapters.opensearch_writer import version_of
from gregor.search.documents import IndexedDocument

_PUT: Final = version_of(1, 1)
_REMOVED: Final = version_of(1, 2)
"""What is put late, or once more, by a process that does not know yet that it was removed, loses against that."""


class OpenSearchRecords(OpenSearchIndex):
    """`Records` of one owner."""

    def clear(self) -> None:
        """Take all documents out; as all that is written, seen after `commit`."""
        self.remove([hit.id for hit in self.documents()])


class OpenSearchLines(OpenSearchRecords):
    """`Records` that any number of processes add to: what is put is named by what it is, and never changes."""

    def position(self) -> int:
        """Nobody counts."""
        return 0

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        for document in documents:
            self._writer.put(document, _PUT)

    def remove(self, names: Collection[str]) -> None:
        for name in names:
            self._writer.remove(name, _REMOVED)

    def commit(self, position: int) -> None:
        self._writer.flush()
        self.refresh()

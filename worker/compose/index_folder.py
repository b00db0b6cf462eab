"""The index of a crawl on one machine as it was committed last."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gregor.search.adapters import generations, host_ranks
from gregor.search.borders import Unusable
from gregor.worker.compose.findings import Finding
from gregor.worker.links.known_ranks import ADVANCES, MOST, HighestRanks

if TYPE_CHECKING:
    from gregor.search.adapters.tantivy_index import TantivyIndex

FOLDER: Final = "index"
"""Where the index of a crawl is, in its data folder."""
INDEX: Final = "tantivy"
"""The folder of a generation's index."""
BOOK: Final = "book.db"
"""What a generation remembers beside its index."""
_FRESH: Final = 1.0
"""Seconds for which the search page takes the index for unchanged."""


class Latest:
    """The index of a crawl as it was committed last."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._generation: Path | None = None
        self._index: TantivyIndex | None = None
        self._looked = 0.0

    def now(self) -> "TantivyIndex":
        """The same object while nothing is new; what is new may be missed for a second. Raises `Unusable`."""
        index, now = self._index, self._clock()
        if index is not None and now - self._looked < _FRESH:
            return index
        generation = generations.current(self._folder)
        if index is None or generation != self._generation:
            index = searchable(self._folder)
        else:
            again = index.refreshed()
            index = again if again.position() != index.position() else index
        self._generation, self._index, self._looked = generation, index, now
        return index


def examine(folder: Path) -> Iterator[Finding]:
    """Whether an index, where there is one, can be searched by this version."""
    try:
        generation = generations.current(folder)
    except Unusable as error:
        yield Finding("warn", "index", str(error))
    else:
        if generation is not None:
            yield Finding("ok", "index", f"{folder} is of this version")


def searchable(folder: Path) -> "TantivyIndex":
    """The generation in use, as it was committed last. Raises `Unusable`."""
    from gregor.search.adapters.tantivy_index import TantivyIndex

    generation = generations.current(folder)
    if generation is None:
        raise Unusable(f"{folder} holds no index: make one with `gregor index`")
    return TantivyIndex(generation / INDEX)


def known_ranks(data: Path, seen: int) -> HighestRanks | None:
    """How the index of a data folder ranks its highest pages and hosts; None where that is as it was ``seen`` (0: not
    at all)."""
    generation = generations.before(data / FOLDER)
    made = 0 if generation is None else host_ranks.made(generation / BOOK)
    if made == seen:
        return None
    pages, hosts = host_ranks.steps(generation / BOOK, ADVANCES, MOST) if generation is not None else ([], [])
    return HighestRanks(made, pages, hosts)

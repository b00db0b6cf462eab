"""Whether an index has what the store has: a document for each content that is to be found, under the URLs and of the
version that are stored, once, and none besides.

Index and store are gone through once each, and compared by numbers of 64 bits in bounded memory. What differs then may
have changed meanwhile: it is looked at again by its name, when the index has taken in what was told by then.
"""

import asyncio
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import xxhash

from gregor.schemas.messages import Page
from gregor.search.borders import Hit, Index
from gregor.search.documents import MOST_URLS, content_of, is_found
from gregor.worker.base.batches import in_batches
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.stock import NewSets

NAMED: Final = 10_000
"""Differences of a kind that are told one by one; beyond, they are counted."""
_AT_ONCE: Final = 500
_LOOKS: Final = 3
"""Times that what differs is looked at: a crawl that runs may have changed it between two of them."""

DifferenceKind: TypeAlias = Literal["missing", "foreign", "stale", "doubled"]
ComparingProgress: TypeAlias = Callable[[str, int], None]


class Difference(msgspec.Struct, frozen=True):
    """A URL, and the content that it is not in the index with as it should be. ``key`` is "" where only a number of
    them is told."""

    kind: DifferenceKind
    key: str
    content: str
    why: str


class Comparison:
    """One comparison."""

    def __init__(
        self,
        reader: Reader,
        index: Callable[[], Index],
        caught_up: Callable[[], Awaitable[None]],
        new_sets: NewSets,
        progress: ComparingProgress,
    ) -> None:
        """``index`` opens it as it is found now; whoever ``caught_up`` waits for has taken in what was told before, or
        does not follow."""
        self._reader = reader
        self._index = index
        self._caught_up = caught_up
        self._progress = progress
        self._missing = new_sets()  # URLs of contents: stored | indexed
        self._foreign = new_sets()  # indexed | stored
        self._stale = new_sets()  # versions of URLs: shown | stored
        self._many: set[str] = set()  # contents under more URLs than are kept with them
        self.counts: dict[str, int] = {}

    async def differences(self) -> list[Difference]:
        """All that differs, and does so still when it is looked at again."""
        try:
            await self._caught_up()
            doubled = await self._through_index()
            await self._through_store()
            candidates = [*await self._of_store(), *await self._of_index(doubled)]
        finally:
            for sets in (self._missing, self._foreign, self._stale):
                sets.close()
        return await self.again(candidates)

    async def again(self, differences: Sequence[Difference]) -> list[Difference]:
        """Those that differ still."""
        left, looks = list(differences), 0
        while looks < _LOOKS and any(difference.key for difference in left):
            await self._caught_up()
            left, looks = await self._differing(left), looks + 1
        return left

    async def _differing(self, differences: Sequence[Difference]) -> list[Difference]:
        twice = await self._twice() if any(difference.kind == "doubled" for difference in differences) else set()
        index = await asyncio.to_thread(self._index)
        try:
            return [each for each in differences if not each.key or await self._differs(index, each, twice)]
        finally:
            await asyncio.to_thread(index.close)

    async def _twice(self) -> set[int]:
        """What the index has more than once."""
        names = array("Q")
        async for hits in self._documents(counted=False):
            names.extend(_number(hit.id) for hit in hits)
        return _twice(names)

    async def _differs(self, index: Index, difference: Difference, twice: set[int]) -> bool:
        page = await self._stored(difference.key)
        hit = await asyncio.to_thread(index.document, difference.content)
        is_stored = page is not None and content_of(page) == difference.content
        is_indexed = hit is not None and difference.key in hit.keys
        match difference.kind:
            case "missing":
                return is_stored and not is_indexed and (hit is None or len(hit.keys) < MOST_URLS)
            case "foreign":
                return is_indexed and not is_stored
            case "stale":
                is_shown = hit is not None and hit.key == difference.key
                return is_stored and is_shown and hit is not None and page is not None and hit.visit != page.visit
            case "doubled":
                return _number(difference.content) in twice

    async def _stored(self, key: str) -> Page | None:
        """The page of a URL, if it is to be found."""
        try:
            page = await self._reader.page(key)
            return page if is_found(page, await self._reader.row(key)) else None
        except Damaged as damage:
            self._reader.on_damage(damage)
            return None

    async def _through_index(self) -> set[int]:
        """Take the index in; names that came twice, as numbers."""
        names = array("Q")
        async for hits in self._documents():
            names.extend(_number(hit.id) for hit in hits)
            members = [_number(hit.id, key) for hit in hits for key in hit.keys]
            self._missing.right(members)
            self._foreign.left(members)
            self._stale.left([_number(hit.id, hit.key, hit.visit) for hit in hits])
            self._many.update(hit.id for hit in hits if len(hit.keys) >= MOST_URLS)
        return _twice(names)

    async def _through_store(self) -> None:
        async for pages in self._pages():
            contents = [(content_of(page), page) for page in pages]
            self._missing.left([_number(name, page.key) for name, page in contents if name not in self._many])
            self._foreign.right([_number(name, page.key) for name, page in contents])
            self._stale.right([_number(name, page.key, page.visit) for name, page in contents])

    async def _of_store(self) -> list[Difference]:
        missing, count = self._missing.only_left(NAMED)
        if not missing:
            return []
        differences: list[Difference] = []
        async for pages in self._pages(counted=False):
            for page in pages:
                if _number(content_of(page), page.key) in missing:
                    why = f"version {page.visit} of it is stored and is to be found, and the index does not have it"
                    differences.append(Difference("missing", page.key, content_of(page), why))
        return differences + _more("missing", count, len(missing))

    async def _of_index(self, doubled: set[int]) -> list[Difference]:
        foreign, foreign_count = self._foreign.only_left(NAMED)
        stale, stale_count = self._stale.only_left(NAMED)
        if not (foreign or stale or doubled):
            return []
        differences: dict[Difference, None] = {}
        async for hits in self._documents(counted=False):
            for hit in hits:
                for difference in _of_hit(hit, foreign, stale, doubled):
                    differences[difference] = None
        more = _more("foreign", foreign_count, len(foreign)) + _more("stale", stale_count, len(stale))
        return [*differences, *more]

    async def _documents(self, *, counted: bool = True) -> AsyncIterator[list[Hit]]:
        index = await asyncio.to_thread(self._index)
        try:
            documents = index.documents()
            while hits := await asyncio.to_thread(lambda: list(islice(documents, _AT_ONCE))):
                if counted:
                    self._count("documents", len(hits))
                yield hits
        finally:
            await asyncio.to_thread(index.close)

    async def _pages(self, *, counted: bool = True) -> AsyncIterator[list[Page]]:
        """All pages that are to be found."""
        async for some in in_batches(self._reader.pages(), _AT_ONCE):
            rows = await self._reader.rows_of([page.key for page in some])
            if counted:
                self._count("pages", len(some))
            yield [page for page in some if is_found(page, rows.get(page.key))]

    def _count(self, what: str, many: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + many
        self._progress(what, self.counts[what])


def _of_hit(hit: Hit, foreign: set[int], stale: set[int], doubled: set[int]) -> Iterator[Difference]:
    for key in hit.keys:
        if _number(hit.id, key) in foreign:
            why = "the index has a document under it that the store has not, or that is not to be found any more"
            yield Difference("foreign", key, hit.id, why)
    if _number(hit.id, hit.key, hit.visit) in stale and _number(hit.id, hit.key) not in foreign:
        why = f"the index has version {hit.visit} of it, which is not the one that is stored"
        yield Difference("stale", hit.key, hit.id, why)
    if _number(hit.id) in doubled:
        yield Difference("doubled", hit.key, hit.id, "the index has its document more than once")


def _more(kind: DifferenceKind, count: int, named: int) -> list[Difference]:
    more = count - named
    return [Difference(kind, "", "", f"{more} more are: mend these, then check again")] if more > 0 else []


def _number(*parts: str | int) -> int:
    return xxhash.xxh3_64_intdigest("\0".join(map(str, parts)).encode(errors="surrogatepass"))


def _twice(numbers: "array[int]") -> set[int]:
    """Those that are there more than once."""
    in_order = np.sort(np.frombuffer(numbers, np.uint64))
    return set(in_order[1:][in_order[1:] == in_order[:-1]].tolist())

"""Which stored pages, or URLs, are told of: by host, state, age and whether they changed."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from gregor.schemas.messages import KEPT, STILL_THERE, Page, Row
from gregor.worker.base.batches import in_batches
from gregor.worker.base.streams import AT_ONCE
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.inspect.changes import came_again, change_of
from gregor.worker.inspect.versions import there_since, undamaged
from gregor.worker.settle.revisits import last_visit


class Selection(msgspec.Struct, frozen=True):
    """``since``: unix seconds, what has a new version, or another state, since then. ``changed``: only what has another
    text than before, or a document that it has no more; with ``since``, than it had then. ``unique``: no page with the
    content, or nearly the text, of another one that speaks for it."""

    host: str | None = None
    state: str | None = None
    since: float | None = None
    changed: bool = False
    unique: bool = False

    @property
    def takes_all(self) -> bool:
        """Whether every version of each page of a host is meant, whatever became of its URL."""
        return self.state is None and self.since is None and not self.changed and not self.unique

    def takes(self, row: Row | None, page: Page | None) -> bool:
        """Whether a URL with this row and newest document may be meant; `chosen` reads more where that decides."""
        if row is None:
            return (
                page is not None
                and self.state in (None, page.state)
                and not self.changed
                and self._new(page.fetched_at)
            )
        if self.state not in (None, row.state):
            return False
        if self.changed and not (row.changed or (row.page and row.state not in STILL_THERE)):
            return False
        return self._new(there_since(page, row) if page is not None and row.state in KEPT else last_visit(row))

    def _new(self, at: float) -> bool:
        return self.since is None or at >= self.since


def is_requisite(page: Page, row: Row | None) -> bool:
    """Whether a stored page is only what others show. A link may have made a page of it since, which its row says."""
    return page.requisite if row is None else row.requisite


EVERYTHING: Final = Selection()


async def chosen(
    reader: Reader, wanted: Selection, row: Row | None, page: Page | None, *, versions: bool = False
) -> bool:
    """Whether a URL with this row and document is meant; what has changed since a moment is asked as `changes` does.

    A document that came again with the same bytes is not new, but with ``versions``, where each is meant.
    """
    if not wanted.takes(row, page):
        return False
    if wanted.since is None or row is None:
        return True
    if wanted.changed:
        change = await change_of(reader, row, wanted.since, page)
        return change is not None and change.kind != "new"
    return versions or page is None or row.state not in KEPT or not await came_again(reader, row, page, wanted.since)


async def pages(
    reader: Reader, wanted: Selection = EVERYTHING, part: Part = WHOLE, *, versions: bool = False, rows: bool = True
) -> AsyncIterator[tuple[Page, Row | None]]:
    """The newest version of each stored page that is wanted, or those of a part, with the newest state of its URL.

    With ``versions`` all of them that are wanted; without ``rows`` no states where they decide nothing.
    """
    async for batch in batches(reader, wanted, part, versions=versions, rows=rows):
        for pair in batch:
            yield pair


async def batches(
    reader: Reader, wanted: Selection = EVERYTHING, part: Part = WHOLE, *, versions: bool = False, rows: bool = True
) -> AsyncIterator[list[tuple[Page, Row | None]]]:
    """The same, some at a time: a question for each of millions would take longer than what is done with them."""
    pages = (page async for page in reader.pages(part, versions=versions) if wanted.host in (None, page.host))
    async for several in in_batches(pages, AT_ONCE):
        yield await _paired(reader, wanted, several, versions=versions, rows=rows)


async def _paired(
    reader: Reader, wanted: Selection, several: list[Page], *, versions: bool, rows: bool
) -> list[tuple[Page, Row | None]]:
    if not rows and wanted.takes_all:
        return [(page, None) for page in several]
    states = await reader.rows_of(list({page.key: None for page in several}))
    pairs = [(page, states.get(page.key)) for page in several]
    taken = [(page, row) for page, row in pairs if await chosen(reader, wanted, row, page, versions=versions)]
    if wanted.unique:
        return [(page, row) for page, row in taken if not await _is_told_by_another(reader, page)]
    return taken


async def _is_told_by_another(reader: Reader, page: Page) -> bool:
    """Whether the page that this one is like is there. Of two that name each other the first by name is kept."""
    other = page.duplicate_of or page.near_duplicate_of
    first = await undamaged(reader, reader.page(other)) if other else None
    if first is None:
        return False
    return (first.duplicate_of or first.near_duplicate_of) != page.key or first.key < page.key

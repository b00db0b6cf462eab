"""What is new, changed or gone since a moment: a URL's row and its newest document, against what was there then."""

from collections.abc import AsyncIterator
from typing import Final, Literal, get_args

import msgspec

from gregor.schemas.messages import KEPT, Attempt, Page, Row
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.selection import there_since, undamaged

Kind = Literal["new", "changed", "gone"]
KINDS: Final = get_args(Kind)


class PageChange(msgspec.Struct, frozen=True):
    """``at``: when it was seen, unix seconds; ``page``: the newest document, of a page that is gone the last one;
    ``before``: the visit of the version that was there at the moment asked for, None for a new page."""

    kind: Kind
    at: float
    row: Row
    page: Page
    before: int | None = None


async def changes(reader: Reader, since: float, host: str | None = None) -> AsyncIterator[PageChange]:
    """Every page that is not what it was at ``since`` (unix seconds), in the engine's order.

    A page that came and went meanwhile is neither, and what only other pages show (requisites) is no page. The listener
    of the reader hears of damage.
    """
    async for row in reader.rows(None, host):
        if row.page and not row.requisite and (change := await _change(reader, row, since)) is not None:
            yield change


async def _change(reader: Reader, row: Row, since: float) -> PageChange | None:
    if not row.attempts or row.attempts[-1].at < since:
        return None  # not asked for since then
    page = await undamaged(reader, reader.page(row.key))
    if page is None:
        return None
    went = _went(row)
    before = page.visit if there_since(page, row) < since else await _version_at(reader, row, page.visit, since)
    if went is not None:
        return PageChange("gone", went, row, page, before) if before is not None and went >= since else None
    if before == page.visit:
        return None
    return PageChange("new" if before is None else "changed", there_since(page, row), row, page, before)


async def _version_at(reader: Reader, row: Row, newest: int, since: float) -> int | None:
    """The newest of the earlier versions that was there at a moment."""
    if row.first_seen >= since or not row.changed:
        return None
    for visit in range(newest - 1, 0, -1):
        page = await undamaged(reader, reader.page(row.key, visit))
        if page is not None and there_since(page, row) < since:
            return visit
    return None


def _went(row: Row) -> float | None:
    """When the document was found to be there no more; None while it is, or while its host does not answer for now."""
    if row.state in KEPT or row.state == "waiting":
        return None
    at = row.attempts[-1].at
    for attempt in reversed(row.attempts):
        if not _alike(attempt, row):
            break
        at = attempt.at
    return at


def _alike(attempt: Attempt, row: Row) -> bool:
    return (attempt.outcome, attempt.status) == (row.outcome, row.status)

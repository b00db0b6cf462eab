"""What is new, changed or gone since a moment: a URL's row and its newest document, against what was there then."""

from collections.abc import AsyncIterator
from typing import Final, Literal, get_args

import msgspec

from gregor.schemas.messages import KEPT, STILL_THERE, Attempt, Page, Row
from gregor.worker.base.streams import in_order
from gregor.worker.borders.reader import Reader
from gregor.worker.inspect.versions import there_since, undamaged

Kind = Literal["new", "changed", "gone"]
KINDS: Final = get_args(Kind)
_THERE: Final = (*KEPT, "unchanged")
"""Outcomes of visits that found a document."""
_TRIED_AGAIN: Final = (304, 408, 425, 429)
"""Of the statuses that say no, those that do so for now."""


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

    def asked_since(row: Row) -> bool:
        return bool(row.page and not row.requisite and row.attempts and row.attempts[-1].at >= since)

    rows = (row async for row in reader.rows(None, host) if asked_since(row))
    async for change in in_order(rows, lambda row: change_of(reader, row, since)):
        if change is not None:
            yield change


async def change_of(reader: Reader, row: Row, since: float, newest: Page | None = None) -> PageChange | None:
    """What became of a page since a moment (unix seconds), None if nothing did; ``newest``: its version that is asked
    about, where that is read already."""
    newest = newest or await undamaged(reader, reader.page(row.key))
    if newest is None or not row.attempts:
        return None
    at = there_since(newest, row)
    before = newest if at < since else await _version_at(reader, row, newest.visit, since)
    version = before.visit if before is not None else None
    if (went := _went(row)) is not None:
        return PageChange("gone", went, row, newest, version) if before is not None and went >= since else None
    if before is None or _was_gone(row, since):
        return PageChange("new", at if before is None else row.attempts[-1].at, row, newest, version)
    return None if _same(before, newest) else PageChange("changed", at, row, newest, version)


async def came_again(reader: Reader, row: Row, page: Page, since: float) -> bool:
    """Whether a document that came since a moment (unix seconds) is byte for byte the one that was there then."""
    if page.visit == 1 or not page.body or _was_gone(row, since):
        return False
    before = await _version_at(reader, row, page.visit, since)
    return before is not None and (before.body, before.state) == (page.body, page.state)


async def _version_at(reader: Reader, row: Row, newest: int, since: float) -> Page | None:
    """The newest of the earlier versions that was there at a moment. Versions of one text are several where the server
    answers with the document each time."""
    if row.first_seen >= since:
        return None
    for visit in range(newest - 1, 0, -1):
        page = await undamaged(reader, reader.page(row.key, visit))
        if page is not None and there_since(page, row) < since:
            return page
    return None


def _same(page: Page, other: Page) -> bool:
    """Whether two documents say the same."""
    return (page.fingerprint or page.body) == (other.fingerprint or other.body)


def _went(row: Row) -> float | None:
    """When the document was found to be there no more; None while it is, or while its host does not answer for now.

    What failed for a while in between is passed over: the first answer that was final counts.
    """
    if row.state in STILL_THERE:
        return None
    at = row.attempts[-1].at
    for attempt in reversed(row.attempts):
        if attempt.outcome in _THERE:
            break
        if _is_final(attempt):
            at = attempt.at
    return at


def _was_gone(row: Row, since: float) -> bool:
    """Whether the last visit before a moment found no document."""
    visits = [attempt for attempt in row.attempts if attempt.at < since]
    final = next((visit for visit in reversed(visits) if visit.outcome in _THERE or _is_final(visit)), None)
    return final is not None and final.outcome not in _THERE


def _is_final(attempt: Attempt) -> bool:
    """Whether an answer was one for good: what failed was tried again, or given up for the host's sake."""
    return attempt.outcome in ("denied", "gone") or (300 <= attempt.status < 500 and attempt.status not in _TRIED_AGAIN)

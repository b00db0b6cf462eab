"""A stored page among the versions of its URL: since when it is there, and how it is read."""

from collections.abc import Awaitable
from typing import TypeVar

from gregor.schemas.messages import Page, Row
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.settle.rows import REMEMBERED_ATTEMPTS

T = TypeVar("T")


def there_since(page: Page, row: Row) -> float:
    """When the visit that brought a page was settled, so that readers could see it; unix seconds. It may be long after
    the page was fetched. The row remembers its last visits: of an older page it is when it was fetched."""
    first = next((number for number, attempt in enumerate(row.attempts) if attempt.at >= page.fetched_at), None)
    if first is None or (first == 0 and len(row.attempts) == REMEMBERED_ATTEMPTS):
        return page.fetched_at
    return row.attempts[first].at


async def undamaged(reader: Reader, asked: Awaitable[T | None]) -> T | None:
    """What is read; None, and the reader's listener hears of it, when it is damaged."""
    try:
        return await asked
    except Damaged as damage:
        reader.on_damage(damage)
        return None

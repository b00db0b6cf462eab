"""Counting what a reader tells, one by one."""

from collections import Counter

from gregor.schemas.messages import TERMINAL
from gregor.worker.borders.reader import Reader


async def counted(reader: Reader) -> dict[str, int]:
    """URLs by state, "waiting" included; "pages_200", "pages" and "bytes" beside them."""
    rows = {row.key: row.state async for row in reader.rows(None, None)}
    unfinished = {waiting.ticket.key async for waiting in reader.waiting()}
    settled = {key for key, state in rows.items() if state in TERMINAL}
    pages = [page async for page in reader.pages()]
    return {
        **Counter(rows[key] for key in settled),
        "waiting": len((unfinished | rows.keys()) - settled),
        "pages": len(pages),
        "pages_200": sum(page.status == 200 for page in pages),
        "bytes": sum(page.size for page in pages),
    }

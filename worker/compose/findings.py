"""What `gregor doctor` finds, and how it sees that somebody accepts connections."""

import asyncio
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.base.errors import why

LONGEST_WAIT: Final = 5.0
"""Seconds for which any server is waited for."""


class Finding(Struct, frozen=True):
    """``fail``: a crawl cannot go well like that; ``warn``: it may not."""

    level: Literal["ok", "warn", "fail"]
    what: str
    text: str


async def no_connection(host: str, port: int) -> str:
    """Why no connection can be made; empty when one can."""
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return f"gives no answer within {LONGEST_WAIT:g} s"
    except OSError as error:
        return f"cannot be reached: {why(error)}"
    writer.close()
    return ""

"""What `gregor doctor` finds, and how it sees that somebody accepts connections."""

import asyncio
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.base.amounts import size
from gregor.worker.base.errors import why

_LITTLE_DISK: Final = 0.1
_NO_DISK: Final = 512 * 1024 * 1024
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


def disk(path: Path) -> Finding:
    """Whether there is room for what is written there."""
    from gregor.worker.inspect import machine

    free, total = machine.disk(path)
    text = f"{size(free)} of {size(total)} are free"
    if free < _NO_DISK:
        return Finding("fail", "disk", f"{text}: a crawl stops on a full disk; add space, or move old crawls away")
    return Finding("warn" if free < _LITTLE_DISK * total else "ok", "disk", text)

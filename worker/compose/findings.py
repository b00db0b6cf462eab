"""What `gregor doctor` finds, and how it sees that somebody accepts connections."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.base.amounts import size
from gregor.worker.base.errors import BadInput, why
from gregor.worker.borders.errors import Damaged
from gregor.worker.config.settings import Config, replace

_LITTLE_DISK: Final = 0.1
_NO_DISK: Final = 512 * 1024 * 1024
LONGEST_WAIT: Final = 5.0
"""Seconds for which any server is waited for."""


class Finding(Struct, frozen=True):
    """``fail``: a crawl cannot go well like that; ``warn``: it may not."""

    level: Literal["ok", "warn", "fail"]
    what: str
    text: str


def hurried(config: Config) -> Config:
    """Settings of who waits for no server longer than that."""
    return replace(config, server_timeout=min(config.server_timeout, LONGEST_WAIT))


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


def data_folder(path: Path, read_orders: Callable[[], object]) -> Finding:
    """Whether a crawl can be kept in a folder, or is kept there."""
    if not path.exists():
        parent = next(folder for folder in path.absolute().parents if folder.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return Finding("ok", "data folder", f"{path} will be made")
        return Finding("fail", "data folder", f"{path} cannot be made: {parent} cannot be written")
    if not os.access(path, os.W_OK | os.X_OK):
        return Finding("fail", "data folder", f"{path} cannot be written")
    if not any(path.iterdir()):
        return Finding("ok", "data folder", f"{path} is empty")
    try:
        read_orders()
    except (BadInput, Damaged) as error:
        return Finding("fail", "data folder", str(error))
    return Finding("ok", "data folder", f"{path} holds a crawl")

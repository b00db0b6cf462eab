"""URLs that were given up: which still are, and how they get another visit or are forgotten."""

import asyncio
from collections.abc import AsyncIterator, Collection
from functools import partial
from typing import Final

import xxhash
from msgspec import Struct

from gregor.schemas.messages import DeadLetter, Row, encode
from gregor.worker.base.batches import in_batches
from gregor.worker.base.streams import in_order
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.store import PageStore
from gregor.worker.links.tickets import again
from gregor.worker.settle.verdicts import GIVEN_UP

MOST: Final = 1000
"""Letters that are treated in one go."""


class Dead(Struct, frozen=True):
    """A letter that still holds; ``row`` is None where it is about a record that no URL could be read from."""

    letter: DeadLetter
    row: Row | None


class Treated(Struct, frozen=True):
    """How many letters were treated; whether there may be more."""

    count: int
    more: bool


async def dead(reader: Reader, cause: str | None = None) -> AsyncIterator[Dead]:
    """The letters, of a cause if one is given, whose URL has not become something else since, nor been given up once
    more with a letter of its own."""
    wanted = (letter async for letter in reader.dead_letters() if cause in (None, letter.cause))
    async for given_up in in_order(wanted, partial(holding, reader)):
        if given_up is not None:
            yield given_up


async def holding(reader: Reader, letter: DeadLetter) -> Dead | None:
    """A letter with what it is about; None if it holds no more."""
    if not letter.key:
        return Dead(letter, None)
    row = await reader.row(letter.key)
    return Dead(letter, row) if row is not None and row.state in GIVEN_UP and _is_last(letter, row) else None


def place(letter: DeadLetter) -> tuple[float, int]:
    """Where a letter is among all, by its time: the same whatever else comes or is forgotten."""
    return letter.at, xxhash.xxh3_64_intdigest(encode(letter))


def _is_last(letter: DeadLetter, row: Row) -> bool:
    return len(row.attempts) < 2 or letter.at > row.attempts[-2].at


async def some(
    reader: Reader, cause: str | None, keys: Collection[str], *, of_urls: bool = False
) -> tuple[list[Dead], bool]:
    """At most `MOST` letters of a cause and of these keys, where they are given; whether there may be more.

    ``of_urls``: not those about records that could not be read.
    """
    letters: list[Dead] = []
    async for given_up in dead(reader, cause):
        if (keys and given_up.letter.key not in keys) or (of_urls and given_up.row is None):
            continue
        if len(letters) == MOST:
            return letters, True
        letters.append(given_up)
    return letters, False


def slices(reader: Reader, cause: str | None, *, of_urls: bool = False) -> AsyncIterator[list[Dead]]:
    """All letters of a cause, `MOST` at a time, in one look: who forgets them meanwhile disturbs nothing.

    ``of_urls``: not those about records that could not be read.
    """
    wanted = (given_up async for given_up in dead(reader, cause) if not of_urls or given_up.row is not None)
    return in_batches(wanted, MOST)


async def retry(log: FrontierLog, store: PageStore, letters: Collection[Dead], at: float) -> int:
    """Ask for another visit of each URL, then forget its letter; how many there were. ``at``: now. May be repeated."""
    await log.publish([again(one.row, at=at) for one in letters if one.row is not None])
    return await drop(store, letters)


async def drop(store: PageStore, letters: Collection[Dead]) -> int:
    """Forget letters; how many. The URLs stay given up."""
    await asyncio.gather(*(store.drop_dead_letter(one.letter) for one in letters))
    return len(letters)

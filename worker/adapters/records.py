"""What both engines say of a record: whether it is what it is filed under; and what their stocks share."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Row, Ticket, decode, decode_ticket
from gregor.worker.adapters.compression import decoded
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.stock import StockPlace, StoredRecord

T = TypeVar("T")
StoredFields = tuple[Any, ...]


class StockByReader:
    """The questions of a `Stock` that its engine's reader answers."""

    def __init__(self, reader: Reader) -> None:
        self._questions = reader

    async def unfinished(self, key: str, host: str) -> bool:
        """See `Stock.unfinished`."""
        return bool(await self._questions.find(key, host))

    async def row(self, key: str) -> Row | None:
        """See `Stock.row`."""
        try:
            return await self._questions.row(key)
        except Damaged:
            return None


def decode_row(key: str, data: bytes) -> Row:
    """A row as it is stored under a key. Raises `Damaged`."""
    row = decoded("row", key, lambda: decode(data, Row))
    if row.key != key:
        raise Damaged("row", key, "it is of another URL")
    return row


def readable(data: bytes, kind: type[T]) -> T | None:
    """A record of a kind; None where it is none."""
    try:
        return decode(data, kind)
    except msgspec.MsgspecError:
        return None


def kept(place: StockPlace, read: Callable[[], T]) -> StoredRecord[T]:
    """A record where it stands, or why it cannot be read."""
    try:
        return StoredRecord(place, decoded(str(place[0]), str(place[1]), read))
    except Damaged as damage:
        return StoredRecord(place, None, damage.why)


def filed_row(record: StoredFields) -> Row:
    """The row of a record (key, host, state, data). Raises `Damaged`; `ValueError` when it is filed under another."""
    key, host, state, data = record
    row = decode_row(key, data)
    if (row.host, row.state) != (host, state):
        raise ValueError("its host or state is not what it is filed under")
    return row


def filed_ticket(data: bytes, name: int, partition: int, partitions: int) -> Ticket:
    """A waiting ticket that stands under its id in a partition of so many. Raises `ValueError` when it is another."""
    ticket = decode_ticket(data)
    if (home := partition_of(ticket.host, partitions)) != partition:
        raise ValueError(f"it is of partition {home}")
    if ticket.id != name:
        raise ValueError("it stands under another name")
    return ticket


def filed(record: StoredFields, kind: type[Any], name: str) -> object:
    """A record (name, data) of a kind that has its name in a field; that is "" where none has it."""
    value: object = decode(record[1], kind)
    if name and getattr(value, name) != record[0]:
        raise ValueError("it stands under another name")
    return value


async def awaited(place: StockPlace, read: Awaitable[T]) -> StoredRecord[T]:
    """A record where it stands, or why it cannot be read."""
    try:
        return StoredRecord(place, await read)
    except Damaged as damage:
        return StoredRecord(place, None, damage.why)

"""Dates that a machine's clock wrote while it was ahead, brought back to what they would have been.

A crawl's time never goes back, so that one run on a clock five years ahead leaves it there: the mend takes from every
date beyond half of that way what the crawl is ahead of the clock of now. Dates before that were written by right
clocks. A record that cannot be read stays as it is: the check names it.
"""

import math
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from gregor.schemas.messages import (
    DeadLetter,
    HostRecord,
    Page,
    PartitionRecord,
    RobotsRecord,
    Row,
    Ticket,
    decode,
    encode,
)
from gregor.worker.adapters.compression import Compressor
from gregor.worker.adapters.embedded.queries import decode_page, keep_time, read_time
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.stock import Fault
from gregor.worker.frontier.ahead import CLOCK, MARGIN, Ahead, dated_back, in_words

S = TypeVar("S", bound=msgspec.Struct)

CERTAIN: Final = 30 * 86400.0
"""Seconds of being ahead that no wrong clock of now explains, if it is later than this program's own files: a clock
that lost its time falls back by years."""
_SLICE: Final = 500
_ROBOTS_BACK: Final = "UPDATE robots SET fetched_at = fetched_at - ?1 WHERE fetched_at > ?2"
_RECORDS: Final = (
    ("records", "partition, priority, offset", Ticket),
    ("rows", "key", Row),
    ("calendar", "partition, bucket, id", Ticket),
    ("backlog", "partition, host, chunk, id", Ticket),
    ("hosts", "host", HostRecord),
    ("robots", "origin", RobotsRecord),
    ("dead_letters", "number", DeadLetter),
)


def faults(connection: sqlite3.Connection, now: float) -> Iterator[Fault]:
    """Whether the crawl is ahead of the clock, unix seconds."""
    seconds = read_time(connection) - now
    if seconds > MARGIN:
        yield Fault((CLOCK,), in_words(seconds), "set them back by as much")


def certainly_ahead(connection: sqlite3.Connection, now: float) -> float:
    """Seconds by which the crawl is ahead, if that is certainly an earlier clock's doing; else 0."""
    seconds = read_time(connection) - now
    return seconds if seconds > CERTAIN and now > Path(__file__).stat().st_mtime else 0.0


def set_back(connection: sqlite3.Connection, now: float) -> None:
    """Bring the crawl's time and all dates back. Part of a transaction, in which nobody else writes."""
    ahead = Ahead(read_time(connection) - now, now)
    if ahead.seconds <= MARGIN:
        return
    for table, names, kind in _RECORDS:
        _rewrite(connection, table, names, lambda _, data, of=kind: _replaced(data, of, ahead))  # type: ignore[misc]
    compressor = Compressor()
    _rewrite(connection, "pages", "key, visit", lambda name, data: _page(name[0], data, ahead, compressor))
    (width,) = connection.execute("SELECT value FROM meta WHERE name = 'bucket_width'").fetchone()
    _buckets(connection, ahead, float(width))
    connection.execute(_ROBOTS_BACK, (ahead.seconds, ahead.border))
    keep_time(connection, now)


def _replaced(data: bytes, kind: type[S], ahead: Ahead) -> bytes:
    record = decode(data, kind)
    changed = dated_back(record, ahead)
    return data if changed is record else encode(changed)


def _page(key: str, data: bytes, ahead: Ahead, compressor: Compressor) -> bytes:
    page: Page = decode_page(key, data)
    changed = dated_back(page, ahead)
    return data if changed is page else compressor.compress(encode(changed))


def _rewrite(
    connection: sqlite3.Connection, table: str, names: str, change: Callable[[tuple[Any, ...], bytes], bytes]
) -> None:
    """Change the data of all records of a table, a slice at a time in the order of their names."""
    columns = names.split(", ")
    places = ", ".join("?" * len(columns))
    named = " AND ".join(f"{column} = ?" for column in columns)
    after, last = "", ()
    while True:
        slice_of = f"SELECT {names}, data FROM {table} {after} ORDER BY {names} LIMIT {_SLICE}"
        records = connection.execute(slice_of, last).fetchall()
        for *name, data in records:
            try:
                changed = change(tuple(name), data)
            except (msgspec.MsgspecError, ValueError, TypeError, Damaged):
                continue
            if changed is not data:
                connection.execute(f"UPDATE {table} SET data = ? WHERE {named}", (changed, *name))
        if len(records) < _SLICE:
            return
        after, last = f"WHERE ({names}) > ({places})", tuple(records[-1][:-1])


def _buckets(connection: sqlite3.Connection, ahead: Ahead, width: float) -> None:
    """Bring the calendar's buckets back, and the cursors before them: what is below a cursor is never read."""
    buckets, beyond = math.floor(ahead.seconds / width), math.floor(ahead.border / width)
    connection.execute("UPDATE OR REPLACE calendar SET bucket = bucket - ? WHERE bucket > ?", (buckets, beyond))
    for number, data in connection.execute("SELECT partition, data FROM partitions").fetchall():
        try:
            record = decode(data, PartitionRecord)
        except msgspec.MsgspecError:
            continue
        (first,) = connection.execute("SELECT min(bucket) FROM calendar WHERE partition = ?", (number,)).fetchone()
        cursor = record.cursor - buckets if record.cursor > beyond else record.cursor
        cursor = cursor if first is None else min(cursor, first - 1)
        changed = msgspec.structs.replace(dated_back(record, ahead), cursor=cursor)
        connection.execute("UPDATE partitions SET data = ? WHERE partition = ?", (encode(changed), number))

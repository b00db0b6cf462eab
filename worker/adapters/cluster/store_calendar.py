"""The calendar in Cassandra: buckets that are dropped whole, found through an index of two levels.

An index entry has the stamp of the newest entry below it. So a drop deletes it exactly when it deletes all of those,
without looking: what is written meanwhile, under a later stamp, keeps its index.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Final

from gregor.schemas.messages import Ticket, decode_ticket, encode
from gregor.worker.adapters.cluster.cassandra_client import Cassandra, ResultRows
from gregor.worker.adapters.compression import decoded
from gregor.worker.borders.store import Entry

_SPAN_BITS: Final = 14
_FIRST: Final = -(1 << 63)
_LAST: Final = (1 << 63) - 1
_AT_ONCE: Final = 32

_PUT_SPAN: Final = "INSERT INTO calendar_spans (partition, span) VALUES (?, ?) USING TIMESTAMP ?"
_PUT_BUCKET: Final = "INSERT INTO calendar_buckets (partition, span, bucket) VALUES (?, ?, ?) USING TIMESTAMP ?"
_PUT_ENTRY: Final = "INSERT INTO calendar (partition, bucket, id, data) VALUES (?, ?, ?, ?) USING TIMESTAMP ?"
_SPANS: Final = "SELECT span FROM calendar_spans WHERE partition = ? AND span >= ? AND span <= ?"
_BUCKETS: Final = """SELECT bucket FROM calendar_buckets
    WHERE partition = ? AND span = ? AND bucket >= ? AND bucket <= ? LIMIT ?"""
_ENTRIES: Final = "SELECT id, data, writetime(data) FROM calendar WHERE partition = ? AND bucket = ?"
_DROP_ENTRIES: Final = "DELETE FROM calendar USING TIMESTAMP ? WHERE partition = ? AND bucket = ?"
_DROP_BUCKET: Final = "DELETE FROM calendar_buckets USING TIMESTAMP ? WHERE partition = ? AND span = ? AND bucket = ?"
_DROP_SPANS: Final = "DELETE FROM calendar_spans USING TIMESTAMP ? WHERE partition = ? AND span < ?"


class Calendars:
    """The calendar's part of `PageStore`."""

    def __init__(self, cassandra: Cassandra) -> None:
        self._cassandra = cassandra
        self._spans: dict[int, set[int]] = {}
        self._passed: dict[int, int] = {}

    async def buckets(self, partition: int, first: int, last: int, limit: int) -> list[int]:
        """See `PageStore.buckets`."""
        buckets: list[int] = []
        for span in await self._spans_of(partition, first, last):
            if len(buckets) < limit:
                values = (partition, span, first, last, limit - len(buckets))
                buckets += [bucket for (bucket,) in await self._cassandra.read(_BUCKETS, values)]
        return buckets

    async def all_buckets(self, partition: int) -> AsyncIterator[list[int]]:
        """Every bucket that is not empty, ascending, 32 at a time."""
        for span in await self._spans_of(partition, _FIRST, _LAST):
            values = (partition, span, _FIRST, _LAST, 1 << _SPAN_BITS)
            async for page in self._cassandra.pages(_BUCKETS, values, size=_AT_ONCE):
                yield [bucket for (bucket,) in page]

    async def read(self, partition: int, bucket: int) -> list[Ticket]:
        """The tickets of a bucket in the order of their stamps."""
        found = await self._cassandra.read(_ENTRIES, (partition, bucket))
        return tickets_of(found, f"in bucket {bucket} of partition {partition}")

    async def put(self, partition: int, entries: Sequence[Entry], stamp: int) -> None:
        """The index is there before the entries; one entry goes with it, since nobody relies on it before both are."""
        by_bucket: dict[int, list[tuple[object, ...]]] = {}
        for entry in entries:
            values = (partition, entry.bucket, entry.ticket.id, encode(entry.ticket), stamp)
            by_bucket.setdefault(entry.bucket, []).append(values)
        await self._put_spans(partition, {_span(bucket) for bucket in by_bucket}, stamp)
        index = [(partition, _span(bucket), bucket, stamp) for bucket in by_bucket]
        if len(entries) == 1:
            entry_values = by_bucket[entries[0].bucket][0]
            await self._cassandra.write_at_once([(_PUT_BUCKET, index[0]), (_PUT_ENTRY, entry_values)])
            return
        await self._cassandra.write_each(_PUT_BUCKET, index)
        await self._cassandra.write_each(_PUT_ENTRY, [rows[0] for rows in by_bucket.values() if len(rows) == 1])
        for rows in by_bucket.values():
            if len(rows) > 1:
                await self._cassandra.write_together(_PUT_ENTRY, rows)

    async def index(self, partition: int, buckets: Sequence[int], stamp: int) -> None:
        """Let buckets be found that hold something."""
        await self._cassandra.write_each(_PUT_SPAN, [(partition, _span(bucket), stamp) for bucket in buckets])
        await self._cassandra.write_each(_PUT_BUCKET, [(partition, _span(one), one, stamp) for one in buckets])

    async def drop(self, partition: int, bucket: int, stamp: int) -> None:
        """Delete what is older than ``stamp``; the index goes after the entries."""
        await self._cassandra.write(_DROP_ENTRIES, (stamp - 1, partition, bucket))
        await self._cassandra.write(_DROP_BUCKET, (stamp - 1, partition, _span(bucket), bucket))

    async def passed(self, partition: int, cursor: int, stamp: int) -> None:
        """Every bucket up to the stored cursor was dropped, and none is ever written there: forget whole spans."""
        span = _span(cursor)
        if span > self._passed.get(partition, _FIRST):
            await self._cassandra.write(_DROP_SPANS, (stamp - 1, partition, span))
            self._passed[partition] = span
            self._spans[partition] = {kept for kept in self._spans.get(partition, ()) if kept >= span}

    async def waiting(self, partition: int) -> bool:
        """Whether there is any entry."""
        spans = await self._spans_of(partition, _FIRST, _LAST)
        for start in range(0, len(spans), _AT_ONCE):
            asked = [(partition, span, _FIRST, _LAST, 1) for span in spans[start : start + _AT_ONCE]]
            if any(await self._cassandra.read_each(_BUCKETS, asked)):
                return True
        return False

    async def _spans_of(self, partition: int, first: int, last: int) -> list[int]:
        found = await self._cassandra.read(_SPANS, (partition, _span(first), _span(last)))
        return [span for (span,) in found]

    async def _put_spans(self, partition: int, spans: set[int], stamp: int) -> None:
        """A span that this process wrote is there until it has passed, whoever owned the partition meanwhile."""
        made = self._spans.setdefault(partition, set())
        new = spans - made
        await self._cassandra.write_each(_PUT_SPAN, [(partition, span, stamp) for span in new])
        made |= new


def tickets_of(found: ResultRows, where: str) -> list[Ticket]:
    """The tickets of (id, data, stamp), in the order of their stamps. Raises `Damaged`, naming this place."""
    in_order = sorted(found, key=lambda entry: (entry[2], entry[0]))
    return [decoded("entry", where, partial(decode_ticket, data)) for _, data, _ in in_order]


def _span(bucket: int) -> int:
    return bucket >> _SPAN_BITS

"""In which order adapters write: what is relied upon is durable before what relies on it, and goes after it."""

import asyncio
import concurrent.futures
import hashlib
import io
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException, TopicPartition

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import PRIORITIES
from gregor.worker.adapters.cluster import kafka_producer
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.kafka_offsets import Offsets
from gregor.worker.adapters.cluster.kafka_producer import Message, Publisher
from gregor.worker.adapters.cluster.kafka_trim import Trimmer
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.adapters.cluster.redis_scripts import MARK
from gregor.worker.adapters.cluster.store_backlogs import Backlogs
from gregor.worker.adapters.cluster.store_calendar import Calendars
from gregor.worker.adapters.embedded.bodies import SMALL, Bodies, body_path
from gregor.worker.base.replaced import is_part
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import RecordsLost
from gregor.worker.borders.store import Entry
from tests.contract.world import ticket

LARGE = bytes(range(256)) * (SMALL // 256 + 1)
NAME = hashlib.sha256(LARGE).hexdigest()


class Disk:
    """What was flushed and renamed, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, str]] = []
        fsync, replace = os.fsync, Path.replace

        def flush(descriptor: int) -> None:
            self.done.append(("flush", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
            fsync(descriptor)

        def put(path: Path, target: Path) -> Path:
            self.done.append(("name", str(target)))
            return replace(path, target)

        monkeypatch.setattr(os, "fsync", flush)
        monkeypatch.setattr(Path, "replace", put)


def test_a_large_body_is_on_the_disk_before_its_name_and_its_name_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    assert asyncio.run(Bodies(tmp_path).put_large(NAME, io.BytesIO(LARGE))) is None
    file = body_path(tmp_path, NAME)
    (first, part), second, *names = disk.done
    assert first == "flush" and Path(part).parent == file.parent and is_part(Path(part).name)
    assert second == ("name", str(file))
    assert {Path(name) for kind, name in names if kind == "flush"} == {
        file.parent,
        file.parent.parent,
        file.parent.parent.parent,
    }


def test_a_name_that_is_there_is_flushed_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote the file may have been killed before it flushed the name."""
    asyncio.run(Bodies(tmp_path).put_large(NAME, io.BytesIO(LARGE)))
    disk = Disk(monkeypatch)
    asyncio.run(Bodies(tmp_path).put_large(NAME, io.BytesIO(LARGE)))
    assert ("flush", str(body_path(tmp_path, NAME).parent)) in disk.done


class Statements:
    """A Cassandra that takes a while for everything, and remembers when what was begun and done."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    async def write(self, statement: str, _: object) -> None:
        await self._take([statement])

    async def write_each(self, statement: str, many: Sequence[object]) -> None:
        await self._take([statement] if many else [])

    async def write_together(self, statement: str, many: Sequence[object]) -> None:
        await self._take([statement] if many else [])

    async def write_at_once(self, changes: Sequence[tuple[str, object]]) -> None:
        await self._take([statement for statement, _ in changes])

    async def _take(self, statements: Sequence[str]) -> None:
        tables = [_table(statement) for statement in statements]
        self.told += [("begun", table) for table in tables]
        for _ in range(3):
            await asyncio.sleep(0)
        self.told += [("done", table) for table in tables]


def _table(statement: str) -> str:
    words = statement.split()
    return words[words.index("INTO" if "INTO" in words else "FROM") + 1]


def in_order(call: Callable[[Any], Any], *tables: str) -> None:
    """Each of the tables is written whole before the next is begun."""
    statements = Statements()
    asyncio.run(call(statements))
    met = [table for _, table in statements.told]
    assert set(met) == set(tables)
    for before, after in pairwise(tables):
        last = max(at for at, told in enumerate(statements.told) if told == ("done", before))
        assert last < statements.told.index(("begun", after)), statements.told


ENTRIES = [Entry(bucket, ticket(f"{bucket} {number}")) for bucket in (5, 9) for number in range(3)]
SPARSE = [Entry(bucket, ticket(str(bucket))) for bucket in (5, 9)]


@pytest.mark.parametrize("entries", [ENTRIES, SPARSE], ids=["several in a bucket", "one in each"])
def test_the_index_of_the_calendar_is_there_before_its_entries(entries: list[Entry]) -> None:
    in_order(
        lambda cassandra: Calendars(cast(Cassandra, cassandra)).put(3, entries, 7),
        *("calendar_spans", "calendar_buckets", "calendar"),
    )


def test_the_index_of_the_calendar_goes_after_its_entries() -> None:
    in_order(lambda cassandra: Calendars(cast(Cassandra, cassandra)).drop(3, 5, 7), "calendar", "calendar_buckets")


def test_the_index_of_a_backlog_is_there_before_its_entries_and_goes_after_them() -> None:
    in_order(
        lambda cassandra: Backlogs(cast(Cassandra, cassandra)).put(3, "a.test", 1, [ticket("a"), ticket("b")], 7),
        *("backlog_chunks", "backlog"),
    )
    in_order(
        lambda cassandra: Backlogs(cast(Cassandra, cassandra)).drop(3, "a.test", 1, 7), "backlog", "backlog_chunks"
    )


def test_what_is_written_with_the_stamp_of_a_drop_outlives_it() -> None:
    stamps: list[object] = []

    async def write(_: str, values: tuple[object, ...]) -> None:
        stamps.append(values[0])

    cassandra = cast(Cassandra, SimpleNamespace(write=write))
    asyncio.run(Backlogs(cassandra).drop(3, "a.test", 1, 7))
    asyncio.run(Calendars(cassandra).drop(3, 5, 7))
    assert stamps == [6] * 4


def test_a_mark_that_comes_while_records_are_deleted_is_not_set_back() -> None:
    source, other, rounds = ("topic", 3), ("topic", 4), list[dict[tuple[str, int], int]]()

    async def play() -> None:
        trimmer, twice = Trimmer({}, 1.0, 0.0), asyncio.Event()

        async def delete(marks: dict[tuple[str, int], int]) -> dict[tuple[str, int], int]:
            rounds.append(marks)
            if len(rounds) > 1:
                twice.set()
                return {}
            trimmer.add({source: 9})
            return marks

        trimmer._delete = delete  # type: ignore[assignment,method-assign]
        trimmer.add({source: 5, other: 6})
        await asyncio.wait_for(twice.wait(), 20)
        await trimmer.close()

    asyncio.run(play())
    assert rounds[:2] == [{source: 5, other: 6}, {source: 9, other: 6}], "what failed is tried again"


def test_records_are_deleted_up_to_the_watermark_and_what_failed_is_left_to_do() -> None:
    """One more would be a record that is not finished."""
    asked = list[TopicPartition]()

    def delete_records(wanted: list[TopicPartition], request_timeout: float) -> dict[TopicPartition, Any]:
        asked.extend(wanted)
        answers = {one: concurrent.futures.Future[None]() for one in wanted}
        for one, answer in answers.items():
            if one.partition == 4:
                answer.set_exception(KafkaException("away"))
            else:
                answer.set_result(None)
        return answers

    async def play() -> dict[tuple[str, int], int]:
        trimmer: Any = Trimmer({}, 1.0, 60.0)
        trimmer._admin = SimpleNamespace(delete_records=delete_records)
        left: dict[tuple[str, int], int] = await trimmer._delete({("topic", 3): 7, ("topic", 4): 9})
        await trimmer.close()
        return left

    assert asyncio.run(play()) == {("topic", 4): 9}
    assert [(one.partition, one.offset) for one in asked] == [(3, 7), (4, 9)]


def test_a_span_of_the_calendar_is_taken_for_written_once_it_is() -> None:
    """Else no later entry writes it, and nothing below it is found."""
    written, fails = list[str](), [True]

    async def write_each(statement: str, many: Sequence[object]) -> None:
        if _table(statement) == "calendar_spans" and many and fails.pop():
            raise Unavailable("Cassandra", "away")
        written.extend(_table(statement) for _ in many)

    async def put() -> None:
        calendars = Calendars(cast(Cassandra, SimpleNamespace(write_each=write_each)))
        with pytest.raises(Unavailable):
            await calendars.put(3, SPARSE, 7)
        fails.append(False)
        await calendars.put(3, SPARSE, 8)

    asyncio.run(put())
    assert written == ["calendar_spans", "calendar_buckets", "calendar_buckets", "calendar", "calendar"]


def test_of_the_calendar_whole_spans_before_the_cursors_are_forgotten_and_none_other() -> None:
    told = list[tuple[str, tuple[object, ...]]]()

    async def write(statement: str, values: tuple[object, ...]) -> None:
        told.append((" ".join(statement.split()), values))

    async def play() -> None:
        calendars = Calendars(cast(Cassandra, SimpleNamespace(write=write)))
        for cursor in (5, (1 << 14) + 5, (1 << 14) + 9):
            await calendars.passed(3, cursor, 7)

    asyncio.run(play())
    statement = "DELETE FROM calendar_spans USING TIMESTAMP ? WHERE partition = ? AND span < ?"
    assert told == [(statement, (6, 3, 0)), (statement, (6, 3, 1))]


def test_a_message_that_may_not_be_there_fails_its_whole_publication(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever publishes links would finish their page otherwise."""
    monkeypatch.setattr(kafka_producer, "Producer", lambda _: None)
    refused = KafkaError(KafkaError._MSG_TIMED_OUT)

    async def publish(errors: list[KafkaError | None]) -> dict[tuple[str, int], int]:
        loop, ends = asyncio.get_running_loop(), dict[tuple[str, int], int]()
        thread = SimpleNamespace(call=lambda call: None, tell=loop.call_soon)
        publisher = Publisher(cast(Any, thread), {}, 5.0, ends.update)
        waits = asyncio.create_task(publisher.publish([Message("t", 1, b"a", b"b")] * len(errors)))
        await asyncio.sleep(0)
        (batch,) = publisher._batches
        for offset, error in enumerate(errors):
            assert not waits.done()
            here = SimpleNamespace(topic=lambda: "t", partition=lambda: 1, offset=lambda offset=offset: offset)
            batch.delivered(error, None if error else here)
        await waits
        return ends

    assert asyncio.run(publish([None, None])) == {("t", 1): 2}
    for errors in ([refused, None], [None, refused]):
        with pytest.raises(Unavailable):
            asyncio.run(publish(errors))


def test_where_nothing_was_committed_reading_begins_at_the_start() -> None:
    offsets: Any = Offsets.__new__(Offsets)
    found = [TopicPartition("topic", 0, OFFSET_INVALID), TopicPartition("topic", 1, 5)]
    offsets._timeout, offsets._consumer = 1.0, SimpleNamespace(committed=lambda wanted, timeout: found)
    assert offsets._committed([("topic", 0), ("topic", 1)]) == {("topic", 0): 0, ("topic", 1): 5}


def test_what_is_committed_is_the_watermark_itself_with_its_epoch() -> None:
    """One more would be a record that nobody reads again."""
    given = list[TopicPartition]()

    def commit(offsets: list[TopicPartition], asynchronous: bool) -> list[TopicPartition]:
        assert not asynchronous, "the broker's answer is waited for"
        given.extend(offsets)
        return offsets

    async def case() -> None:
        offsets: Any = Offsets.__new__(Offsets)
        offsets._timeout, offsets._consumer = 5.0, SimpleNamespace(commit=commit)
        offsets._executor, offsets._marks, offsets._next, offsets._turn = None, {}, None, asyncio.Lock()
        await offsets.commit({("topic", 0): 7}, 3)

    asyncio.run(case())
    assert [(one.topic, one.partition, one.offset, one.metadata) for one in given] == [("topic", 0, 7, "epoch=3")]


def test_all_urls_of_a_host_go_to_one_partition() -> None:
    given = list[Message]()

    async def publish(messages: list[Message]) -> None:
        given.extend(messages)

    log = object.__new__(KafkaLog)
    topics = {priority: f"p{priority}" for priority in PRIORITIES}
    log.__dict__.update(_partitions=64, _topics=topics, publisher=SimpleNamespace(publish=publish))
    asyncio.run(log.publish([ticket(str(number), host="a.test") for number in range(20)]))
    assert {(one.partition, one.key) for one in given} == {(partition_of("a.test", 64), b"a.test")}


@pytest.mark.parametrize("fails", [False, True])
def test_records_are_deleted_below_a_committed_watermark_only(fails: bool) -> None:
    told: list[str] = []

    async def commit(*_: object) -> None:
        told.append("asked")
        await asyncio.sleep(0)
        if fails:
            raise Unavailable("Kafka", "away")
        told.append("committed")

    log = object.__new__(KafkaLog)
    log.__dict__.update(
        _epochs={},
        _topics={2: "crawl.frontier.p2"},
        _offsets=SimpleNamespace(commit=commit),
        _trimmer=SimpleNamespace(add=lambda marks: told.append(f"may delete {marks}")),
    )

    async def case() -> None:
        await log.commit(1, {2: 70}, 1)

    if fails:
        with pytest.raises(Unavailable):
            asyncio.run(case())
        assert told == ["asked"]
    else:
        asyncio.run(case())
        assert told == ["asked", "committed", "may delete {('crawl.frontier.p2', 1): 70}"]


def test_an_older_epochs_commit_is_not_passed_on() -> None:
    told: list[int] = []

    async def commit(_: object, epoch: int) -> None:
        told.append(epoch)

    log = object.__new__(KafkaLog)
    trimmer = SimpleNamespace(add=lambda _: None)
    log.__dict__.update(_epochs={}, _topics={2: "t"}, _offsets=SimpleNamespace(commit=commit), _trimmer=trimmer)

    async def case() -> None:
        for epoch in (5, 4, 5, 6):
            await log.commit(1, {2: 70}, epoch)

    asyncio.run(case())
    assert told == [5, 5, 6]


def test_a_message_is_acknowledged_by_every_replica_in_sync_and_appended_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(kafka_producer, "Producer", given.append)

    async def case() -> None:
        Publisher(cast(Any, None), {"acks": 1, "enable.idempotence": False}, 5.0, lambda _: None)

    asyncio.run(case())
    (settings,) = given
    assert (settings["acks"], settings["enable.idempotence"]) == ("all", True)


def test_a_bucket_of_redis_is_deleted_after_its_successor_is_there() -> None:
    """A script that a full memory stops has lost nothing."""
    split = MARK.text[MARK.text.index("local function split(group)") :]
    order = [
        split.index(step) for step in ("add(group.key .. group.count, move)", "call('DEL', old)", "add(old, keep)")
    ]
    assert order == sorted(order)
    assert split.count("'DEL'") == 1
    assert split.index("add(old, keep)") < split.index("grow(group)")


@pytest.mark.parametrize(("offset", "start", "end", "goes_on"), [(3, 7, 20, 7), (9, 7, 20, 9), (20, 7, 20, 20)])
def test_reading_goes_on_at_the_start_of_the_log_and_never_silently_at_its_end(
    offset: int, start: int, end: int, goes_on: int
) -> None:
    log, source = object.__new__(KafkaLog), ("t", 1)

    async def starts(_: object) -> dict[Any, int]:
        return {source: start}

    async def ends(_: object) -> dict[Any, int]:
        return {source: end}

    log.__dict__.update(_offsets=SimpleNamespace(starts=starts, ends=ends))
    assert asyncio.run(log._inside(source, offset, "out of range")) == goes_on
    with pytest.raises(RecordsLost):
        asyncio.run(log._inside(source, end + 1, "out of range"))

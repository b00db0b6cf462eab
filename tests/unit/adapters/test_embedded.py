"""What is particular to the embedded engine: group commit, a full disk, a dying thread, a killed process."""

import asyncio
import contextlib
import hashlib
import io
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.adapters.embedded import (
    EmbeddedEngine,
    change_orders,
    open_engine,
    open_reader,
    reader,
    sketches,
    sketching,
)
from gregor.worker.adapters.embedded.database import Database, DatabaseClosed
from gregor.worker.adapters.embedded.folder import Folder, connect_reading
from gregor.worker.adapters.embedded.schema import SCHEMA
from gregor.worker.adapters.embedded.sketching import resketch
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.errors import DiskFull
from gregor.worker.borders.store import Entry
from gregor.worker.commands import cli
from gregor.worker.operate.sketching import Sketched
from gregor.worker.orders.model import Order
from gregor.worker.read.fingerprints import sketch_of
from gregor.worker.read.sketches import share
from tests.contract.world import ManualClock, ordered, ticket
from tests.counted import counted
from tests.files import files_limited_to
from tests.sketches import sketch

PARTITIONS = 4


def with_database(path: Path, case: Callable[[Database], Awaitable[None]]) -> None:
    async def whole() -> None:
        folder = Folder.open(path, PARTITIONS, "rules 1")
        database = Database(folder.connect(), folder.connect(), folder.path / DATABASE)
        try:
            async with asyncio.timeout(30):
                await case(database)
        finally:
            await database.close()
            folder.close()

    asyncio.run(whole())


def with_engine(path: Path, case: Callable[[EmbeddedEngine], Awaitable[None]]) -> None:
    async def whole() -> None:
        engine = await open_engine(path, PARTITIONS, "rules 1", ManualClock())
        try:
            async with asyncio.timeout(30):
                await case(engine)
        finally:
            await engine.close()

    asyncio.run(whole())


def mark(number: int) -> Callable[[sqlite3.Connection], None]:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO seen VALUES (?)", (number,))

    return work


def marked(connection: sqlite3.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT fingerprint FROM seen ORDER BY 1")]


def test_a_failing_call_fails_alone(tmp_path: Path) -> None:
    async def case(database: Database) -> None:
        numbers = [1, 2, 2, 3, 1, 4]
        calls = [database.write(mark(number)) for number in numbers]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(answer) for answer in answers] == [
            type(None),
            type(None),
            sqlite3.IntegrityError,
            type(None),
            sqlite3.IntegrityError,
            type(None),
        ]
        assert database.read(marked) == [1, 2, 3, 4]

    with_database(tmp_path, case)


def test_half_a_call_is_never_kept(tmp_path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        mark(7)(connection)
        raise LookupError

    async def case(database: Database) -> None:
        broken, whole = database.write(half), database.write(mark(8))
        with pytest.raises(LookupError):
            await broken
        await whole
        assert database.read(marked) == [8]

    with_database(tmp_path, case)


def test_a_commit_is_on_the_disk_when_it_is_acknowledged(tmp_path: Path) -> None:
    def settings(connection: sqlite3.Connection) -> list[object]:
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    async def case(database: Database) -> None:
        full = 2
        assert database.read(settings) == ["wal", full]

    with_database(tmp_path, case)


def test_calls_that_come_together_share_a_commit(tmp_path: Path) -> None:
    async def case(database: Database) -> None:
        commits: list[str] = []
        database.read(
            lambda connection: connection.set_trace_callback(
                lambda statement: commits.append(statement) if statement == "COMMIT" else None
            )
        )
        await asyncio.gather(*[database.write(mark(number)) for number in range(1000)])
        assert len(commits) < 100
        assert len(database.read(marked)) == 1000

    with_database(tmp_path, case)


def test_a_full_disk_fails_the_calls_and_loses_nothing(tmp_path: Path) -> None:
    async def case(engine: EmbeddedEngine) -> None:
        await engine.log.publish([ticket("before")])
        with files_limited_to(1 << 20):
            floods = [engine.log.publish([ticket("x" * 1000 + str(n)) for n in range(100)]) for _ in range(40)]
            answers = await asyncio.gather(*floods, return_exceptions=True)
            assert DiskFull in {type(answer) for answer in answers}
            assert {type(answer) for answer in answers} <= {DiskFull, type(None)}
        await engine.log.publish([ticket("after")])

    with_engine(tmp_path, case)

    async def check(engine: EmbeddedEngine) -> None:
        records = await engine.log.read(partition_of("example.org", PARTITIONS), 2, 0, 100_000)
        assert [record.offset for record in records] == list(range(len(records)))
        paths = [record.ticket.key[19:] for record in records if isinstance(record.ticket, Ticket)]
        assert paths[0] == "before"
        assert paths[-1] == "after"

    with_engine(tmp_path, check)


def test_a_database_that_may_not_grow_is_a_full_disk_and_can_be_closed(tmp_path: Path) -> None:
    def shut(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()

    async def case(engine: EmbeddedEngine) -> None:
        await engine._database.write(shut)
        with pytest.raises(DiskFull):
            await engine.log.publish([ticket("x" * 10_000)])

    with_engine(tmp_path, case)
    with_engine(tmp_path, lambda engine: engine.log.publish([ticket("after")]))


def test_a_large_body_on_a_full_disk_is_no_page(tmp_path: Path) -> None:
    noise = b"".join(hashlib.sha256(number.to_bytes(4, "big")).digest() for number in range(100_000))
    page = Page(
        key="http://example.org/",
        href="http://example.org/",
        host="example.org",
        visit=1,
        kind="new",
        status=200,
        fetched_at=1.0,
        body=hashlib.sha256(noise).hexdigest(),
    )

    async def case(engine: EmbeddedEngine) -> None:
        with files_limited_to(1 << 20), pytest.raises(DiskFull):
            await engine.store.put_page(page, io.BytesIO(noise), None, 1)
        assert await engine.store.page(page.key, 1) is None
        assert [path for path in (tmp_path / "bodies").rglob("*") if path.is_file()] == []
        await engine.store.put_page(page, io.BytesIO(noise), None, 1)
        reader = await open_reader(tmp_path)
        found = await reader.body(page.body)
        assert found is not None
        with found:
            assert found.read() == noise
        await reader.close()

    with_engine(tmp_path, case)


def test_a_thread_that_dies_is_noticed(tmp_path: Path) -> None:
    def die(connection: sqlite3.Connection) -> None:
        raise SystemExit

    async def case(database: Database) -> None:
        calls = [database.write(mark(1)), database.write(die), database.write(mark(2))]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(answer) for answer in answers} <= {type(None), DatabaseClosed}
        assert isinstance(answers[1], DatabaseClosed)
        assert isinstance(answers[1].__cause__, SystemExit)
        assert not database.alive
        with pytest.raises(DatabaseClosed, match="died"):
            await database.write(mark(3))

    with_database(tmp_path, case)


def test_a_dead_thread_ends_the_leases_and_is_heard(tmp_path: Path) -> None:
    def die(connection: sqlite3.Connection) -> None:
        raise SystemExit

    async def case(engine: EmbeddedEngine) -> None:
        lease = await engine.coordinator.acquire(0, 0)
        assert lease is not None
        with pytest.raises(DatabaseClosed):
            await engine._database.write(die)
        assert not lease.holds()
        with pytest.raises(DatabaseClosed):
            while True:
                await engine.coordinator.changed()

    with_engine(tmp_path, case)


def test_a_cancelled_caller_harms_no_other(tmp_path: Path) -> None:
    async def case(database: Database) -> None:
        first, second = database.write(mark(1)), database.write(mark(2))
        first.cancel()
        await second
        assert database.read(marked) == [1, 2]

    with_database(tmp_path, case)


def test_a_wall_clock_that_went_back_between_two_runs_changes_nothing(tmp_path: Path) -> None:
    async def run(clock: ManualClock) -> float:
        engine = await open_engine(tmp_path, PARTITIONS, "rules 1", clock)
        clock.pass_(30.0)
        now = engine.coordinator.now()
        await engine.close()
        return now

    first = asyncio.run(run(ManualClock(wall=5000.0)))
    second = asyncio.run(run(ManualClock(wall=1000.0)))
    assert first == 5030.0
    assert second == 5060.0


def test_orders_from_another_process_are_heard(tmp_path: Path) -> None:
    async def case(engine: EmbeddedEngine) -> None:
        await engine.coordinator.join()
        await asyncio.to_thread(change_orders, tmp_path, lambda _: ordered(Order("pause")))
        while not engine.coordinator.orders().paused:
            await engine.coordinator.changed()

    with_engine(tmp_path, case)


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    code = """
import asyncio, pathlib, sys
from gregor.worker.adapters.embedded import open_engine
from tests.contract.world import ManualClock, ticket

async def main():
    engine = await open_engine(pathlib.Path(sys.argv[1]), 4, "rules 1", ManualClock())
    number = 0
    while True:
        await asyncio.gather(*[engine.log.publish([ticket(str(number + step))]) for step in range(10)])
        number += 10
        print(number, flush=True)

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        acknowledged = [int(other.stdout.readline()) for _ in range(20)][-1]
        other.kill()
        acknowledged = max([acknowledged, *[int(line) for line in other.stdout]])

    async def read() -> None:
        reader = await open_reader(tmp_path)
        counts = await counted(reader)
        assert counts.pop("waiting") >= acknowledged
        assert await reader.settled() == counts
        await reader.close()

    asyncio.run(read())

    async def case(engine: EmbeddedEngine) -> None:
        found = [
            record.ticket.key[19:]
            for partition in range(PARTITIONS)
            for record in await engine.log.read(partition, 2, 0, 1_000_000)
            if isinstance(record.ticket, Ticket)
        ]
        assert {str(number) for number in range(acknowledged)} <= set(found)

    with_engine(tmp_path, case)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 30)), max_size=20), st.integers(1, 5), st.integers(0, 30))
def test_near_duplicates_are_those_that_comparing_with_all_finds(
    stored: list[tuple[int, int]], number: int, differing: int
) -> None:
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)
    asked = sketch(number, differing)
    for name, made in enumerate(stored):
        sketches.put(connection, Page(str(name), "", "", 1, "new", 200, 1.0, sketch=sketch(*made)))
    best = max((share(asked, sketch(*made)) for made in stored), default=0.0)
    found = sketches.near(connection, asked, 0.65)
    assert (found is not None) == (best >= 0.65)
    assert found is None or share(asked, sketch(*stored[int(found)])) == best
    connection.close()


def test_a_page_leaves_nothing_of_its_sketch_when_it_is_forgotten_or_comes_anew() -> None:
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)

    def counted() -> list[int]:
        return [
            connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("sketches", "sketch_keys")
        ]

    for number, visit in ((1, 1), (1, 1), (2, 2)):
        sketches.put(connection, Page("http://a/", "", "", visit, "new", 200, 1.0, sketch=sketch(number)))
        assert counted() == [1, 6]
    sketches.put(connection, Page("http://a/", "", "", 3, "new", 200, 1.0, sketch=sketch(2), duplicate_of="http://b/"))
    assert counted() == [0, 0]
    sketches.put(connection, Page("http://a/", "", "", 4, "new", 200, 1.0, sketch=sketch(2)))
    sketches.forget(connection, "http://a/")
    assert counted() == [0, 0]
    connection.close()


def test_a_folder_of_a_version_without_sketches_gets_them(tmp_path: Path) -> None:
    with_engine(tmp_path, lambda engine: asyncio.sleep(0))
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl.db")) as connection, connection:
        connection.execute("DROP TABLE sketches")
        connection.execute("DROP TABLE sketch_keys")
        connection.execute("CREATE TABLE simhashes (simhash INTEGER PRIMARY KEY, key TEXT NOT NULL)")

    async def nothing_is_similar() -> None:
        folder = await open_reader(tmp_path)
        assert await folder.similar(sketch(1), 0.5, 1) == []
        await folder.close()

    asyncio.run(nothing_is_similar())

    async def found(engine: EmbeddedEngine) -> None:
        await engine.store.put_page(Page("http://a/", "", "a", 1, "new", 200, 1.0, sketch=sketch(1)), None, None, 1)
        assert await engine.store.near(sketch(1), 0.65) == "http://a/"

    with_engine(tmp_path, found)
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'simhashes'").fetchone()


def test_a_look_sees_what_was_acknowledged_and_nothing_else(tmp_path: Path) -> None:
    def count(connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM seed_hosts").fetchone()[0])

    def add(host: str, connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO seed_hosts VALUES (?)", (host,))

    async def case(database: Database) -> None:
        for number in range(20):
            assert database.read(count) == number
            await database.write(partial(add, f"h{number}"))
        await database.close()
        with pytest.raises(DatabaseClosed):
            database.read(count)

    with_database(tmp_path, case)


def test_status_reads_as_little_however_many_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    steps: list[int] = []

    def step() -> None:
        steps[-1] += 1

    def counting(path: Path) -> tuple[sqlite3.Connection, dict[str, str]]:
        connection, made_for = connect_reading(path)
        connection.set_progress_handler(step, 1)
        return connection, made_for

    async def case(engine: EmbeddedEngine) -> None:
        for begin, end in ((0, 10), (10, 2000)):
            await engine.log.publish([ticket(str(number)) for number in range(begin, end)])
            later = [Entry(7, ticket(f"later-{number}")) for number in range(begin, end)]
            await engine.store.put_entries(0, later, 1)
            steps.append(0)
            assert await asyncio.to_thread(cli.main, ("status", "--json", "--data", str(tmp_path))) == 0
            told = msgspec.json.decode(capsysbinary.readouterr().out)
            assert told == {"pages": 0, "pages_200": 0, "bytes": 0, "lag": end}
        assert steps[0] == steps[1] > 0

    monkeypatch.setattr(reader, "connect_reading", counting)
    with_engine(tmp_path, case)


def test_how_many_there_are_is_counted_as_they_come(tmp_path: Path) -> None:
    """Whoever asks how a crawl of millions goes waits for no walk over what is stored."""

    async def case(engine: EmbeddedEngine) -> None:
        reader = await open_reader(tmp_path)
        steps: list[int] = []

        def step() -> None:
            steps[-1] += 1

        await reader.ask(lambda connection: connection.set_progress_handler(step, 1))
        for begin, end in ((0, 10), (10, 2000)):
            urls = [f"http://a.example/{number}" for number in range(begin, end)]
            await engine.store.put_rows([Row(url, url, "a.example", 1, "fetched", "fetched") for url in urls], 1)
            for url in urls:
                await engine.store.put_page(Page(url, url, "a.example", 1, "new", 200, 1.0, size=3), None, None, 1)
            steps.append(0)
            assert await reader.settled() == {"fetched": end, "pages": end, "pages_200": end, "bytes": 3 * end}
        assert steps[0] == steps[1] > 0
        await reader.close()

    with_engine(tmp_path, case)


def test_an_older_owners_commit_sets_no_watermark_back(tmp_path: Path) -> None:
    async def case(engine: EmbeddedEngine) -> None:
        await engine.log.publish([ticket(str(number)) for number in range(9)])
        home = partition_of("example.org", PARTITIONS)
        await engine.log.commit(home, {2: 7}, epoch=5)
        await engine.log.commit(home, {2: 3}, epoch=4)
        assert (await engine.log.committed(home))[2] == 7
        await engine.log.commit(home, {2: 8}, epoch=6)
        assert (await engine.log.committed(home))[2] == 8

    with_engine(tmp_path, case)


def test_a_watermark_beyond_the_end_is_refused(tmp_path: Path) -> None:
    """What is published next would lie below it, and be lost."""

    async def case(engine: EmbeddedEngine) -> None:
        await engine.log.publish([ticket(str(number)) for number in range(3)])
        home = partition_of("example.org", PARTITIONS)
        with pytest.raises(ValueError, match="beyond the end"):
            await engine.log.commit(home, {2: 4}, epoch=1)
        await engine.log.commit(home, {2: 3}, epoch=1)
        assert (await engine.log.committed(home))[2] == 3

    with_engine(tmp_path, case)


def test_old_pages_get_their_sketches_and_what_is_cut_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [" ".join(f"w{number}x{word}" for word in range(40)) for number in range(9)]

    async def stored(engine: EmbeddedEngine) -> None:
        for number, text in enumerate(texts):
            page = Page(f"http://a/{number}", "", "a", 1, "new", 200, 1.0, text=text)
            await engine.store.put_page(page, None, None, 1)
        newest = Page("http://a/0", "", "a", 2, "revisit", 200, 1.0, text=texts[0].upper())
        await engine.store.put_page(newest, None, None, 2)

    with_engine(tmp_path, stored)
    monkeypatch.setattr(sketching, "_SLICE", 2)

    class Cut(Exception):
        pass

    def cut(how_far: Sketched) -> None:
        if how_far.pages >= 4:
            raise Cut

    with pytest.raises(Cut):
        resketch(tmp_path, cut)
    told: list[Sketched] = []
    did = resketch(tmp_path, lambda how_far: told.append(msgspec.structs.replace(how_far)))
    assert (did.before, did.pages, did.before + did.done) == (5, 5, 10)
    assert [how_far.pages for how_far in told] == [2, 4, 5]
    assert resketch(tmp_path, told.append).before == 0

    async def found(engine: EmbeddedEngine) -> None:
        for number, text in enumerate(texts):
            assert await engine.store.near(sketch_of(text), 0.9) == f"http://a/{number}"

    with_engine(tmp_path, found)

"""A data folder counts pages and requisites as they are stored, whatever partitions' records tell of them."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gregor.schemas.messages import Page, PartitionRecord, Row
from gregor.worker.adapters.embedded import EmbeddedEngine, open_engine, open_reader
from gregor.worker.adapters.embedded.erasing import erase
from gregor.worker.adapters.embedded.requisites import are_right
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.operate.erase import Whose
from gregor.worker.web.urls import Urls
from tests.contract.world import ManualClock

HOST = "cdn.example"
KEY = f"http://{HOST}/a"
SHOWN, PAGE = (0, 0, 1), (1, 1, 0)


def page(visit: int = 1, *, requisite: bool = True, status: int = 200) -> Page:
    return Page(KEY, KEY, HOST, visit, "new", status, 1.0, size=3, requisite=requisite)


def row(version: int = 1, *, requisite: bool = True) -> Row:
    return Row(KEY, KEY, HOST, version, "fetched", "fetched", page=version, kept_status=200, requisite=requisite)


def put(path: Path, *records: tuple[Page | Row | PartitionRecord, int]) -> None:
    """Each with its stamp; the process is killed then, without a checkpoint."""

    async def whole() -> None:
        engine = await open_engine(path, 4, "rules 1", ManualClock())
        for record, stamp in records:
            await _put(engine, record, stamp)
        await engine.close()

    asyncio.run(whole())


async def _put(engine: EmbeddedEngine, record: Page | Row | PartitionRecord, stamp: int) -> None:
    if isinstance(record, Page):
        await engine.store.put_page(record, None, None, stamp)
    elif isinstance(record, Row):
        await engine.store.put_rows([record], stamp)
    else:
        await engine.store.put_partition(record, stamp)


def counts(path: Path) -> tuple[int, int, int]:
    """Pages, pages of status 200, and requisites."""

    async def read() -> dict[str, int]:
        reader = await open_reader(path)
        found = await reader.settled()
        await reader.close()
        return found

    found = asyncio.run(read())
    return found["pages"], found["pages_200"], found.get("requisites", 0)


def is_right(path: Path) -> bool:
    with closing(sqlite3.connect(path / DATABASE)) as connection:
        return are_right(connection)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([(page(), 5)], SHOWN),  # killed before its row was written
        ([(page(), 5), (row(), 6)], SHOWN),
        ([(page(), 5), (row(), 6), (page(), 7)], SHOWN),  # done again
        ([(page(), 5), (row(), 6), (row(requisite=False), 7)], PAGE),
        ([(page(), 5), (row(), 6), (row(requisite=False), 4)], SHOWN),  # late, of an old owner
        ([(page(), 5), (row(), 6), (row(requisite=False), 7), (page(2, requisite=False), 8)], PAGE),
        ([(page(), 5), (row(), 6), (page(2, requisite=False), 8)], PAGE),
        ([(page(), 5), (row(), 6), (page(2, status=404), 8), (row(2), 9)], (0, 0, 1)),
        ([(page(2), 5), (row(2), 6), (page(1, requisite=False), 7)], SHOWN),  # no newest version
        ([(page(requisite=False), 5), (row(requisite=False), 6), (page(), 4)], PAGE),
        ([(page(status=404, requisite=False), 5)], (1, 0, 0)),
    ],
)
def test_pages_and_requisites_are_counted_as_stored(
    tmp_path: Path, records: list[tuple[Page | Row, int]], expected: tuple[int, int, int]
) -> None:
    put(tmp_path, *records)
    assert counts(tmp_path) == expected
    assert is_right(tmp_path)
    erase(tmp_path, Whose.of(HOST, Urls()))
    assert counts(tmp_path) == (0, 0, 0)
    assert is_right(tmp_path)


HARMS: list[Callable[[sqlite3.Connection], object]] = [
    lambda c: c.execute("DELETE FROM requisites"),
    lambda c: c.execute("UPDATE requisites SET ok = 0"),
    lambda c: c.execute("INSERT INTO requisites VALUES ('http://other.example/', 1)"),
    lambda c: c.execute("UPDATE shown SET requisites = 7"),
]


@pytest.mark.parametrize("harm", HARMS)
def test_what_is_counted_wrong_is_found(tmp_path: Path, harm: Callable[[sqlite3.Connection], object]) -> None:
    put(tmp_path, (page(), 5), (row(), 6))
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
        harm(connection)
    assert not is_right(tmp_path)


def test_a_folder_that_marked_none_is_counted_when_it_is_opened(tmp_path: Path) -> None:
    put(tmp_path, (page(), 5), (row(), 6), (PartitionRecord(1, counts={"requisites": 9}), 7))
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
        for name in ("document_gone", "requisite_added", "requisite_changed", "requisite_gone"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DROP TABLE requisites")
        connection.execute("DROP TABLE shown")
    assert counts(tmp_path) == (1, 1, 0)
    assert not is_right(tmp_path)
    put(tmp_path)
    assert counts(tmp_path) == SHOWN
    assert is_right(tmp_path)

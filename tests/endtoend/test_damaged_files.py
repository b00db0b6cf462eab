"""A file of the data folder that is damaged: whichever command meets it says which, in one line, and what to do."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from gregor.worker.commands import cli
from tests.endtoend.stored import store
from tests.endtoend.test_commands import bare

__all__ = ["bare"]
PAGES = {f"http://a.test/{number}": b"<title>A page</title><p>a harbour" + b" and more" * number for number in range(5)}


def damage(file: Path, table: str) -> None:
    """Write over the first page of a table's tree, and leave the rest as it is."""
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = database.execute("PRAGMA page_size").fetchone()
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    database.close()
    with file.open("r+b") as raw:
        raw.seek((root - 1) * size)
        raw.write(b"\x5a" * size)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    store(tmp_path / "data", PAGES)
    return tmp_path / "data"


@pytest.fixture
def last_line(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    def said(line: str) -> str:
        code = cli.main(line.split())
        captured = capsys.readouterr()
        assert code in (1, 2)
        *before, last = (captured.err or captured.out).splitlines()
        assert "Traceback" not in captured.err and not before
        return last

    return said


@pytest.mark.parametrize(
    "line",
    ["orders", "block x.test", "optout x.test", "crawl http://a.test/ --user-agent me/1.0", "recrawl http://a.test/1"],
)
def test_damage_among_the_orders_is_told_by_name(line: str, data: Path, last_line: Callable[[str], str]) -> None:
    damage(data / "crawl.db", "orders")
    said = last_line(f"{line} --data {data}")
    assert f"the database {data / 'crawl.db'} is damaged: " in said and "check" in said


def test_doctor_tells_a_damaged_folder_among_what_it_finds(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(data / "crawl.db", "orders")
    assert cli.main(["doctor", "--data", str(data)]) == 1
    assert f"the database {data / 'crawl.db'} is damaged: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "line", ["status", "pages", "hosts", "deadletters", "check", "search x", "export csv", "orders"]
)
@pytest.mark.parametrize("content", [b"no database" * 1000, b""])
def test_what_is_no_database_is_told_by_every_command(
    line: str, content: bytes, data: Path, last_line: Callable[[str], str]
) -> None:
    (data / "crawl.db").write_bytes(content)
    said = last_line(f"{line} --data {data}")
    assert f"{data / 'crawl.db'} cannot be read: file is not a database" in said or f"{data} holds no crawl" in said


@pytest.mark.parametrize(("line", "table"), [("index --once", "facts"), ("rank", "pages"), ("check --index", "ranks")])
def test_a_damaged_book_of_the_index_is_told_with_what_makes_it_anew(
    line: str, table: str, data: Path, last_line: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tantivy")
    assert cli.main(["index", "--once", "--data", str(data)]) == 0
    book = data / "index" / "1" / "book.db"
    damage(book, table)
    capsys.readouterr()
    said = last_line(f"{line} --data {data}")
    assert f"{book}, by which the index is made, is damaged: " in said and "index --rebuild" in said
    assert cli.main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    assert cli.main([*line.split(), "--data", str(data)]) == 0


@pytest.mark.parametrize("kind", ["store", "term"])
def test_a_damaged_file_of_the_index_is_told_by_who_reads_it(
    kind: str, data: Path, last_line: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tantivy")
    assert cli.main(["index", "--once", "--data", str(data)]) == 0
    for file in (data / "index" / "1" / "tantivy").glob(f"*.{kind}"):
        content = file.read_bytes()
        third = len(content) // 3
        file.write_bytes(content[:third] + b"\x5a" * third + content[2 * third :])
    capsys.readouterr()
    said = last_line(f"search harbour --data {data}")
    assert f"{data / 'index' / '1' / 'tantivy'} is damaged: " in said and "index --rebuild" in said


def test_nothing_else_is_blamed_on_the_book(tmp_path: Path) -> None:
    from gregor.search.adapters.damage import usable

    sqlite3.connect(tmp_path / "book.db").close()
    error = sqlite3.DatabaseError("malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with pytest.raises(sqlite3.DatabaseError, match="malformed"), usable(tmp_path / "book.db"):
        raise error

"""Bytes of a data folder that changed on the disk: what is damaged is named, never given out; the rest is."""

import asyncio
import gzip
import hashlib
import io
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from gregor.schemas.messages import Attempt, Row, Ticket
from gregor.worker.adapters.embedded import open_engine
from gregor.worker.borders.store import Entry
from gregor.worker.commands import cli
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import canonical_rules
from tests.contract.world import ManualClock
from tests.reading import page, row

PARTITIONS = Config().partitions
LARGE = hashlib.sha256(b"seed").digest() * 40_000 + bytes(range(256)) * 4000
SMALL = b"<title>small</title>"
CODED = gzip.compress(SMALL, mtime=0)
URLS = {name: f"http://a.test/{name}" for name in ("small", "large", "coded")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl of three pages: a body in the database, one in a file, one with its wire body beside it."""

    async def fill() -> None:
        engine = await open_engine(
            tmp_path / "data", PARTITIONS, canonical_rules(Config()).fingerprint(), ManualClock()
        )
        bodies = {"small": SMALL, "large": LARGE, "coded": SMALL}
        for name, body in bodies.items():
            wire = CODED if name == "coded" else None
            made = page(URLS[name], body, wire=sha256(wire) if wire else "", text=name)
            made.response_head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
            await engine.store.put_page(made, io.BytesIO(body), io.BytesIO(wire) if wire else None, 1)
            await engine.store.put_rows([row(made, page=1, attempts=(Attempt(1.0, "fetched", 200),))], 1)
        await engine.close()

    asyncio.run(fill())
    return tmp_path / "data"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def change(folder: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(folder / "crawl.db")
    with connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def flip(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("bodies/*/*.zst")
    return found


HARMS: dict[str, Callable[[Path], object]] = {
    "the middle of a file flipped": lambda f: file_of(f).write_bytes(flip(file_of(f).read_bytes(), -2000)),
    "the head of a file flipped": lambda f: file_of(f).write_bytes(flip(file_of(f).read_bytes(), 0)),
    "the length in its head flipped": lambda f: file_of(f).write_bytes(flip(file_of(f).read_bytes(), 5)),
    "a file cut": lambda f: file_of(f).write_bytes(file_of(f).read_bytes()[:-100]),
    "a file emptied": lambda f: file_of(f).write_bytes(b""),
    "a file deleted": lambda f: file_of(f).unlink(),
    "another whole frame": lambda f: file_of(f).write_bytes(zstandard.compress(LARGE[:-1])),
}


def told(capsysbinary: pytest.CaptureFixture[bytes], *words: str, code: int) -> tuple[bytes, str]:
    capsysbinary.readouterr()
    assert cli.main(words) == code
    found = capsysbinary.readouterr()
    assert b"Traceback" not in found.err
    return found.out, found.err.decode()


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_file_is_named_and_the_rest_is_read(
    folder: Path, harm: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    HARMS[harm](folder)
    data = ("--data", str(folder))
    out, error = told(capsysbinary, "show", URLS["large"], "--body", *data, code=1)
    assert not len(out)
    assert URLS["large"] in error
    assert told(capsysbinary, "show", URLS["small"], "--body", *data, code=0)[0] == SMALL
    out, error = told(capsysbinary, "export", "warc", *data, code=1)
    assert URLS["large"] in error and URLS["small"] not in error
    payloads = {
        record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
        for record in ArchiveIterator(io.BytesIO(out))
        if record.rec_type == "response"
    }
    assert payloads[URLS["small"]] == SMALL
    assert not payloads.get(URLS["large"])
    out, error = told(capsysbinary, "export", "jsonl", *data, code=1)
    assert URLS["large"] in error
    assert {msgspec.json.decode(line)["url"] for line in out.splitlines()} == set(URLS.values())


@pytest.mark.parametrize("body", [SMALL, CODED], ids=["body", "wire"])
@pytest.mark.parametrize("at", [0, 4, 7, -1, -6])
def test_a_flipped_byte_in_the_database_is_found(
    folder: Path, body: bytes, at: int, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    name = bytes.fromhex(sha256(body))
    stored = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(body)
    change(folder, "UPDATE bodies SET data = ? WHERE sha256 = ?", flip(stored, at), name)
    out, error = told(capsysbinary, "export", "warc", "--data", str(folder), code=1)
    assert (URLS["coded"] in error) is (body is CODED)  # its wire body is what is written
    assert (URLS["small"] in error) is (body is SMALL)
    assert URLS["large"] not in error
    found = [record for record in ArchiveIterator(io.BytesIO(out)) if record.rec_type == "response"]
    assert len(found) == 3


@pytest.mark.parametrize("table", ["rows", "pages"])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "other"])
def test_a_damaged_record_is_named_and_the_others_are_read(
    folder: Path, table: str, harm: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    connection = sqlite3.connect(folder / "crawl.db")
    stored = dict(connection.execute(f"SELECT key, data FROM {table}"))
    connection.close()
    data = stored[URLS["small"]]
    damaged = {"flip": flip(data, 1), "cut": data[:-3], "empty": b"", "other": stored[URLS["large"]]}[harm]
    change(folder, f"UPDATE {table} SET data = ? WHERE key = ?", damaged, URLS["small"])
    where = ("--data", str(folder))
    commands = ["pages --jsonl", *(["export jsonl", "export warc"] if table == "pages" else [])]
    for command in commands:
        out, error = told(capsysbinary, *command.split(), *where, code=1)
        assert URLS["small"] in error and URLS["large"] not in error
        if command != "export warc":
            urls = {msgspec.json.decode(line)["url"] for line in out.splitlines()}
            assert {URLS["large"], URLS["coded"]} <= urls
    assert URLS["small"] in told(capsysbinary, "show", URLS["small"], *where, code=1)[1]
    assert told(capsysbinary, "show", URLS["large"], *where, code=0)[1] == ""
    told(capsysbinary, "explain", URLS["small"], *where, code=1)


def with_rows(folder: Path, rows: list[Row]) -> bytes:
    """The database of the folder with these rows, all in its one file."""

    async def fill() -> None:
        engine = await open_engine(folder, PARTITIONS, canonical_rules(Config()).fingerprint(), ManualClock())
        await engine.store.put_rows(rows, 2)
        await engine.close()

    asyncio.run(fill())
    connection = sqlite3.connect(folder / "crawl.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return (folder / "crawl.db").read_bytes()


def overwrite(folder: Path, database: bytes, at: int) -> None:
    """The page of the file in which an octet lies is lost."""
    at = at // 8192 * 8192
    (folder / "crawl.db").write_bytes(database[:at] + b"\xff" * 8192 + database[at + 8192 :])


def listed(folder: Path, capsysbinary: pytest.CaptureFixture[bytes], code: int = 1) -> tuple[set[str], str]:
    out, error = told(capsysbinary, "pages", "--jsonl", "--data", str(folder), code=code)
    return {msgspec.json.decode(line)["url"] for line in out.splitlines()}, error


def test_a_damaged_value_takes_no_other_record_with_it(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A value of several pages of the file: the chain of them is broken, the tree is not."""
    long = "".join(hashlib.sha512(bytes([number])).hexdigest() for number in range(256))
    rows = [Row(f"http://a.test/{n}", f"http://a.test/{n}", "a.test", 1, "gone", long) for n in range(20)]
    database = with_rows(folder, rows)
    overwrite(folder, database, database.index(long[9000:9100].encode()))
    urls, error = listed(folder, capsysbinary)
    assert len(urls) == 22
    assert "record of the table rows http://a.test/" in error or "record of the table rows number" in error


def test_a_damaged_tree_takes_what_lies_on_its_page(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """From both ends all is read but for what was on the lost page."""
    rows = [Row(f"http://a.test/{n:05}", f"http://a.test/{n:05}", "a.test", 1, "gone", "gone") for n in range(5000)]
    database = with_rows(folder, rows)
    overwrite(folder, database, database.index(b"http://a.test/02500"))
    urls, error = listed(folder, capsysbinary)
    assert {"http://a.test/00000", "http://a.test/02000", "http://a.test/03000", "http://a.test/04999"} <= urls
    assert len(urls) > 4800
    assert "table rows is damaged" in error


def test_a_worker_that_meets_damage_ends_with_one_line_that_names_it(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    async def fill() -> None:
        engine = await open_engine(folder, PARTITIONS, canonical_rules(Config()).fingerprint(), ManualClock())
        ticket = Ticket("http://a.test/x", "http://a.test/x", "a.test", kind="retry", visit=1)
        await engine.store.put_entries(3, [Entry(5, ticket)], 1)
        await engine.close()

    asyncio.run(fill())
    change(folder, "UPDATE calendar SET data = x'c1c1'")
    _, error = told(capsysbinary, "crawl", "--data", str(folder), code=1)
    assert "in 3 5 is damaged" in error and "gregor check" in error

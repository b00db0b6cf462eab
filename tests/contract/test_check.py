"""`gregor check`: whatever changed in a data folder is found, and mended so that nothing is lost."""

import contextlib
import hashlib
import http.server
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import Row, Ticket, decode, encode
from gregor.worker.commands import cli
from tests.serving import running

LARGE = "".join(hashlib.sha512(bytes([n % 256, n // 256])).hexdigest() for n in range(12_000))


class Site(http.server.BaseHTTPRequestHandler):
    """Twelve pages in a row; the last is large, and each has validators."""

    def do_GET(self) -> None:
        name = self.path.strip("/") or "0"
        found = name.isdigit() and int(name) < 12
        same = found and self.headers.get("If-None-Match") == f'"{name}"'
        body = f"<title>{name}</title><p>page {name}<a href=/{int(name) + 1}>next</a>" if found else "none"
        body += LARGE if name == "11" else ""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(304 if same else 200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("ETag", f'"{name}"')
            self.end_headers()
            self.wfile.write(b"" if same else body.encode())

    def log_message(self, *_: object) -> None:
        return


class Checked:
    """A crawled folder, and the commands on it."""

    def __init__(self, folder: Path, flags: list[str], captured: pytest.CaptureFixture[bytes]) -> None:
        self.folder = folder
        self._flags = flags
        self._captured = captured

    def said(self, *words: str, code: int = 0) -> str:
        self._captured.readouterr()
        assert cli.main([words[0], *self._flags[:2], *words[1:]]) == code, self._captured.readouterr()
        captured = self._captured.readouterr()
        assert b"Traceback" not in captured.err
        return captured.out.decode()

    def check(self, *words: str, code: int) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.said("check", "--json", *words, code=code).splitlines()]

    def crawl(self, *words: str) -> dict[str, Any]:
        found = msgspec.json.decode(self.said("crawl", "--json", *self._flags[2:], *words))
        assert isinstance(found, dict)
        return found

    def change(self, statement: str, *values: object) -> None:
        connection = sqlite3.connect(self.folder / "crawl.db")
        with connection:
            assert connection.execute(statement, values).rowcount > 0, statement
        connection.close()

    def find(self, statement: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self.folder / "crawl.db")
        found = connection.execute(statement).fetchall()
        connection.close()
        return found

    def file(self) -> Path:
        (found,) = self.folder.glob("bodies/*/*.zst")
        return found


@pytest.fixture
def checked(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Iterator[Checked]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server, running(server):
        (tmp_path / "hosts").write_text(f"www.test 127.0.0.1:{server.server_port}\n")
        flags = ["--data", str(tmp_path / "data"), "--host-table", str(tmp_path / "hosts"), "--delay", "0"]
        found = Checked(tmp_path / "data", [*flags, "--set", "delay_factor=0"], capsysbinary)
        report = found.crawl("http://www.test/0")
        assert report["states"] == {"fetched": 12, "gone": 1}
        yield found


def flipped(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def ticket(path: str, **fields: object) -> Ticket:
    url = f"http://www.test/{path}"
    return Ticket(url, url, "www.test", **fields)  # type: ignore[arg-type]


def _body_in_database(checked: Checked) -> None:
    ((name, data),) = checked.find("SELECT sha256, data FROM bodies ORDER BY sha256 LIMIT 1")
    checked.change("UPDATE bodies SET data = ? WHERE sha256 = ?", flipped(data, -9), name)


def _row_other_state(checked: Checked) -> None:
    ((data,),) = checked.find("SELECT data FROM rows WHERE key LIKE '%/3'")
    changed = msgspec.structs.replace(decode(data, Row), state="waiting")
    checked.change("UPDATE rows SET data = ?, state = 'waiting' WHERE key LIKE '%/3'", encode(changed))


def _lost_url(checked: Checked) -> None:
    checked.change("DELETE FROM rows WHERE key LIKE '%/4'")
    checked.change("UPDATE states SET urls = urls - 1 WHERE state = 'fetched'")
    checked.change("DELETE FROM pages WHERE key LIKE '%/4'")


def _stray_file(checked: Checked) -> None:
    (checked.folder / "bodies" / "aa").mkdir()
    (checked.folder / "bodies" / "aa" / "x").touch()


HARMS: dict[str, tuple[Callable[[Checked], object], str]] = {
    "file flipped": (lambda c: c.file().write_bytes(flipped(c.file().read_bytes(), 3000)), "bodies"),
    "file cut": (lambda c: c.file().write_bytes(c.file().read_bytes()[:-5]), "bodies"),
    "file deleted": (lambda c: c.file().unlink(), "pages"),
    "file of another name": (_stray_file, "file of a body"),
    "body flipped": (_body_in_database, "bodies"),
    "body deleted": (lambda c: c.change("DELETE FROM bodies WHERE rowid = 2"), "pages"),
    "orphan body": (
        lambda c: c.change(
            "INSERT INTO bodies VALUES (?, ?)", hashlib.sha256(b"").digest(), bytes.fromhex("28b52ffd2000010000")
        ),
        "bodies",
    ),
    "row flipped": (lambda c: c.change("UPDATE rows SET data = x'00' || data WHERE key LIKE '%/2'"), "rows"),
    "row cut": (lambda c: c.change("UPDATE rows SET data = x'' WHERE key LIKE '%/2'"), "rows"),
    "row deleted": (lambda c: c.change("DELETE FROM rows WHERE key LIKE '%/2'"), "rows"),
    "row waits without a ticket": (_row_other_state, "rows"),
    "row and page deleted": (_lost_url, "rows"),
    "page flipped": (lambda c: c.change("UPDATE pages SET data = x'28b5' || data WHERE key LIKE '%/5'"), "pages"),
    "page cut": (lambda c: c.change("UPDATE pages SET data = x'' WHERE key LIKE '%/5'"), "pages"),
    "page deleted": (lambda c: c.change("DELETE FROM pages WHERE key LIKE '%/5'"), "rows"),
    "counts": (lambda c: c.change("UPDATE totals SET pages = pages + 3"), "totals"),
    "requisites": (lambda c: c.change("INSERT INTO requisites VALUES ('http://www.test/3', 1)"), "totals"),
    "states": (lambda c: c.change("UPDATE states SET urls = 99"), "totals"),
    "seen": (lambda c: c.change("DELETE FROM seen"), "seen"),
    "entry flipped": (lambda c: c.change("INSERT INTO calendar VALUES (1, 5, 6, 0, x'93c1')"), "calendar"),
    "entry elsewhere": (
        lambda c: c.change("INSERT INTO calendar VALUES (?, 5, ?, 0, ?)", 63, ticket("x").id, encode(ticket("x"))),
        "calendar",
    ),
    "backlog flipped": (lambda c: c.change("INSERT INTO backlog VALUES (1, 'a', 5, 6, 0, x'93c1')"), "backlog"),
    "host": (lambda c: c.change("INSERT INTO hosts VALUES ('www.test', 1, x'c1')"), "hosts"),
    "robots": (lambda c: c.change("UPDATE robots SET data = x'c1'"), "robots"),
    "partition": (lambda c: c.change("UPDATE partitions SET data = x'c1' WHERE partition = 5"), "partitions"),
    "letter": (lambda c: c.change("INSERT INTO dead_letters VALUES (7, 7, x'c1')"), "dead_letters"),
    "watermark": (lambda c: c.change("UPDATE watermarks SET committed = committed + 9, start = start"), "watermark"),
    "contents": (lambda c: c.change("INSERT INTO contents VALUES (x'00', 'http://none/')"), "contents"),
    "sketch": (lambda c: c.change("INSERT INTO sketches VALUES (5, 'http://none/', x'00')"), "sketches"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_changed_is_found_mended_and_whole_again(checked: Checked, harm: str) -> None:
    assert checked.check(code=0) == []
    make, where = HARMS[harm]
    make(checked)
    found = checked.check(code=1)
    assert found and where in {*(one["place"][0] for one in found), ""}
    assert all(one["mend"] for one in found), found
    checked.check("--mend", code=0)
    checked.crawl()
    assert checked.check(code=0) == []
    listed = [msgspec.json.decode(line) for line in checked.said("pages", "--jsonl").splitlines()]
    states = {one["url"].rpartition("/")[2]: one["state"] for one in listed}
    assert states == {str(n): "fetched" if n < 12 else "gone" for n in range(13)}
    assert checked.find("SELECT urls FROM states WHERE urls > 0 ORDER BY 1") == [(1,), (12,)]
    bodies = checked.said("export", "jsonl").splitlines()
    assert {msgspec.json.decode(line)["url"] for line in bodies} == {f"http://www.test/{n}" for n in range(12)}


def test_more_that_is_missing_than_one_look_names_is_mended_by_looking_again(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gregor.worker.inspect.check._NAMED", 2)
    checked.change("DELETE FROM rows WHERE state = 'fetched'")
    named = [finding for finding in checked.check(code=1) if finding["place"][0] == "rows"]
    assert len(named) == 2
    checked.said("check", "--mend")
    assert checked.check(code=0) == []
    assert len(checked.find("SELECT key FROM rows WHERE state = 'fetched'")) == 12


def test_records_that_are_missing_from_the_log_are_told(checked: Checked) -> None:
    """What they asked for is found by the links that led there."""
    record = encode(ticket("x"))
    checked.change("INSERT INTO records VALUES (0, 2, 700, ?)", record)
    checked.change("INSERT INTO records VALUES (0, 2, 702, ?)", record)
    (found,) = [one for one in checked.check(code=1) if one["place"][0] == "log"]
    assert "missing" in found["why"]
    assert found["mend"] is None


def test_a_file_that_cannot_be_read_is_no_end(checked: Checked) -> None:
    connection = sqlite3.connect(checked.folder / "crawl.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    file = checked.folder / "crawl.db"
    data = file.read_bytes()
    at = data.index(b"http://www.test/7") // 8192 * 8192
    file.write_bytes(data[:at] + b"\xff" * 8192 + data[at + 8192 :])
    found = checked.check(code=1)
    assert "file" in {one["place"][0] for one in found}


def test_a_folder_in_use_is_checked_and_not_mended(
    checked: Checked, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from gregor.worker.adapters.embedded.folder import Folder, connect_reading

    connection, made_for = connect_reading(checked.folder)
    connection.close()
    folder = Folder.open(checked.folder, int(made_for["partitions"]), made_for["canonical"])
    try:
        assert checked.check(code=0) == []
        assert cli.main(["check", "--mend", "--data", str(checked.folder)]) == 2
        assert b"in use" in capsysbinary.readouterr().err
    finally:
        folder.close()

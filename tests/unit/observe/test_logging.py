"""The log: one event is one line, whatever is in it."""

import ast
import errno
import io
import logging
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import MASK, mask_user_info, one_line
from gregor.worker.observe.logging import _Formatter, configure, identify, logs
from gregor.worker.observe.tracing import Visit

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "logging.md").read_text()

HOSTILE = "a\nb\r\x1b[31m\u2028\u202e\x00\ud800\x85"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def is_safe(line: str) -> bool:
    return all(c.isprintable() or unicodedata.category(c) == "Zs" for c in line)


def record(fields: Mapping[str, object], event: str = "event") -> logging.LogRecord:
    made = logging.LogRecord("gregor.fetch", logging.INFO, "", 0, event, None, None)
    made.fields = fields
    return made


def test_a_log_that_is_rotated_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    configure("info", "text", str(log))
    logs("fetch").info("before")
    log.rename(tmp_path / "crawl.log.1")
    logs("fetch").info("after")
    assert "before" in (tmp_path / "crawl.log.1").read_text()
    assert "after" in log.read_text()
    log.unlink()
    logs("fetch").info("removed")
    assert "removed" in log.read_text()


def test_a_log_that_cannot_be_made_anew_is_a_gap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    configure("info", "text", str(folder / "crawl.log"))
    shutil.rmtree(folder)
    for _ in range(2):
        logs("fetch").info("lost")
    assert capsys.readouterr().err.count("the log cannot be written") == 1
    folder.mkdir()
    logs("fetch").info("found")
    assert "found" in (folder / "crawl.log").read_text()


def test_text_and_json(tmp_path: Path) -> None:
    for form in ("text", "json"):
        configure("info", form, str(tmp_path / form))
        logs("fetch").info("host unreachable", host="a.test", error='no "route"', pause=30.5, again=True, status=None)
        logs("fetch").debug("not wanted")
        logging.getLogger("library").info("not wanted")
        logging.getLogger("library").warning("from %s", "elsewhere")
    text = (tmp_path / "text").read_text().splitlines()
    assert text[0].partition(" ")[2] == (
        'info fetch "host unreachable" host=a.test error="no \'route\'" pause=30.5 again=true status=null'
    )
    assert text[1].partition(" ")[2] == 'warning library "from elsewhere"'
    first, second = (msgspec.json.decode(line) for line in (tmp_path / "json").read_text().splitlines())
    assert first["time"].endswith("Z")
    assert {name: first[name] for name in ("level", "event", "host", "pause")} == {
        "level": "info",
        "event": "host unreachable",
        "host": "a.test",
        "pause": 30.5,
    }
    assert second["source"] == "library"


class Full(io.StringIO):
    """Standard error on a disk without room."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("path", ["/dev/full", ""])
def test_a_log_without_room_is_told_once_and_stops_nothing(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("info", "text", path)
    with monkeypatch.context() as changed:
        if not path:
            changed.setattr("sys.stderr", Full())
        for number in range(3):
            logs("fetch").info("event", number=number)
    told = capsys.readouterr().err
    assert told.count("\n") == (1 if path else 0)
    assert ("the log cannot be written: No space left on device" in told) == bool(path)


@pytest.mark.parametrize("json", [False, True])
def test_nothing_hostile_breaks_a_line(json: bool) -> None:
    line = _Formatter(json).format(record({"url": HOSTILE, "body": HOSTILE.encode("utf-8", "replace")}, HOSTILE))
    assert is_safe(line)


@pytest.mark.parametrize("json", [False, True])
def test_secrets_are_masked(json: bool) -> None:
    fields = {"Authorization": "Basic word", "set_cookie": "word", "url": "http://me:word@a.test/", "password": "word"}
    line = _Formatter(json).format(record(fields, "http://me:word@b.test/"))
    assert "word" not in line.replace("password", "")
    assert MASK in line


@pytest.mark.parametrize(
    "url",
    [
        *("http://me:word@a.test/", "https:me:word@a.test/", r"https:\\me:word@a.test/", "HTTPS:/me:word@a.test"),
        *(
            "http://me:w@word@a.test/",
            "http://word@a.test/x http://b.test/@c",
            "amqp://me:word@a.test",
            "http:///me:word@b",
        ),
    ],
)
def test_user_info_is_masked_in_every_form_of_a_url(url: str) -> None:
    masked = mask_user_info(f"cannot do {url!r}, {url}")
    assert "word" not in masked and masked.count(f"{MASK}@") == 2
    assert mask_user_info("http://b.test/@c me@d.test") == "http://b.test/@c me@d.test"


def test_exceptions_stay_on_the_line() -> None:
    try:
        raise RuntimeError("no\nline")
    except RuntimeError as error:
        made = record({})
        made.exc_info = (type(error), error, error.__traceback__)
    line = _Formatter(False).format(made)
    assert is_safe(line)
    assert "RuntimeError" in line


def test_long_values_are_cut() -> None:
    assert len(one_line("x" * 10_000)) == 500
    assert len(_Formatter(False).format(record({"x": "y" * 100_000}))) < 1200


def test_standard_error_is_looked_up_when_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "text")
    logs("x").info("seen")
    assert "seen" in capsys.readouterr().err


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot write the log"):
        configure("info", "text", str(tmp_path))


@given(st.text(), st.text())
def test_any_text_is_one_line(event: str, value: str) -> None:
    for json in (False, True):
        assert is_safe(_Formatter(json).format(record({"value": value}, event.replace("%", ""))))


class Event(NamedTuple):
    """One call that logs, as the source has it."""

    level: str
    source: str
    event: str
    fields: tuple[str, ...]


def events() -> Iterator[Event]:
    """Every event of the program."""
    for file in (ROOT / "worker").rglob("*.py"):
        tree = ast.parse(file.read_text())
        sources = {
            node.targets[0].id: node.value.args[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id in ("logs", "Log")
            and isinstance(node.value.args[0], ast.Constant)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in sources:
                assert isinstance(node.args[0], ast.Constant), f"{file}:{node.lineno}: the event is a constant text"
                assert all(one.arg for one in node.keywords), f"{file}:{node.lineno}: fields have their names here"
                fields = tuple(str(one.arg) for one in node.keywords)
                yield Event(node.func.attr, str(sources[owner.id]), str(node.args[0].value), fields)


def told() -> list[Event]:
    """Every event of docs/logging.md."""
    rows = re.findall(r"^\| (\w+) \| (\w+) \| ([^|]+) \| ([^|]*) \|$", PAGE[PAGE.index("## Events") :], re.MULTILINE)
    return [
        Event(level, source, event, tuple(re.findall(r"`(\w+)`", fields)))
        for level, source, event, fields in rows
        if level != "level"
    ]


def test_the_page_tells_every_event_with_its_fields() -> None:
    assert sorted(told()) == sorted(set(events()))


def test_every_line_says_where_it_comes_from() -> None:
    identify("news", "node-3")
    with Visit(17, 4, "a.example", None) as visit:
        line = msgspec.json.decode(_Formatter(True).format(record({"url": "http://a.example/"}, "visited")))
        another = msgspec.json.decode(_Formatter(True).format(record({"host": "b.example"})))
        assert "trace" not in _Formatter(False).format(record({}))
    outside = msgspec.json.decode(_Formatter(True).format(record({})))
    known = set(re.findall(r"`(\w+)`", PAGE[PAGE.index("## Fields") : PAGE.index("## Events")]))
    assert set(line) - {"url"} == known
    assert (line["crawl"], line["worker"], line["partition"], line["epoch"]) == ("news", "node-3", 17, 4)
    assert (line["host"], line["trace"], another["trace"]) == ("a.example", visit.trace, visit.trace)
    assert another["host"] == "b.example"
    assert outside.keys() == {"time", "level", "source", "event", "crawl", "worker"}

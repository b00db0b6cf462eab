"""Search over what happened in a crawl: its URLs, those given up, its log."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gregor.schemas.messages import DeadLetter
from gregor.search.adapters import log_file
from gregor.search.adapters.log_file import LogFile
from gregor.search.records import LONGEST, of_letter, of_line, of_row
from gregor.worker.commands.cli import main
from gregor.worker.compose.record_indexes import folder_of
from gregor.worker.config.settings import Config
from tests.search.stored import crawl, page, row, store


def line(number: int, **more: object) -> bytes:
    head = {
        "time": f"2026-11-30T02:00:{number % 60:02}.000Z",
        "level": "warning",
        "source": "fetch",
        "event": "host away",
    }
    return json.dumps({**head, "number": number, **more}).encode() + b"\n"


def rest(file: LogFile) -> list[bytes]:
    read: list[bytes] = []
    while lines := file.lines():
        read += [text for _, text in lines]
    return read


@pytest.mark.parametrize("how", ["renamed", "copied and cut", "cut", "deleted"])
def test_a_log_is_read_on_when_it_is_rotated(tmp_path: Path, how: str) -> None:
    log, kept = tmp_path / "crawl.log", tmp_path / "place"
    log.write_bytes(b"".join(map(line, range(5))) + b'{"not yet')
    file = LogFile(log, kept)
    assert rest(file) == [line(number) for number in range(5)] and file.lines() == []
    file.keep()
    file = LogFile(log, kept)
    with log.open("ab") as stream:
        stream.write(b' whole"}\n' + line(6))
    if how == "renamed":
        log.rename(tmp_path / "crawl.log.1")
        log.write_bytes(line(7))
        assert rest(file) == [b'{"not yet whole"}\n', line(6), line(7)]
    elif how == "copied and cut":
        assert len(rest(file)) == 2
        log.write_bytes(line(7))
        assert rest(file) == [line(7)]
    elif how == "cut":
        log.write_bytes(line(8))
        assert rest(file) == [line(8)]
    else:
        log.unlink()
        assert rest(file) == []
        log.write_bytes(line(9))
        assert rest(file)[-1] == line(9)


def test_no_line_is_lost_where_it_is_rotated_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, rotated, stat = tmp_path / "crawl.log", tmp_path / "crawl.log.1", os.stat
    log.write_bytes(line(1))
    file = LogFile(log, tmp_path / "place")
    assert rest(file) == [line(1)]
    log.write_bytes(line(1) + line(2))

    def rotating(path: Path, **more: bool) -> os.stat_result:
        found = stat(path, **more)
        if path == log and not rotated.exists():
            log.rename(rotated)
            log.write_bytes(line(3) + line(4))
        return found

    monkeypatch.setattr(os, "stat", rotating)
    assert [*rest(file), *rest(file)] == [line(2), line(3), line(4)]


def test_what_was_not_kept_is_read_again_and_is_the_same(tmp_path: Path) -> None:
    log, kept = tmp_path / "crawl.log", tmp_path / "place"
    log.write_bytes(line(1) + line(2))
    for _ in range(2):
        lines = LogFile(log, kept).lines()
        assert [of_line(text, place) for place, text in lines] == [of_line(line(1), 0), of_line(line(2), len(line(1)))]
    assert len({of_line(text, place).id for place, text in lines if of_line(text, place)}) == 2  # type: ignore[union-attr]


def test_a_line_without_end_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "AT_ONCE", 1000)
    monkeypatch.setattr(log_file, "LONGEST", 300)
    log = tmp_path / "crawl.log"
    log.write_bytes(line(1) + b"x" * 5000 + b"\n" + line(2) + b"y" * 400 + b"\n" + line(3))
    read = rest(LogFile(log, tmp_path / "place"))
    assert [text for text in read if text.startswith(b"{")] == [line(1), line(2), line(3)]
    assert max(map(len, read)) <= 1000


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"no json", b"[1]", b'{"time": 5}', b'{"time": "x"}', b"\xff", b'{"time": null}']
)
def test_what_is_no_line_of_the_log_is_left_out(text: bytes) -> None:
    assert of_line(text, 0) is None


def test_records_say_what_happened() -> None:
    made = of_row(msgspec.structs.replace(row("http://a.test/x", 3, "denied"), rule="Disallow: /x", status=0))
    assert made.title == "denied · denied · Disallow: /x · visit 3" and (made.id, made.content_type) == (
        made.key,
        "denied",
    )
    letter = DeadLetter("http://a.test/", "http://a.test/", "a.test", "connect_timeout now", "no answer", 5.0, 3)
    assert of_letter(letter).title == "connect_timeout now · no answer · 3 attempts"
    assert of_letter(letter).content_type == "connect-timeout-now"
    logged = of_line(line(1, host="a.test", error="x" * 5000), 9)
    assert logged is not None and logged.host == "a.test" and len(logged.title) == LONGEST
    assert (logged.content_type, logged.label) == ("warning", "fetch") and "number=1" in logged.title


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({"url": "http://A.test:80/x?y"}, "a.test"),
        ({"url": "https://a.test:8443/"}, "a.test:8443"),
        ({"url": f"http://a.test/{'x' * 9000}"}, "a.test"),
        ({"url": "http://a.test/", "host": "b.test"}, "b.test"),
        ({"url": "http://a.test/", "host": None}, "a.test"),
        ({"url": "no url"}, ""),
        ({}, ""),
    ],
)
def test_a_line_of_the_log_is_of_the_host_of_its_url(fields: dict[str, object], host: str) -> None:
    logged = of_line(line(1, **fields), 0)
    assert logged is not None and logged.host == host


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "d"

    async def fill() -> None:
        async with crawl(folder) as engine:
            await store(engine, page("http://a.test/", "A fox."))
            await store(engine, page("http://b.test/gone"), state="gone")
            letter = DeadLetter("http://c.test/", "http://c.test/", "c.test", "connect", "no route to host", 1e9, 3)
            await engine.store.put_dead_letter(letter)
            await store(engine, page("http://c.test/"), state="dead")

    asyncio.run(fill())
    return folder


def found(data: Path, capsys: pytest.CaptureFixture[str], place: str, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["search", "--data", str(data), "--in", place, "--jsonl", *words]) == 0
    return [json.loads(text)["href"] or json.loads(text)["title"] for text in capsys.readouterr().out.splitlines()]


def test_what_happened_is_found(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--data", str(data), "--in", "logs", "away"]) == 2
    assert "--records" in capsys.readouterr().err
    log = tmp_path / "crawl.log"
    log.write_bytes(line(1, host="c.test") + b"no json\n" + line(2, event="crawl ended", level="info"))
    words = ["index", "--once", "--records", "--log", str(log), "--data", str(data)]
    assert main(words) == 0
    assert found(data, capsys, "events", "type:gone") == ["http://b.test/gone"]
    assert found(data, capsys, "events", "host:a.test") == ["http://a.test/"]
    assert found(data, capsys, "deadletters", "route") == ["http://c.test/"]
    assert len(found(data, capsys, "logs", "host:c.test", "away")) == 1 == len(found(data, capsys, "logs", "type:info"))
    asyncio.run(_revive(data))
    with log.open("ab") as stream:
        stream.write(line(3))
    assert main(words) == 0
    assert found(data, capsys, "deadletters", "route") == [] and len(found(data, capsys, "logs", "type:warning")) == 2
    assert found(data, capsys, "events", "host:c.test", "type:fetched") == ["http://c.test/"]
    assert found(data, capsys, "hosts", "host:a.test")[0].startswith("a.test · 1 URLs · 1 fetched")
    assert len(found(data, capsys, "hosts", "type:fetched")) == 2 and len(found(data, capsys, "hosts", "b.test")) == 1
    assert main(["optout", "b.test", "--why", "their wish", "--data", str(data), "--wait", "0"]) == 0
    assert main(words) == 0
    assert found(data, capsys, "events", "type:gone") == []  # nor of who opted out
    assert found(data, capsys, "hosts", "host:b.test") == [] != found(data, capsys, "orders", "b.test")
    assert found(data, capsys, "orders", "wish") and found(data, capsys, "orders", "type:pause") == []
    assert main(["index", "--records", "--rebuild", "--data", str(data)]) == 2


async def _revive(data: Path) -> None:
    async with crawl(data) as engine:
        await store(engine, page("http://c.test/", "There again", 2))


@pytest.mark.parametrize("target", ["c.test", "*.test"])
@pytest.mark.parametrize("followed", [False, True])
def test_a_host_that_opts_out_vanishes_from_what_happened(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, followed: bool
) -> None:
    log = tmp_path / "crawl.log"
    log.write_bytes(line(1, host="c.test") + line(2, host="other.example") + line(4, url="http://c.test/x"))
    words = ["index", "--once", "--records", "--log", str(log), "--data", str(data)]
    assert main(words) == 0
    places = ("events", "deadletters", "hosts", "logs")
    assert found(data, capsys, "logs", "host:c.test", "number=4")
    assert all(found(data, capsys, place, "host:c.test") for place in places)
    process = follow_records(data, log) if followed else None
    try:
        assert main(["optout", target, "--data", str(data), "--wait", "0"]) == 0
        assert not any(found(data, capsys, place, "host:c.test") for place in places)
        assert bool(found(data, capsys, "hosts", "host:a.test")) is (target == "c.test")
        assert found(data, capsys, "logs", "host:other.example")
    finally:
        if process is not None:
            process.terminate()
            process.wait()
    with log.open("ab") as stream:
        stream.write(line(3, host="c.test"))
    assert main(words) == 0
    assert found(data, capsys, "logs", "host:c.test") == []


def follow_records(data: Path, log: Path) -> subprocess.Popen[bytes]:
    """`gregor index --records`, which holds the indexes."""
    line = [sys.executable, "-m", "gregor", "index", "--records", "--log", str(log), "--data", str(data)]
    process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    lock, patience = folder_of(Config(data=str(data))) / "lock", time.monotonic() + 30
    while not (lock.is_file() and lock.read_text().strip() == str(process.pid)):
        assert time.monotonic() < patience
        time.sleep(0.05)
    return process

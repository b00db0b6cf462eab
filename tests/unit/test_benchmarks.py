"""What the benchmarks compute, and that their inputs are what they say."""

import asyncio
import gzip
import sys
from pathlib import Path

import pytest

from benchmarks import frontier, measure, politeness, reading, real_server
from benchmarks.anyhost import Request, page
from gregor.worker.adapters.embedded import open_reader
from tests.counted import counted


def test_a_run_is_charged_with_its_processor_time_and_memory(tmp_path: Path) -> None:
    busy = "import time\nx = bytearray(50_000_000)\nwhile time.process_time() < 0.3: pass"
    cost = measure.run([sys.executable, "-c", busy], tmp_path / "out")
    assert 0.3 <= cost.cpu < 3.0
    assert cost.peak > 50


def test_what_a_run_begins_is_no_part_of_what_it_takes_alone(tmp_path: Path) -> None:
    busy = "import time; [0 for _ in iter(lambda: time.process_time() < 0.4, False)]"
    cost = measure.run(
        [sys.executable, "-c", f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])"],
        tmp_path / "out",
    )
    assert cost.cpu - cost.alone >= 0.3
    assert 0.0 < cost.alone < cost.cpu / 2


def test_a_run_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(measure.RunFailed, match="status 3"):
        measure.run([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "out")


def test_the_share_of_the_allowed_requests_is_counted_from_when_all_hosts_were_asked() -> None:
    found = [Request(at, host, "/") for at, host in ((0.0, "a"), (1.0, "b"), (10.0, "a"), (11.0, "b"), (20.5, "a"))]
    assert politeness._shares(found, 2, 10.0, 2) == [1.0, 0.5]
    with pytest.raises(measure.RunFailed, match="2 of 3 hosts"):
        politeness._shares(found, 3, 10.0, 1)


def test_requests_before_their_time_are_counted() -> None:
    found = [Request(at, host, "/") for at, host in ((0.0, "a"), (5.0, "b"), (9.8, "a"), (15.0, "b"))]
    assert politeness._early(found, 10.0) == 1


def test_the_frontier_holds_what_was_asked_for(tmp_path: Path) -> None:
    async def waiting() -> int:
        await frontier.write(tmp_path / "data", 3000, 50)
        reader = await open_reader(tmp_path / "data")
        try:
            return (await counted(reader))["waiting"]
        finally:
            await reader.close()

    assert asyncio.run(waiting()) == 3000


def test_pages_of_any_host_differ_and_lead_on() -> None:
    assert page("a.test", "/robots.txt")[0].startswith(b"HTTP/1.1 404")
    assert page("a.test", "/")[1] != page("b.test", "/")[1]
    assert b'href="/8"' in page("a.test", "/7")[1]


def test_every_step_of_reading_a_page_takes_its_time() -> None:
    spent = reading._steps(4)
    assert set(spent) == {*reading.WHOLE, "all"}
    assert 0.0 < max(spent[name] for name in reading.WHOLE) < spent["all"] < 1e6


def test_the_recorded_web_is_served_compressed_to_so_many_pages_of_a_file(tmp_path: Path) -> None:
    def record(url: str, status: str, kind: str, body: bytes) -> bytes:
        http = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n".encode() + body
        head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {len(http)}\r\n\r\n"
        return gzip.compress(head.encode() + http + b"\r\n\r\n")

    file = tmp_path / "web.warc.gz"
    records = [
        record("http://a.test/x?y=1", "200 OK", "text/html", b"<p>one"),
        record("https://a.test/feed", "200 OK", "application/rss+xml", b"<rss>"),
        record("https://b.test/", "404 Not Found", "text/html", b"gone"),
        record("https://b.test/two", "200 OK", "text/html; charset=utf-8", b"<p>two"),
        record("https://b.test/three", "200 OK", "text/html", b"<p>three"),
        record("https://b.test/robots.txt", "200 OK", "text/plain", b"User-agent: *"),
    ]
    file.write_bytes(b"".join(records))
    answers = real_server.answers([file], 2)
    assert list(answers) == [("a.test", "/x?y=1"), ("b.test", "/two"), ("b.test", "/robots.txt")]
    head, body = real_server.compressed(answers["a.test", "/x?y=1"])
    assert gzip.decompress(body) == b"<p>one" and head.endswith(f"Content-Length: {len(body)}\r\n\r\n".encode())

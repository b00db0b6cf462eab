"""`gregor export` to object stores by fsspec: whole or not at all, and one line for what is missing."""

import io
import sys
from collections.abc import AsyncIterator, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from gregor.worker.inspect import datasets
from gregor.worker.inspect.tables import TABLES, RowValues
from tests.endtoend.test_commands import Output, bare, crawl, output

__all__ = ["bare", "crawl", "output"]

fsspec = pytest.importorskip("fsspec")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """S3 as moto serves it, on loopback."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def s3(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    s3fs = pytest.importorskip("s3fs")
    for name, value in (
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_CONFIG_FILE", "/dev/null"),
        ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if not system.exists("books"):
        system.mkdir("books")
    yield system
    system.rm("books", recursive=True)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize(
    ("words", "name", "start"),
    [
        (["csv"], "pages.csv", b"url,key"),
        (["parquet", "links"], "links.parquet", b"PAR1"),
        (["jsonl", "hosts"], "hosts.jsonl", b"{"),
        (["jsonl"], "pages.jsonl", b"{"),
        (["warc"], "site.warc.gz", b"\x1f\x8b"),
        (["warc"], "site.wacz", b"PK"),
    ],
)
def test_every_form_goes_to_an_object(words: list[str], name: str, start: bytes, output: Output, s3: Any) -> None:
    output.bytes("export", *words, "-o", f"s3://books/deep/{name}")
    assert s3.ls("books/deep") == [f"books/deep/{name}"]
    assert s3.cat(f"books/deep/{name}").startswith(start)


SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class FailsOnce(BaseHTTPRequestHandler):
    """The S3 of the tests, behind a way that fails the first time that an object is put there."""

    behind: ClassVar[str]
    answer: ClassVar[bytes]
    """Of the failure; b"" for a connection that is closed without one."""
    failed: ClassVar[int] = 0
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing is told."""

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if type(self).failed:
            self._ask(body)
            return
        type(self).failed += 1
        self.close_connection = not self.answer
        if self.answer:
            self._answer(503, self.answer)

    def do_POST(self) -> None:
        self._ask(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_GET = do_HEAD = do_POST  # noqa: N815 - the names that the server calls

    def _ask(self, body: bytes) -> None:
        there = HTTPConnection(self.behind.removeprefix("http://"))
        there.request(self.command, self.path, body, dict(self.headers))
        got = there.getresponse()
        self._answer(got.status, got.read(), got.getheader("ETag") or "")
        there.close()

    def _answer(self, status: int, body: bytes, etag: str = "") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.parametrize("answer", [SLOW_DOWN, b""], ids=["throttled", "closed"])
def test_what_fails_for_a_moment_is_tried_again(
    answer: bytes, output: Output, s3: Any, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = type("Way", (FailsOnce,), {"behind": endpoint, "answer": answer})
    server = ThreadingHTTPServer(("127.0.0.1", 0), way)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        type(s3).clear_instance_cache()
        output.bytes("export", "csv", "-o", "s3://books/once.csv")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert vars(way)["failed"] == 1
    assert s3.cat("books/once.csv").startswith(b"url,key")


def test_several_files_and_their_index_go_there(output: Output, s3: Any) -> None:
    output.bytes("export", "warc", "-o", "s3://books/site.warc.gz", "--size", "100", "--cdxj")
    assert {"books/site-00001.warc.gz", "books/site-00002.warc.gz", "books/site.cdxj"} <= set(s3.ls("books"))
    output.bytes("export", "warc", "-o", "s3://books/site.warc.gz", "--size", "1GB")
    assert set(s3.glob("books/site-*")) == {"books/site-00001.warc.gz"}


@pytest.mark.parametrize(
    ("words", "name", "there"),
    [
        (["jsonl"], "pages.jsonl", "pages.jsonl"),
        (["warc"], "site.wacz", "site.wacz"),
        (["warc", "--size", "1GB"], "site.warc.gz", "site-00001.warc.gz"),
    ],
)
def test_what_is_new_takes_nowhere_the_place_of_what_was_before(
    words: list[str], name: str, there: str, output: Output, s3: Any, tmp_path: Path
) -> None:
    for place in ("s3://books", str(tmp_path)):
        line = ["export", *words, "--cursor", str(tmp_path / f"{place[:2]}.cursor".replace("/", "_"))]
        output.bytes(*line, "-o", f"{place}/{name}")
        assert f"{place}/{there} has what was exported before" in output.refused(*line, "-o", f"{place}/{name}")
        output.bytes(*line, "-o", f"{place}/new-{name}")


@pytest.mark.parametrize("by", ["host", "date"])
def test_a_dataset_is_written_by_share(by: str, output: Output, memory: Any) -> None:
    output.bytes("export", "parquet", "--by", by, "-o", "memory://lake/pages")
    files = memory.find("/lake/pages")
    assert {Path(file).parts[3].partition("=")[0] for file in files} == {by}
    rows = [duckdb.read_parquet(io.BytesIO(memory.cat(file))).fetchall() for file in files]
    assert sum(map(len, rows)) == 3


@pytest.mark.parametrize("words", [["parquet", "--by", "host"], ["csv"]])
@pytest.mark.parametrize("place", ["s3://books/pages", "file://{}/pages", "{}/pages"])
def test_an_export_that_fails_leaves_nothing(
    words: list[str], place: str, output: Output, s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = TABLES["pages"]

    async def rows(*arguments: Any) -> AsyncIterator[RowValues]:
        async for values in pages.rows(*arguments):
            yield values
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(datasets.DatasetFolder, "OPEN", 1)
    monkeypatch.setitem(TABLES, "pages", pages._replace(rows=rows))
    said = output.refused("export", *words, "-o", place.format(tmp_path))
    assert "No space left on device" in said and said.count("\n") == 1
    assert not s3.find("books")
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_credentials_that_are_missing_or_wrong_are_one_line(
    output: Output, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot write s3://nowhere/x.csv" in output.refused("export", "csv", "-o", "s3://nowhere/x.csv")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    type(s3).clear_instance_cache()
    said = output.refused("export", "csv", "-o", "s3://books/x.csv")
    assert "cannot write s3://books/x.csv: Unable to locate credentials" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["csv", "-o", "nosuch://x/y.csv"], "cannot write nosuch://x/y.csv"),
        (["csv", "-o", "http://127.0.0.1/y.csv"], "http is only read"),
        (["sqlite", "-o", "s3://books/x.db"], "writes a database here"),
        (["csv", "-o", "s3://books/x.xlsx"], "spreadsheets are not written"),
        (["csv", "-o", "s3://"], "names no file"),
        (["csv", "-o", "s3://books"], "names no file"),
        (["csv", "-o", "s3://books/"], "names no file"),
        (["warc", "-o", "s3://books", "--cdxj"], "names no file"),
    ],
)
def test_what_cannot_be_written_there_is_one_line(words: list[str], part: str, output: Output) -> None:
    said = output.refused("export", *words)
    assert part in said and said.count("\n") == 1


@pytest.mark.parametrize("package", ["fsspec", "s3fs"])
def test_packages_that_are_missing_are_named(package: str, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(sys.modules["fsspec.registry"])["_registry"], "s3", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install 'gregor-crawler[export]'" in output.refused("export", "csv", "-o", "s3://books/x.csv")

"""Exports: a WARC that warcio's own reader and checker accept, and JSON lines."""

import asyncio
import gzip
import io
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from gregor.worker.borders.errors import Damaged
from gregor.worker.inspect import export
from tests.reading import MemoryReader, page, row

BODY = b"<title>One</title><p>one"
CODED = gzip.compress(BODY, mtime=0)
MISSING: list[Damaged] = []


def crawled() -> MemoryReader:
    coded = page("http://a.test/coded", BODY, wire=sha256(CODED).hexdigest())
    coded.response_head = (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nX-Fold: a\r\n b\r\n\r\n"
    )
    pages = [
        page("http://a.test/", BODY),
        page("http://a.test/copy", BODY, state="duplicate", duplicate_of="http://a.test/"),
        page("http://a.test/same-text", b"<p>one", state="duplicate", duplicate_of="http://a.test/"),
        coded,
        page(
            "http://a.test/h2", BODY, response_head=b"HTTP/2 200 \r\ncontent-type: text/html\r\n\r\n", request_head=b""
        ),
        page("http://a.test/cut", BODY, truncated="size"),
        page("http://[::1]/lost", b"lost", address="::1"),
    ]
    reader = MemoryReader([row(one) for one in pages], pages, [BODY, b"<p>one", CODED])
    reader.on_damage = MISSING.append
    return reader


def warc() -> bytes:
    file = io.BytesIO()
    MISSING.clear()
    assert asyncio.run(export.warc(crawled(), file)) == 7
    assert [str(damage) for damage in MISSING] == ["the body of http://[::1]/lost is damaged: it is missing"]
    return file.getvalue()


def read(data: bytes) -> list[tuple[str, str, Any, Any, bytes]]:
    found = []
    for record in ArchiveIterator(io.BytesIO(data), no_record_parse=False, check_digests=True):
        content = record.raw_stream.read()
        url = record.rec_headers.get_header("WARC-Target-URI")
        found.append((record.rec_type, url, record.rec_headers, record.http_headers, content))
    return found


def test_the_archive_is_valid(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "x.warc.gz").write_bytes(warc())
    arguments = SimpleNamespace(inputs=[str(tmp_path / "x.warc.gz")], verbose=True)
    assert Checker(arguments).process_all() == 0
    assert "failed" not in capsys.readouterr().out


def test_records_and_their_fields() -> None:
    records = read(warc())
    assert [(kind, url) for kind, url, *_ in records[:5]] == [
        ("warcinfo", None),
        ("response", "http://a.test/"),
        ("request", "http://a.test/"),
        ("revisit", "http://a.test/copy"),
        ("request", "http://a.test/copy"),
    ]
    _, _, fields, http, content = records[1]
    assert fields.protocol == "WARC/1.1"
    assert fields.get_header("WARC-Date") == "2023-11-14T22:13:20.250Z"
    assert fields.get_header("WARC-IP-Address") == "127.0.0.1"
    assert content == BODY
    assert http.get_header("Server") == "\xe9"
    assert records[2][2].get_header("WARC-Concurrent-To") == fields.get_header("WARC-Record-ID")
    identities = [fields.get_header("WARC-Record-ID") for _, _, fields, _, _ in records]
    assert len(set(identities)) == len(identities)


def test_an_exact_copy_is_a_revisit_and_equal_text_is_not() -> None:
    records = {url: (kind, fields, content) for kind, url, fields, _, content in read(warc()) if kind != "request"}
    kind, fields, content = records["http://a.test/copy"]
    original = records["http://a.test/"][1]
    assert (kind, content) == ("revisit", b"")
    assert fields.get_header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert fields.get_header("WARC-Payload-Digest") == original.get_header("WARC-Payload-Digest")
    assert fields.get_header("WARC-Refers-To") == original.get_header("WARC-Record-ID")
    assert fields.get_header("WARC-Refers-To-Target-URI") == "http://a.test/"
    assert records["http://a.test/same-text"][0] == "response"


def test_bodies_are_as_received_without_transfer_coding() -> None:
    records = {url: (fields, http, content) for kind, url, fields, http, content in read(warc()) if kind == "response"}
    _, http, content = records["http://a.test/coded"]
    assert gzip.decompress(content) == BODY
    assert http.get_header("Content-Encoding") == "gzip"
    assert http.get_header("Transfer-Encoding") is None
    assert http.get_header("X-Orig-Transfer-Encoding") == "chunked"
    assert http.get_header("X-Fold") == "a b"
    assert records["http://a.test/h2"][1].protocol == "HTTP/1.1"
    assert records["http://a.test/cut"][0].get_header("WARC-Truncated") == "length"
    assert records["http://[::1]/lost"][0].get_header("WARC-Truncated") == "unspecified"


def test_a_body_of_which_only_the_decoded_form_is_kept() -> None:
    one = page("http://a.test/", BODY, wire=sha256(CODED).hexdigest())
    one.response_head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    file = io.BytesIO()
    asyncio.run(export.warc(MemoryReader([row(one)], [one], [BODY]), file))
    _, _, _, http, content = read(file.getvalue())[1]
    assert content == BODY
    assert http.get_header("Content-Encoding") is None


def test_secrets_of_requests_are_masked() -> None:
    assert b"word" not in gzip.decompress(warc())


def test_each_record_is_its_own_gzip_member() -> None:
    data = warc()
    offsets = []
    iterator = ArchiveIterator(io.BytesIO(data))
    for record in iterator:
        record.raw_stream.read()
        offsets.append(iterator.get_record_offset())
    assert all(data[offset : offset + 2] == b"\x1f\x8b" for offset in offsets)


def test_json_lines() -> None:
    file = io.BytesIO()
    assert asyncio.run(export.jsonl(crawled(), file)) == 7
    first, copy, *_ = (msgspec.json.decode(line) for line in file.getvalue().splitlines())
    assert (first["url"], first["text"], first["state"]) == ("http://a.test/", "one", "fetched")
    assert (copy["state"], copy["duplicate_of"]) == ("duplicate", "http://a.test/")

"""Exports: a WARC that warcio's own reader and checker accept, and JSON lines."""

import asyncio
import gzip
import io
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from gregor.schemas.messages import Attempt, Page, RobotsRecord, Row
from gregor.schemas.parts import AnswerHead, RobotsCopy
from gregor.worker.archives.segments import Segments
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.reader import WHOLE, Part
from gregor.worker.inspect import export, warc_records
from tests.reading import AT, MemoryReader, page, row, ticket

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


async def write(reader: MemoryReader, file: io.BytesIO, part: Part = WHOLE) -> int:
    agent = await export.agent(reader)
    output = Segments(lambda _: ("x.warc.gz", file), lambda name: warc_records.warcinfo(agent, "obey", name))
    return await export.warc(reader, output, part=part)


def warc() -> bytes:
    file = io.BytesIO()
    MISSING.clear()
    assert asyncio.run(write(crawled(), file)) == 7
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
    asyncio.run(write(MemoryReader([row(one)], [one], [BODY]), file))
    _, _, _, http, content = read(file.getvalue())[1]
    assert content == BODY
    assert http.get_header("Content-Encoding") is None


def exported(reader: MemoryReader) -> list[tuple[str, str, Any, Any, bytes]]:
    file = io.BytesIO()
    asyncio.run(write(reader, file))
    return read(file.getvalue())


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [
        ([str(len(BODY))], True),
        ([str(len(BODY))] * 2, True),
        ([f"{len(BODY)}, {len(BODY)}"], True),
        ([], True),
        ([str(len(BODY) + 1)], False),
        (["0"], False),
        (["0x18"], False),
        ([""], False),
        ([str(len(BODY)), "3"], False),
    ],
)
def test_a_payload_never_stands_under_a_length_that_says_otherwise(lengths: list[str], kept: bool) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(b"cOntent-Length : %b\r\n" % one.encode() for one in lengths) + b"\r\n"
    one = page("http://a.test/", BODY, response_head=head)
    _, _, _, http, content = exported(MemoryReader([row(one)], [one], [BODY]))[1]
    found = [(name.lower(), value) for name, value in http.headers]
    assert content == BODY
    assert found == [("content-length" if kept else "x-orig-content-length", value) for value in lengths]


def test_a_copy_keeps_the_length_of_what_it_refers_to_and_no_other() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n"
    first = page("http://a.test/", BODY)
    right = page("http://a.test/r", BODY, duplicate_of=first.key, response_head=head % len(BODY))
    wrong = page("http://a.test/w", BODY, duplicate_of=first.key, response_head=head % 7)
    records = exported(MemoryReader([], [first, right, wrong], [BODY]))
    names = {url: [name for name, _ in http.headers] for kind, url, _, http, _ in records if kind == "revisit"}
    assert names == {
        "http://a.test/r": ["Content-Length", "X-Orig-Transfer-Encoding"],
        "http://a.test/w": ["X-Orig-Content-Length", "X-Orig-Transfer-Encoding"],
    }


def test_a_copy_whose_body_is_lost_is_no_revisit() -> None:
    first = page("http://a.test/", BODY)
    second = page("http://a.test/copy", BODY, duplicate_of=first.key)
    reader = MemoryReader([], [first, second])
    reader.on_damage = lambda _: None
    kinds = [(kind, fields.get_header("WARC-Truncated")) for kind, _, fields, _, _ in exported(reader)]
    assert kinds[1::2] == [("response", "unspecified")] * 2


def visited_again() -> tuple[Page, Page, Row]:
    old = page("http://a.test/", b"old")
    new = page("http://a.test/", BODY, visit=3, fetched_at=AT + 20)
    not_modified = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 24\r\nETag: x\r\n\r\n"
    attempts = (
        Attempt(AT, "fetched", 200),
        Attempt(AT + 10, "unchanged", 304, answer=AnswerHead(old.href, not_modified, "::1")),
        Attempt(AT + 20, "fetched", 200),
        Attempt(AT + 30, "unchanged", 304, answer=AnswerHead(old.href, not_modified, "::1")),
    )
    return old, new, row(old, visits=4, page=3, attempts=attempts)


def test_all_versions_and_each_304_as_a_revisit_of_the_one_it_was_about() -> None:
    old, new, known = visited_again()
    records = [one for one in exported(MemoryReader([known], [old, new], [b"old", BODY])) if one[0] != "request"]
    assert [(kind, content) for kind, _, _, _, content in records] == [
        ("warcinfo", records[0][4]),
        ("response", b"old"),
        ("response", BODY),
        ("revisit", b""),
        ("revisit", b""),
    ]
    for about, unchanged in zip(records[1:3], records[3:], strict=True):
        fields, http = unchanged[2], unchanged[3]
        assert fields.get_header("WARC-Profile").endswith("/revisit/server-not-modified")
        for name, referring in (("WARC-Record-ID", "Refers-To"), ("WARC-Date", "Refers-To-Date")):
            assert fields.get_header(f"WARC-{referring}") == about[2].get_header(name)
        assert fields.get_header("WARC-Payload-Digest") == about[2].get_header("WARC-Payload-Digest")
        assert (http.get_statuscode(), http.get_header("ETag"), http.get_header("Content-Length")) == ("304", "x", None)
    ids = [fields.get_header("WARC-Record-ID") for _, _, fields, _, _ in records]
    assert len(set(ids)) == 5


def test_a_304_without_its_version_is_a_response_of_its_own() -> None:
    _, new, known = visited_again()
    later = [one for one in exported(MemoryReader([known], [new], [BODY])) if one[0] != "request"][2:]
    assert [(kind, http.get_statuscode()) for kind, _, _, http, _ in later] == [("response", "304"), ("revisit", "304")]


def test_redirects_and_errors_have_their_head_and_no_payload() -> None:
    moved = b"HTTP/1.1 301 Moved\r\nLocation: /new\r\nContent-Length: 9\r\n\r\n"
    gone = b"HTTP/2 404 \r\ncontent-length: 0\r\n\r\n"
    rows = [
        row(
            ticket("http://a.test/o"),
            attempts=(Attempt(AT, "", 301, answer=AnswerHead("http://a.test/O", moved, "", 9)),),
        ),
        row(ticket("http://a.test/g"), attempts=(Attempt(AT, "", 404, answer=AnswerHead("http://a.test/g", gone)),)),
        row(ticket("http://a.test/f"), attempts=(Attempt(AT, "connect"),)),
    ]
    told = exported(MemoryReader(rows))[1:]
    assert [(kind, url, http.get_statuscode(), body) for kind, url, _, http, body in told] == [
        ("response", "http://a.test/O", "301", b""),
        ("response", "http://a.test/g", "404", b""),
    ]
    assert [fields.get_header("WARC-Truncated") for _, _, fields, _, _ in told] == ["unspecified", None]
    assert told[0][3].headers == [("Location", "/new"), ("X-Orig-Content-Length", "9")]
    assert told[1][3].headers == [("content-length", "0")]


def test_robots_as_far_as_they_are_kept() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n"
    answer = AnswerHead("http://www.a.test/robots.txt", head, "::1", 3)
    earlier = (RobotsCopy(AT - 9, AT - 5, b"old"), RobotsCopy(AT - 4, AT - 3, None), RobotsCopy(AT - 2, AT - 1, b""))
    failed = AnswerHead("http://b.test/robots.txt", b"HTTP/1.1 503 Busy\r\n\r\n", "::1", 4)
    robots = [
        RobotsRecord("http://a.test", "parsed", AT, AT, b"text", 200, b"text", AT, earlier=earlier, answer=answer),
        RobotsRecord("http://b.test", "unreachable", AT, AT, b"", 503, b"good", AT - 5, answer=failed),
        RobotsRecord("http://c.test", "parsed", AT, AT, b"bare", 200, b"bare", AT),
        RobotsRecord("http://d.test", "unreachable", AT, AT),
    ]
    told = exported(MemoryReader(robots=robots))[1:]
    assert [(kind, url, content) for kind, url, _, _, content in told] == [
        ("resource", "http://a.test/robots.txt", b"old"),
        ("response", "http://www.a.test/robots.txt", b"text"),
        ("resource", "http://b.test/robots.txt", b"good"),
        ("response", "http://b.test/robots.txt", b""),
        ("resource", "http://c.test/robots.txt", b"bare"),
    ]
    assert [name for name, _ in told[1][3].headers] == ["X-Orig-Content-Encoding", "X-Orig-Content-Length"]
    assert [told[number][2].get_header("WARC-Truncated") for number in (1, 3)] == [None, "unspecified"]


def test_an_answer_for_many_origins_is_there_once_over_all_parts() -> None:
    answer = AnswerHead("http://hub.test/robots.txt", b"HTTP/1.1 200 OK\r\n\r\n", "::1", 4)
    robots = [RobotsRecord(f"http://{host}.test", "parsed", AT, AT, b"text", 200, answer=answer) for host in "abcdefgh"]
    file = io.BytesIO()
    for number in range(3):
        asyncio.run(write(MemoryReader(robots=robots), file, part=Part(number, 3)))
    assert [url for kind, url, *_ in read(file.getvalue()) if kind != "warcinfo"] == [answer.href]


def test_the_file_says_who_wrote_it() -> None:
    one = page(
        "http://a.test/", BODY, request_head=b"GET / HTTP/1.1\r\nUser-Agent: bot/1 (+https://a.test/bot)\r\n\r\n"
    )
    info = exported(MemoryReader([], [one], [BODY]))[0][4].decode()
    told = dict(line.split(": ", 1) for line in info.splitlines() if line)
    assert told["software"].startswith("gregor/")
    assert told["format"] == "WARC File Format 1.1"
    assert (told["http-header-user-agent"], told["operator"]) == ("bot/1 (+https://a.test/bot)", "https://a.test/bot")
    assert told["robots"] == "RFC 9309"


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

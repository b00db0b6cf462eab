"""Recorded answers: heads and payloads, with the codings that are really there removed."""

import gzip
from collections.abc import Iterator

import pytest

from gregor.worker.archives.files import HeadFields
from gregor.worker.archives.http import answer_of, response_of
from gregor.worker.borders.transport import Response
from tests.unit.archives.made import answer

HTML = b"<p>text" * 100


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def made(block: bytes, size: int = 7, most: int = 10_000, fields: HeadFields | None = None) -> Response:
    found = answer_of(pieces(block, size))
    return response_of(found, found, fields or {}, most)


def chunked(body: bytes, size: int = 100) -> bytes:
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in pieces(body, size)) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (HTML, ()),
        (chunked(HTML), ("Transfer-Encoding: chunked",)),
        (HTML, ("Transfer-Encoding: chunked",)),  # taken away already, as many write it
        (gzip.compress(HTML), ("Content-Encoding: gzip",)),
        (HTML, ("Content-Encoding: gzip",)),
        (chunked(gzip.compress(HTML)), ("Transfer-Encoding: chunked", "content-encoding: gzip")),
        (chunked(HTML, 1), ("Transfer-Encoding: chunked",)),
    ],
)
def test_a_payload_is_decoded_where_it_is_coded(body: bytes, headers: tuple[str, ...], size: int) -> None:
    response = made(answer(body, "Content-Type: text/html", *headers), size)
    assert response.body.read() == HTML and response.truncated is None
    assert (response.wire_body is not None) is (b"\x1f\x8b" in body)


def test_the_head_is_kept_and_headers_that_gregor_renamed_get_their_names_back() -> None:
    response = made(answer(HTML, "X-Orig-Transfer-Encoding: chunked", "x: y", status="200 Fine"))
    assert response.response_head == b"HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nx: y\r\n\r\n"
    assert response.body.read() == HTML and response.header("X") == "y"


@pytest.mark.parametrize(
    "head", [b"HTTP/2 200\r\nx: y\r\n\r\nz", b"HTTP/1.0 200 OK\nx: y\n\nz", b"HTTP/1.1 200 \r\nx: y\r\n\r\nz"]
)
def test_heads_of_other_versions_and_line_ends_are_read(head: bytes) -> None:
    response = made(head)
    assert (response.status, response.header("x"), response.body.read()) == (200, "y", b"z")


@pytest.mark.parametrize(
    "block", [b"", b"<html>", b"HTTP/1.1\r\n\r\n", b"ICY 200 OK\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n"]
)
def test_what_is_no_answer_is_refused(block: bytes) -> None:
    with pytest.raises(ValueError, match="no HTTP answer"):
        made(block)


def test_a_body_that_is_too_large_or_was_cut_says_so() -> None:
    assert made(answer(HTML), most=99).truncated == "size"
    assert made(answer(gzip.compress(b"x" * 50_000), "Content-Encoding: gzip")).truncated == "size"
    assert made(answer(HTML), fields={"warc-truncated": "time"}).truncated == "time"
    assert made(answer(gzip.compress(HTML)[:-9], "Content-Encoding: gzip")).truncated == "cut"


def test_a_body_that_cannot_be_decoded_is_damage() -> None:
    with pytest.raises(ValueError, match="Content-Encoding"):
        made(answer(b"\x1f\x8b\x08\x00" + b"\xff" * 60, "Content-Encoding: gzip"))

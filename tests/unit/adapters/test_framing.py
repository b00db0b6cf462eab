"""Where a body ends: lengths, chunks, and what is neither."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.transport.framing import FREE_OVERHEAD, HUGE, Dechunker, Framing, chunk_size, framing
from gregor.worker.adapters.transport.http1 import Head, MalformedHeadError

CLOSE, CHUNKED, UNCLEAR = Framing(False, None), Framing(True, None), Framing(False, None, unclear=True)


def head(*headers: tuple[str, str], status: int = 200) -> Head:
    return Head("HTTP/1.1", status, "", list(headers))


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("5", Framing(False, 5)),
        ("005", Framing(False, 5)),
        (" 5 , 5", Framing(False, 5)),
        ("5,05", Framing(False, 5)),
        ("0", Framing(False, 0)),
        ("5,,5,", Framing(False, 5)),
        ("9" * 18, Framing(False, int("9" * 18))),
        ("9" * 5000, Framing(False, HUGE)),
        *[
            (text, UNCLEAR)
            for text in ("-5", "+5", "5.0", "0x5", "5 5", "five", "5;x", "\u0665", "1e3", "5_0", "", " ", ",")
        ],
    ],
)
def test_a_stated_length(stated: str, expected: Framing) -> None:
    assert framing(head(("Content-Length", stated))) == expected
    assert framing(head(("content-length", stated), ("Transfer-Encoding", "chunked"))) == CHUNKED
    assert framing(head(("content-length", stated), status=304)) == Framing(False, 0)


@pytest.mark.parametrize(
    ("said", "unclear"),
    [("bytes 0-4/5", False), ("bytes 0-3/5", True), ("bytes 1-4/5", True), ("bytes 0-4/*", True), ("5", True)],
)
def test_a_part_that_nobody_asked_for_is_no_whole(said: str, unclear: bool) -> None:
    assert framing(head(("Content-Range", said), ("Content-Length", "5"), status=206)) == Framing(False, 5, unclear)
    assert framing(head(("Content-Range", said), ("Transfer-Encoding", "chunked"), status=206)).unclear == unclear
    assert not framing(head(("Content-Range", said), ("Content-Length", "5"))).unclear
    assert framing(head(("Content-Length", "5"), status=206)).unclear


@pytest.mark.parametrize("status", [100, 103, 204, 304])
def test_some_answers_have_no_body_whatever_they_say(status: int) -> None:
    said = ("Content-Length", "5"), ("Content-Length", "6"), ("Transfer-Encoding", "gzip")
    assert framing(head(*said, status=status)) == Framing(False, 0)


@pytest.mark.parametrize("lengths", [("5", "6"), ("5", "-5"), ("x", "5"), ("5, 6",), ("5", "5", "4")])
def test_lengths_that_contradict_each_other_are_refused(lengths: tuple[str, ...]) -> None:
    with pytest.raises(MalformedHeadError):
        framing(head(*(("Content-Length", length) for length in lengths)))


@pytest.mark.parametrize(
    ("codings", "expected"),
    [
        (("chunked",), CHUNKED),
        (("Chunked",), CHUNKED),
        (("chunked", "chunked"), CHUNKED),
        (("identity, chunked",), CHUNKED),
        (("identity",), CLOSE),
        (("",), CLOSE),
        *[((coding,), None) for coding in ("gzip", "gzip, chunked", "chunked, gzip", "xchunked", "chunked;x=1")],
    ],
)
def test_transfer_codings(codings: tuple[str, ...], expected: Framing | None) -> None:
    answer = head(*(("Transfer-Encoding", coding) for coding in codings))
    if expected is not None:
        assert framing(answer) == expected
        return
    with pytest.raises(MalformedHeadError):
        framing(answer)


@pytest.mark.parametrize(
    ("line", "size"),
    [
        (b"5\r\n", 5),
        (b"5\n", 5),
        (b"000aF\r\n", 0xAF),
        (b"5 \t\r\n", 5),
        (b"5;name=value\r\n", 5),
        (b'5 ; name="a;b"\r\n', 5),
        (b"0\r\n", 0),
        *[
            (text, None)
            for text in (b"", b"\r\n", b"5", b"5\r", b" 5\r\n", b"-5\r\n", b"+5\r\n", b"0x5\r\n", b"5g\r\n")
        ],
        *[(text, None) for text in (b"5_0\r\n", b"5 5\r\n", b"5\0\r\n", b"zz\r\n", b"f" * 16 + b"\r\n")],
    ],
)
def test_the_size_of_a_chunk(line: bytes, size: int | None) -> None:
    assert chunk_size(line) == size


def taken(raw: bytes, cuts: list[int]) -> tuple[bytes, bool, bool]:
    chunks = Dechunker()
    places = sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    data = b"".join(chunks.feed(raw[start:end]) for start, end in pairwise(places))
    return data, chunks.done, chunks.broken


@given(st.lists(st.binary(min_size=1, max_size=40)), st.lists(st.integers(0)), st.booleans(), st.binary(max_size=20))
def test_chunks_come_off_however_they_arrive(parts: list[bytes], cuts: list[int], whole: bool, after: bytes) -> None:
    lines = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + (b"0\r\n" + after if whole else b"")
    assert taken(lines, cuts) == (b"".join(parts), whole, False)


@given(st.binary(max_size=200), st.lists(st.integers(0)))
def test_any_bytes_give_the_same_in_any_pieces(raw: bytes, cuts: list[int]) -> None:
    assert taken(raw, cuts) == taken(raw, [])


@pytest.mark.parametrize("raw", [b"5\r\nhello!\r\n0\r\n\r\n", b"5\r\nhello5\r\nworld\r\n", b"5\r\nhello\r\nfive\r\n"])
def test_what_is_no_chunk_is_told_and_what_came_before_is_kept(raw: bytes) -> None:
    assert taken(raw, []) == (b"hello", False, True)


def test_lines_of_chunks_are_bounded() -> None:
    assert taken(b"0" * 100_000, []) == (b"", False, True)
    pieces, chunks, size = 0, Dechunker(), 0
    while not chunks.broken and pieces < FREE_OVERHEAD:
        size, pieces = size + len(chunks.feed(b"1\r\nx\r\n" * 10_000)), pieces + 1
    assert size <= FREE_OVERHEAD // 4 + 10_000


@pytest.mark.parametrize("octets", [1, 2, 3, 15, 16, 255, 256])
def test_a_page_in_small_chunks_comes_whole(octets: int) -> None:
    page = random.Random(7).randbytes(400_000 - 400_000 % octets)
    parts = (page[at : at + octets] for at in range(0, len(page), octets))
    lines = b"".join(b"%x\r\n%b\r\n" % (octets, part) for part in parts) + b"0\r\n\r\n"
    assert taken(lines, [*range(0, len(lines), 65_521)]) == (page, True, False)

"""Where the records of a WARC file are, and what is read around damage."""

import gzip
from pathlib import Path

import pytest

from gregor.worker.archives.book import AnswerRecord, RecordBook, entry_of, moment
from gregor.worker.archives.files import WarcFile
from gregor.worker.base.errors import BadInput
from tests.unit.archives.made import answer, gzipped, record

THREE = [record("warcinfo", block=b"software: x"), record(block=answer(b"one")), record(block=answer(b"two" * 99999))]


def read(path: Path) -> tuple[list[bytes], list[tuple[int, str]]]:
    """The blocks of a file's records, and what is said of damaged ones."""
    damaged: list[tuple[int, str]] = []
    file = WarcFile(path)
    blocks = [b"".join(file.read(found.offset)[1]) for found in file.records(lambda *what: damaged.append(what))]
    file.close()
    return blocks, damaged


@pytest.mark.parametrize("data", [b"".join(THREE), gzipped(THREE), gzip.compress(b"".join(THREE))])
def test_each_record_is_read_alone_however_the_file_is_compressed(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(data)
    blocks, damaged = read(tmp_path / "x.warc")
    assert [block[-3:] for block in blocks] == [b"e: x"[-3:], b"one", b"two"] and not damaged


@pytest.mark.parametrize("compressed", [True, False])
def test_what_is_damaged_is_told_with_its_place_and_the_rest_is_read(compressed: bool, tmp_path: Path) -> None:
    parts = [gzip.compress(part) if compressed else part for part in (THREE[1], THREE[2], THREE[1])]
    broken = bytearray(parts[1])
    if compressed:
        broken[200] ^= 0xFF
    else:
        broken = bytearray(broken.replace(b"Content-Length", b"Content-Lenght"))
    (tmp_path / "x.warc").write_bytes(parts[0] + bytes(broken) + parts[2])
    blocks, damaged = read(tmp_path / "x.warc")
    assert len(blocks) == 2 and [offset for offset, _ in damaged] == [len(parts[0])]


@pytest.mark.parametrize("compressed", [True, False])
def test_a_file_that_is_cut_gives_what_is_whole(compressed: bool, tmp_path: Path) -> None:
    parts = [gzip.compress(part) if compressed else part for part in THREE]
    (tmp_path / "x.warc").write_bytes(b"".join(parts)[:-30])
    blocks, damaged = read(tmp_path / "x.warc")
    assert len(blocks) == 2 and "cut" in damaged[0][1]


def test_a_block_that_is_not_of_its_digest_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(record(block=answer(), WARC_Block_Digest="sha1:" + "A" * 32))
    with pytest.raises(ValueError, match="WARC-Block-Digest"):
        read(tmp_path / "x.warc")


@pytest.mark.parametrize(
    ("data", "part"),
    [(b"", "empty"), (b"<html>", "is no WARC"), (b"\x28\xb5\x2f\xfd...", "zstd -d"), (b"filedesc://x", "is no WARC")],
)
def test_what_is_no_warc_file_is_refused(data: bytes, part: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(BadInput, match=part):
        WarcFile(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024-01-02T03:04:05Z", 1704164645.0),
        ("2024-01-02T03:04:05.25Z", 1704164645.25),
        ("20240102030405", 1704164645.0),
        ("2024-01", 1704067200.0),
        ("2016-12-31T23:59:60Z", 1483228799.0),
    ],
)
def test_dates_of_any_precision_are_read(text: str, at: float) -> None:
    assert moment(text) == at


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13-01T00:00:00Z", "2024-01-02T03:04:05+02:00"])
def test_what_is_no_date_is_no_use(text: str) -> None:
    with pytest.raises(ValueError):
        moment(text)


def test_only_answers_by_http_are_noted() -> None:
    head = {
        "warc-type": "response",
        "warc-target-uri": "<http://a.test/>",
        "warc-date": "2024",
        "content-type": "application/http",
    }
    noted = entry_of(0, 7, head)
    assert noted is not None and (noted.url, noted.offset) == ("http://a.test/", 7)
    for other in (
        {"warc-type": "request"},
        {"warc-target-uri": "dns:a.test"},
        {"content-type": "text/dns"},
        {"warc-type": "metadata"},
    ):
        assert entry_of(0, 7, head | other) is None


def test_what_a_record_repeats_is_found_by_url_and_date_or_by_digest() -> None:
    book = RecordBook()
    for at, kind, url, digest in (
        (1.0, "response", "u", "d1"),
        (5.0, "response", "u", "d2"),
        (9.0, "revisit", "v", "d1"),
    ):
        book.add(AnswerRecord(at, 0, int(at), kind, url, digest))
    book.finish()
    at_first = "1970-01-01T00:00:01Z"
    for url, date, digest, offset in (("u", at_first, "d1", 1), ("v", "", "d2", 5), ("u", at_first, "", 1)):
        found = book.repeated(url, date, digest)
        assert found is not None and found.offset == offset
    assert book.repeated("w", at_first, "d3") is None
    book.close()

"""Records as they are written, judged by warcio, which reads them, and by the standard library."""

import gzip
import hashlib
import io
import uuid
from base64 import b32encode
from typing import Final

import pytest
from warcio.archiveiterator import ArchiveIterator

from gregor.worker.archives import warc
from gregor.worker.archives.warc import WarcRecord
from gregor.worker.inspect.warc_records import identity

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: \xe9\r\n\r\n"
LARGE: Final = bytes(range(256)) * 5000


def written(record: WarcRecord) -> bytes:
    file = io.BytesIO()
    packed = warc.pack(record)
    packed.write_to(file)
    assert packed.length == len(file.getvalue())
    return file.getvalue()


@pytest.mark.parametrize("payload", [b"", b"small", LARGE])
def test_what_is_read_is_what_was_written(payload: bytes) -> None:
    fields = {"WARC-Date": "2023-11-14T22:13:20.250Z", "WARC-Record-ID": identity("response", "x")}
    octets = written(WarcRecord("response", "http://a.test/\xe9", fields, HEAD, io.BytesIO(payload), len(payload)))
    record = next(iter(ArchiveIterator(io.BytesIO(octets), check_digests="raise")))
    assert record.raw_stream.read() == payload
    assert record.http_headers.get_header("Server") == "\xe9"
    assert record.rec_headers.get_header("WARC-Target-URI") == "http://a.test/\xe9"
    digest = f"sha1:{b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()}"
    assert record.rec_headers.get_header("WARC-Payload-Digest") == digest


def test_a_record_is_a_member_of_its_own() -> None:
    octets = written(WarcRecord("resource", "http://a.test/robots.txt", {}, b"", b"User-agent: *", 13))
    head, _, rest = gzip.decompress(octets).partition(b"\r\n\r\n")
    assert head.startswith(b"WARC/1.1\r\nWARC-Type: resource\r\n")
    assert rest == b"User-agent: *\r\n\r\n"


@pytest.mark.parametrize("name", ["1 2.0 http://a.test/", "\xe9", ""])
def test_identities_are_uuids_by_name(name: str) -> None:
    assert identity("response", name) == f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'response {name}')}>"


def test_no_line_is_smuggled_into_the_fields_of_a_file() -> None:
    assert warc.text_of({"software": "x\r\nrobots: ignore", "empty": ""}) == b"software: x\\r\\nrobots: ignore\r\n"

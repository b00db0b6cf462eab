"""Stored pages for other programs: WARC 1.1 (ISO 28500:2017) and JSON lines."""

import asyncio
import hashlib
import io
import shutil
import tempfile
import uuid
from base64 import b32encode
from typing import Any, BinaryIO, Final, NamedTuple, cast

from warcio.recordbuilder import RecordBuilder
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from gregor import __version__
from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Page
from gregor.worker.base.streams import in_order
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.inspect import heads, url_record

VERSION: Final = "WARC/1.1"
_CUT: Final = {"size": "length", "time": "time", "cut": "disconnect"}
_BLOCK: Final = 65536
_SPOOLED: Final = 1024 * 1024
_BUILDER: Final = RecordBuilder(warc_version=VERSION)


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """A head that is written as it was received; warcio would percent-encode what is not ASCII."""

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        return cast(bytes, self.to_bytes(filter_func, "latin-1"))


async def jsonl(reader: Reader, file: BinaryIO, part: Part = WHOLE) -> int:
    """Every stored page, or those of a part, with text and links, one object a line; returns how many."""

    async def line(page: Page) -> bytes:
        if page.body and (found := await url_record.body_of(reader, page, page.body)) is not None:
            found[0].close()  # whoever is told its sha256 may rely on it
        return url_record.encode(await url_record.of_page(reader, page, text=True)) + b"\n"

    count = 0
    async for written in in_order(reader.pages(part), line):
        file.write(written)
        count += 1
    return count


class _Stored(NamedTuple):
    """A page with what of it is read apart: its body (``decoded``: not as received), and whose copy it is."""

    page: Page
    payload: BinaryIO
    decoded: bool
    original: Page | None


async def warc(reader: Reader, file: BinaryIO, part: Part = WHOLE) -> int:
    """Every stored page as request and response, gzip per record; exact copies as revisit records. Returns how many.

    Transfer codings were removed when the body came (RFC 9112 section 6.1), so their header is kept under another name;
    content codings are as on the wire. Credentials and cookies of requests are masked.
    """
    writer = WARCWriter(file, gzip=True, warc_version=VERSION)
    info = {"software": f"gregor/{__version__}", "format": "WARC File Format 1.1"}
    writer.write_record(_BUILDER.create_warcinfo_record("", info))

    async def stored(page: Page) -> _Stored:
        (payload, decoded), original = await asyncio.gather(_payload(reader, page), _original(reader, page))
        return _Stored(page, payload, decoded, original)

    count = 0
    async for one in in_order(reader.pages(part), stored):
        _write(writer, one)
        count += 1
    return count


def _write(writer: Any, stored: _Stored) -> None:
    page, payload, decoded, original = stored
    with payload:
        response = _revisit(page, payload, original) if original is not None else _response(page, payload, decoded)
        request = _request(page, response)
        if request is None:
            writer.write_record(response)
        else:
            writer.write_request_response_pair(request, response)


async def _payload(reader: Reader, page: Page) -> tuple[BinaryIO, bool]:
    """The body as it was received, or, when only that is kept, decoded (True). Its place is at the start."""
    spool = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115 - closed by who gets it
    found = await url_record.body_of(reader, page, *filter(None, (page.wire, page.body)))
    if found is None:
        return spool, False
    body, sha256 = found
    with body:
        shutil.copyfileobj(body, spool)
    spool.seek(0)
    return spool, sha256 != (page.wire or page.body)


async def _original(reader: Reader, page: Page) -> Page | None:
    """The page of which this one is a copy, byte for byte as received; a copy of the text only is no revisit."""
    original = await url_record.whole(reader, reader.page(page.duplicate_of)) if page.duplicate_of else None
    if original is None or (original.wire or original.body) != (page.wire or page.body):
        return None
    return original


def _response(page: Page, payload: BinaryIO, decoded: bool) -> Any:
    size = payload.seek(0, io.SEEK_END)
    payload.seek(0)
    fields = _fields(page)
    if page.truncated or size == 0 < page.size:
        fields["WARC-Truncated"] = _CUT.get(page.truncated, "unspecified")
    http = _http_head(page, decoded)
    return _BUILDER.create_warc_record(page.href, "response", payload, size, "", fields, None, http)


def _revisit(page: Page, payload: BinaryIO, original: Page) -> Any:
    fields = _fields(page) | {"WARC-Refers-To": _id(original, "response"), "WARC-Truncated": "length"}
    digest = hashlib.sha1(usedforsecurity=False)
    while block := payload.read(_BLOCK):
        digest.update(block)
    digest_text = f"sha1:{b32encode(digest.digest()).decode()}"
    date = rfc3339(original.fetched_at)
    return _BUILDER.create_revisit_record(page.href, digest_text, original.href, date, _http_head(page, False), fields)


def _request(page: Page, response: Any) -> Any:
    """The request of a response; None when the transport did not tell it."""
    if not page.request_head:
        return None
    line, headers = heads.parse(heads.masked(page.request_head))
    fields = {"WARC-Date": rfc3339(page.fetched_at), "WARC-Record-ID": _id(page, "request")}
    http = _Head(line, headers, is_http_request=True)
    return _BUILDER.create_warc_record(page.href, "request", None, None, "", fields, None, http)


def _fields(page: Page) -> dict[str, str]:
    fields = {"WARC-Date": rfc3339(page.fetched_at), "WARC-Record-ID": _id(page, "response")}
    return fields | ({"WARC-IP-Address": page.address} if page.address else {})


def _id(page: Page, kind: str) -> str:
    """The same for every export of a page version, so that two exports can be joined."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{kind} {page.visit} {page.fetched_at} {page.href}')}>"


def _http_head(page: Page, decoded: bool) -> _Head:
    """The head of an answer; what describes codings that its payload no longer has gets another name."""
    line, headers = heads.parse(page.response_head)
    protocol, _, status = line.partition(" ")
    if not protocol.startswith("HTTP/1"):  # readers of WARCs know HTTP/1 only
        protocol = "HTTP/1.1"
    renamed = {"transfer-encoding", "content-encoding"} if decoded else {"transfer-encoding"}
    kept = [(f"X-Orig-{name}" if name.lower() in renamed else name, value) for name, value in headers]
    code, _, reason = status.strip().partition(" ")
    return _Head(f"{code or page.status} {reason}", kept, protocol=protocol)

"""WARC 1.1 records (ISO 28500:2017) of what a crawl keeps of requests and answers.

Nothing is made up: what stands in a record was received. A payload has no transfer coding any more (RFC 9112 section
6.1), may be decoded, cut or not kept at all; a header that would then say something else of it gets another name.
"""

import hashlib
import io
import re
import uuid
from base64 import b32encode
from typing import Any, BinaryIO, Final, NamedTuple, cast

from warcio.recordbuilder import RecordBuilder
from warcio.statusandheaders import StatusAndHeaders

from gregor import __version__
from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Page
from gregor.worker.web import heads
from gregor.worker.web.http_headers import masked

VERSION: Final = "WARC/1.1"
NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_CONFORMS: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_CONTACT: Final = re.compile(r"https?://[^\s;,()<>\"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CUT: Final = {"size": "length", "time": "time", "cut": "disconnect"}
_BLOCK: Final = 65536
_BUILDER: Final = RecordBuilder(warc_version=VERSION)


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """A head that is written as it was received; warcio would percent-encode what is not ASCII."""

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        return cast(bytes, self.to_bytes(filter_func, "latin-1"))


class Answer(NamedTuple):
    """What a record tells of an answer: the URL asked, its status and head as received, when (unix seconds), from which
    address; ``truncated``: why its payload is not whole, "" if it is. ``name`` is the same at every export and no
    other's."""

    href: str
    status: int
    head: bytes
    at: float
    address: str
    truncated: str
    name: str


class Original(NamedTuple):
    """The response that a revisit record refers to, with the size of its payload and its digest."""

    href: str
    at: float
    name: str
    size: int
    digest: str


def warcinfo(agent: str, robots: str, name: str = "") -> Any:
    """The first record of a file of a ``name``: which program wrote it, as which User-Agent it asked, who answers for
    that, and what it made of robots.txt (the setting of that name)."""
    fields = {"software": f"gregor/{__version__}", "format": "WARC File Format 1.1", "conformsTo": _CONFORMS}
    fields["robots"] = "RFC 9309" if robots == "obey" else robots
    if agent:
        fields["http-header-user-agent"] = agent
    if contact := _CONTACT.search(agent):
        fields["operator"] = contact[0]
    return _BUILDER.create_warcinfo_record(name, fields)


def of_page(page: Page) -> Answer:
    """The answer of which a page was made."""
    name = f"{page.visit} {page.fetched_at} {page.href}"
    return Answer(page.href, page.status, page.response_head, page.fetched_at, page.address, page.truncated, name)


def request(page: Page) -> Any:
    """The request of a page, its secrets masked; None when the transport did not tell it."""
    if not page.request_head:
        return None
    line, headers = heads.parse(masked(page.request_head))
    fields = {"WARC-Date": rfc3339(page.fetched_at), "WARC-Record-ID": identity("request", of_page(page).name)}
    http = _Head(line, headers, is_http_request=True)
    return _BUILDER.create_warc_record(page.href, "request", None, None, "", fields, None, http)


def response(answer: Answer, payload: BinaryIO, *, decoded: bool) -> Any:
    """An answer with its payload; ``decoded``: not as it was received."""
    size = size_of(payload)
    fields = _fields(answer)
    if answer.truncated:
        fields["WARC-Truncated"] = _CUT.get(answer.truncated, "unspecified")
    http = _http_head(answer, size, decoded)
    return _BUILDER.create_warc_record(answer.href, "response", payload, size, "", fields, None, http)


def copy(answer: Answer, original: Original, *, decoded: bool) -> Any:
    """An answer whose payload is that of another one, octet for octet."""
    fields = _fields(answer) | {"WARC-Refers-To": identity("response", original.name), "WARC-Truncated": "length"}
    http = _http_head(answer, original.size, decoded)
    date = rfc3339(original.at)
    return _BUILDER.create_revisit_record(answer.href, original.digest, original.href, date, http, fields)


def not_modified(answer: Answer, original: Original) -> Any:
    """A 304, which says that what came before still holds (RFC 9110 section 15.4.5)."""
    fields = _fields(answer) | {
        "WARC-Profile": NOT_MODIFIED,
        "WARC-Refers-To": identity("response", original.name),
        "WARC-Refers-To-Target-URI": original.href,
        "WARC-Refers-To-Date": rfc3339(original.at),
        "WARC-Payload-Digest": original.digest,
    }
    http = _http_head(answer, 0, decoded=False)
    return _BUILDER.create_warc_record(answer.href, "revisit", None, None, "", fields, None, http)


def resource(href: str, at: float, text: bytes) -> Any:
    """A text of which no head is kept: no response, and not said to be one."""
    fields = {"WARC-Date": rfc3339(at), "WARC-Record-ID": identity("resource", f"{at} {href}")}
    return _BUILDER.create_warc_record(href, "resource", io.BytesIO(text), len(text), "text/plain", fields)


def original(page: Page, payload: BinaryIO) -> Original:
    """What refers to the response of a page, whose payload this is, needs of it."""
    answer, size = of_page(page), size_of(payload)
    digest = hashlib.sha1(usedforsecurity=False)
    while block := payload.read(_BLOCK):
        digest.update(block)
    payload.seek(0)
    return Original(answer.href, answer.at, answer.name, size, f"sha1:{b32encode(digest.digest()).decode()}")


def size_of(payload: BinaryIO) -> int:
    """The octets of a payload, which is left at its start."""
    size = payload.seek(0, io.SEEK_END)
    payload.seek(0)
    return size


def identity(kind: str, name: str) -> str:
    """The same for every export of an answer, so that two exports can be joined."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{kind} {name}')}>"


def _fields(answer: Answer) -> dict[str, str]:
    fields = {"WARC-Date": rfc3339(answer.at), "WARC-Record-ID": identity("response", answer.name)}
    return fields | ({"WARC-IP-Address": answer.address} if answer.address else {})


def _http_head(answer: Answer, size: int, decoded: bool) -> _Head:
    """The head of an answer over a payload of so many octets; a header that is not true of it gets another name."""
    line, headers = heads.parse(answer.head)
    protocol, _, status = line.partition(" ")
    if not protocol.startswith("HTTP/1"):  # readers of WARCs know HTTP/1 only
        protocol = "HTTP/1.1"
    untrue = {"transfer-encoding"}
    if decoded:
        untrue.add("content-encoding")
    stated = [value for name, value in headers if name.lower() == "content-length"]
    if any(length.strip() != str(size) for value in stated for length in value.split(",")):
        untrue.add("content-length")
    kept = [(f"X-Orig-{name}" if name.lower() in untrue else name, value) for name, value in headers]
    code, _, reason = status.strip().partition(" ")
    return _Head(f"{code or answer.status} {reason}", kept, protocol=protocol)

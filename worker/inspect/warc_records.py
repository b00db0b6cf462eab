"""WARC 1.1 records (ISO 28500:2017) of what a crawl keeps of requests and answers.

Nothing is made up: what stands in a record was received. A payload has no transfer coding any more (RFC 9112 section
6.1), may be decoded, cut or not kept at all; a header that would then say something else of it gets another name.
"""

import hashlib
import re
import time
import uuid
from typing import BinaryIO, Final, NamedTuple

from gregor import __version__
from gregor.schemas.events import rfc3339
from gregor.schemas.messages import Page
from gregor.worker.archives.blocks import pieces_of
from gregor.worker.archives.warc import WarcRecord, digest_of, size_of, text_of
from gregor.worker.base.printable import one_line
from gregor.worker.web import heads
from gregor.worker.web.http_headers import masked

NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_CONFORMS: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
_CONTACT: Final = re.compile(r"https?://[^\s;,()<>\"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CUT: Final = {"size": "length", "time": "time", "cut": "disconnect"}
_UNTRUE: Final = frozenset({"transfer-encoding"})
_UNTRUE_DECODED: Final = _UNTRUE | {"content-encoding"}
_HTTP_1: Final = re.compile(rb"HTTP/1\S* [0-9]+ [!-~]")
_OF_PAYLOAD: Final = re.compile(rb"\n(transfer-encoding|content-encoding|content-length): ([^\r]*)", re.IGNORECASE)
"""Of a tidy head: headers that may not be true of what is kept."""
_NAMESPACE: Final = uuid.NAMESPACE_URL.bytes
_SAME_PAYLOAD: Final = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


class WarcAnswer(NamedTuple):
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


def warcinfo(agent: str, robots: str, name: str = "") -> WarcRecord:
    """The first record of a file of a ``name``: which program wrote it, as which User-Agent it asked, who answers for
    that, and what it made of robots.txt (the setting of that name)."""
    about = {"software": f"gregor/{__version__}", "format": "WARC File Format 1.1", "conformsTo": _CONFORMS}
    about["robots"] = "RFC 9309" if robots == "obey" else robots
    if agent:
        about["http-header-user-agent"] = agent
    if contact := _CONTACT.search(agent):
        about["operator"] = contact[0]
    fields = {"WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>", "WARC-Date": rfc3339(time.time())}
    text = text_of(about)
    return WarcRecord(
        "warcinfo", "", ({"WARC-Filename": one_line(name)} if name else {}) | fields, b"", text, len(text)
    )


def of_page(page: Page) -> WarcAnswer:
    """The answer of which a page was made."""
    name = f"{page.visit} {page.fetched_at} {page.href}"
    return WarcAnswer(page.href, page.status, page.response_head, page.fetched_at, page.address, page.truncated, name)


def request(page: Page, answer: WarcAnswer, response: WarcRecord) -> WarcRecord | None:
    """The request of a page, its secrets masked, beside its response; None when the transport did not tell it."""
    if not page.request_head:
        return None
    fields = {
        "WARC-Date": response.fields["WARC-Date"],
        "WARC-Record-ID": identity("request", answer.name),
        "WARC-Concurrent-To": response.identity,
    }
    head = masked(page.request_head)
    return WarcRecord("request", page.href, fields, head if heads.is_tidy(head) else heads.compose(*heads.parse(head)))


def response(answer: WarcAnswer, payload: BinaryIO | bytes, *, decoded: bool, size: int | None = None) -> WarcRecord:
    """An answer with its payload; ``decoded``: not as it was received; ``size``: of the payload, where it is known."""
    if size is None:
        size = len(payload) if isinstance(payload, bytes) else size_of(payload)
    fields = _fields(answer)
    if answer.truncated:
        fields["WARC-Truncated"] = _CUT.get(answer.truncated, "unspecified")
    return WarcRecord("response", answer.href, fields, _http_head(answer, size, decoded), payload, size)


def copy(answer: WarcAnswer, original: Original, *, decoded: bool) -> WarcRecord:
    """An answer whose payload is that of another one, octet for octet."""
    fields = _fields(answer) | {"WARC-Truncated": "length"} | _refers_to(original, _SAME_PAYLOAD)
    return WarcRecord("revisit", answer.href, fields, _http_head(answer, original.size, decoded))


def not_modified(answer: WarcAnswer, original: Original) -> WarcRecord:
    """A 304, which says that what came before still holds (RFC 9110 section 15.4.5)."""
    fields = _fields(answer) | _refers_to(original, NOT_MODIFIED)
    return WarcRecord("revisit", answer.href, fields, _http_head(answer, 0, decoded=False))


def _refers_to(original: Original, profile: str) -> dict[str, str]:
    return {
        "WARC-Profile": profile,
        "WARC-Refers-To": identity("response", original.name),
        "WARC-Refers-To-Target-URI": original.href,
        "WARC-Refers-To-Date": rfc3339(original.at),
        "WARC-Payload-Digest": original.digest,
    }


def resource(href: str, at: float, text: bytes) -> WarcRecord:
    """A text of which no head is kept: no response, and not said to be one."""
    fields = {"WARC-Date": rfc3339(at), "WARC-Record-ID": identity("resource", f"{at} {href}")}
    return WarcRecord("resource", href, fields, b"", text, len(text))


def original(page: Page, payload: BinaryIO) -> Original:
    """What refers to the response of a page, whose payload this is, needs of it."""
    answer, size = of_page(page), size_of(payload)
    digest = hashlib.sha1(usedforsecurity=False)
    for piece in pieces_of(payload):
        digest.update(piece)
    payload.seek(0)
    return Original(answer.href, answer.at, answer.name, size, digest_of(digest))


def identity(kind: str, name: str) -> str:
    """The same for every export of an answer, so that two exports can be joined."""
    digest = hashlib.sha1(_NAMESPACE + f"{kind} {name}".encode(), usedforsecurity=False).digest()
    # As uuid.uuid5 makes it, in a fifth of the time: it would be a tenth of an export.
    variant = "89ab"[digest[8] >> 4 & 3]
    text = digest.hex()
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}>"


def _fields(answer: WarcAnswer) -> dict[str, str]:
    fields = {"WARC-Date": rfc3339(answer.at), "WARC-Record-ID": identity("response", answer.name)}
    if answer.address:
        fields["WARC-IP-Address"] = answer.address
    return fields


def _http_head(answer: WarcAnswer, size: int, decoded: bool) -> bytes:
    """The head of an answer over a payload of so many octets; a header that is not true of it gets another name."""
    untrue = _UNTRUE_DECODED if decoded else _UNTRUE
    if heads.is_tidy(answer.head) and _HTTP_1.match(answer.head):
        claims = [(name.decode().lower(), value.decode("latin-1")) for name, value in _OF_PAYLOAD.findall(answer.head)]
        if all(_states(value, size) if name == "content-length" else name not in untrue for name, value in claims):
            return answer.head
    line, headers = heads.parse(answer.head)
    protocol, _, status = line.partition(" ")
    if not protocol.startswith("HTTP/1"):  # readers of WARCs know HTTP/1 only
        protocol = "HTTP/1.1"
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    if not all(_states(value, size) for value in lengths):
        untrue = untrue | {"content-length"}
    kept = [(f"X-Orig-{name}" if name.lower() in untrue else name, value) for name, value in headers]
    code, _, reason = status.strip().partition(" ")
    return heads.compose(f"{protocol} {code or answer.status} {reason}", kept)


def _states(value: str, size: int) -> bool:
    """Whether a Content-Length, which may be repeated in a list, says this of itself."""
    return value == str(size) or all(length.strip() == str(size) for length in value.split(","))

"""What a Content-Type says (Fetch Standard, "extract a MIME type"), and what a body is when it says nothing.

The parser follows the MIME Sniffing Standard, section 4.4; sniffing its sections 6 and 7 as far as a crawler needs
them: a missing or meaningless type may become HTML, XML, plain text or a known binary format; a type that says text
stays text, and a type that says HTML is believed unless the bytes are those of another format altogether.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_BLANK = " \t\r\n"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_PIECE = re.compile(r'(?:[^",]++|"(?:[^"\\]++|\\.|\\\Z)*+(?:"|\Z))*+', re.DOTALL)

UNKNOWN = frozenset({"", "application/octet-stream", "unknown/unknown", "application/unknown", "*/*"})
"""Types that say nothing. ``application/octet-stream`` is one: servers send it for files they know nothing about."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"OggS\x00", "application/ogg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_MARKS = tuple(mark for mark, _ in _MAGIC)
_HTML = re.compile(
    rb"[\t\n\x0c\r ]*<(?:(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)[ >]"
    rb"|!--)",
    re.IGNORECASE,
)
_XML = re.compile(rb"[\t\n\x0c\r ]*<\?xml", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_TEXT_BOMS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
SNIFFED = 1445
"""How many bytes sniffing looks at (MIME Sniffing Standard, section 5.2)."""


class MediaType(NamedTuple):
    """One parsed MIME type; names are lower case, values are as sent."""

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def charset(self) -> str | None:
        """The charset parameter as sent: a label, not an encoding."""
        return dict(self.parameters).get("charset")

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_quoted(value)}" for name, value in self.parameters)


@lru_cache(maxsize=1024)
def parse(value: str) -> MediaType | None:
    """Parses one MIME type; None when it is none."""
    kind, slash, rest = value.strip(_BLANK).partition("/")
    subtype, _, rest = rest.partition(";")
    subtype = subtype.rstrip(_BLANK)
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    return MediaType(f"{kind}/{subtype}".lower(), _parameters(rest))


def _parameters(text: str) -> tuple[tuple[str, str], ...]:
    parameters: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = re.compile(r"[^;=]*").match(text, at)
        assert match is not None
        name, at = match.group().lstrip(_BLANK).lower(), match.end()
        if at == len(text):
            break
        if text[at] == ";":
            at += 1
            continue
        quoted = text.startswith('"', at + 1)
        value, at = _quoted_string(text, at + 2) if quoted else _bare(text, at + 1)
        if name not in parameters and _TOKEN.fullmatch(name) and (value or quoted) and _VALUE.fullmatch(value):
            parameters[name] = value
    return tuple(parameters.items())


def _bare(text: str, at: int) -> tuple[str, int]:
    end = text.find(";", at)
    end = len(text) if end < 0 else end
    return text[at:end].rstrip(_BLANK), end + 1


def _quoted_string(text: str, at: int) -> tuple[str, int]:
    match = re.compile(r'((?:[^"\\]|\\.)*)(\\?)', re.DOTALL).match(text, at)
    assert match is not None
    value = re.sub(r"\\(.)", r"\1", match.group(1), flags=re.DOTALL) + match.group(2)
    _, end = _bare(text, match.end())
    return value, end


def _quoted(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _split(value: str) -> Iterable[str]:
    """The pieces of a header value between its commas, commas inside quotes left alone."""
    at = 0
    while at <= len(value):
        match = _PIECE.match(value, at)
        assert match is not None
        yield match.group()
        at = match.end() + 1


@lru_cache(maxsize=1024)
def extract(value: str) -> MediaType | None:
    """The MIME type of a Content-Type header (several field lines joined by ", "): the last valid one, with the charset
    of the first of its row of the same essence when it has none itself."""
    result: MediaType | None = None
    charset: str | None = None
    for piece in _split(value):
        parsed = parse(piece)
        if parsed is None or parsed.essence == "*/*":
            continue
        if result is None or parsed.essence != result.essence:
            charset = parsed.charset
        elif parsed.charset is None and charset is not None:
            parsed = MediaType(parsed.essence, (*parsed.parameters, ("charset", charset)))
        result = parsed
    return result


def is_xml(essence: str) -> bool:
    """Whether a type is an XML type (MIME Sniffing Standard, section 4.6)."""
    return essence in {"text/xml", "application/xml"} or essence.endswith("+xml")


def sniff(body: bytes, content_type: str | None) -> str:
    """The media type of a body: what its header says where that means something, else what its first bytes show."""
    said = extract(content_type) if content_type else None
    essence = said.essence if said else ""
    prefix = body[:SNIFFED]
    if essence in {"text/html", "application/xhtml+xml"}:
        return _magic(prefix) or essence
    return essence if essence not in UNKNOWN else _unknown(prefix)


def _magic(prefix: bytes) -> str | None:
    if not prefix.startswith(_MARKS):  # as next to all pages
        return None
    return next(name for mark, name in _MAGIC if prefix.startswith(mark))


def _unknown(prefix: bytes) -> str:
    if _HTML.match(prefix):
        return "text/html"
    if _XML.match(prefix):
        return "text/xml"
    if magic := _magic(prefix):
        return magic
    if prefix.startswith(_TEXT_BOMS) or not _BINARY.search(prefix):
        return "text/plain"
    return "application/octet-stream"

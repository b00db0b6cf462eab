"""Which encoding a body is in, and its text.

The order is that of the HTML Standard, section 13.2.3.2: byte order mark, charset of the Content-Type header, ``meta``
in the first 1,024 bytes (HTML) or the XML declaration; then, as a browser would when its parser meets it, a later
``meta``; then what the bytes look like. Names are those of the Encoding Standard, lower case.
"""

import re
from codecs import getincrementaldecoder
from functools import lru_cache

import webencodings

from gregor.worker.web import media_type
from gregor.worker.web.encodings import decoders

PRESCAN = 1024
"""Bytes the standard's prescan looks at."""
GUESSED = 64 * 1024
"""Bytes that are looked at when nothing is declared."""
_DETECTED = 2048
"""Bytes given to the detector."""
_TELLING = 4
"""Characters beyond ASCII from which on there is something to detect."""
_GUESSES = {
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "gb18030": "gb18030",
    "big5": "big5",
    "cp949": "euc-kr",
    "cp1251": "windows-1251",
    "koi8_r": "koi8-r",
    "cp1250": "windows-1250",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp874": "windows-874",
}
"""What the detector may answer (it takes a millisecond with these, a hundred with all it knows), and their names."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_SPACE = rb"\t\n\x0c\r "
_ATTRIBUTE = re.compile(
    rb"[%b/]*+([^%b/>][^%b/>=]*+)(?:[%b]*+=[%b]*+(?:\"([^\"]*+)(?:\"|\Z)|'([^']*+)(?:'|\Z)|([^%b>]*+)))?+"
    % ((_SPACE,) * 6)
)
_GAP = re.compile(rb"[%b/]*" % _SPACE)
_CHARSET = re.compile(rb"charset", re.IGNORECASE)
_META = re.compile(rb"<meta[%b/]" % _SPACE, re.IGNORECASE)
_TAG = re.compile(rb"<(/?)([A-Za-z][^%b>]*)" % _SPACE)
_CONTENT = re.compile(
    rb"charset[%b]*=[%b]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'%b;][^%b;]*))" % ((_SPACE,) * 4), re.IGNORECASE
)
_PRESCANNED_COMMENT_END = re.compile(rb"-->")
_COMMENT_END = re.compile(rb"-->|(?<!<!)(?<!<!-)--!>")
_RAW_TEXT = (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes")
_XML_ENCODING = re.compile(rb"encoding[\x00-\x20]*=[\x00-\x20]*([\"'])([^\x00-\x20\"']*)\1")
_CSS_CHARSET = re.compile(rb'@charset "([^"]{0,1000})";')
_MARKUP = re.compile(rb"<[^<>]*+>")  # not to the next ">" from each of a thousand "<"


@lru_cache(maxsize=1024)
def lookup(label: str) -> str | None:
    """The encoding that a label names (Encoding Standard, section 4.2), or None."""
    found = webencodings.lookup(label)
    return None if found is None else str(found.name)


def header_charset(content_type: str | None) -> str | None:
    """The encoding that a Content-Type header names, or None."""
    parsed = media_type.extract(content_type) if content_type else None
    return lookup(parsed.charset) if parsed and parsed.charset is not None else None


def sniff(body: bytes, content_type: str | None, *, default: str | None = None) -> str:
    """The encoding of ``body`` (a prefix will do). With ``default`` an undeclared encoding is that one, not a guess."""
    return bom(body) or header_charset(content_type) or _declared(body, content_type) or default or guess(body)


def decode(body: bytes, encoding: str) -> str:
    """The text of ``body`` without its byte order mark, which outweighs ``encoding``; what can't be decoded becomes
    U+FFFD."""
    marked = next(((mark, name) for mark, name in _BOMS if body.startswith(mark)), (b"", encoding))
    body, encoding = body.removeprefix(marked[0]), marked[1]
    return body.decode("utf-8", "replace") if encoding == "utf-8" else decoders.text(body, encoding)


def bom(body: bytes) -> str | None:
    """The encoding of a byte order mark (Encoding Standard, "BOM sniff")."""
    return next((name for mark, name in _BOMS if body.startswith(mark)), None)


def _declared(body: bytes, content_type: str | None) -> str | None:
    """What the body says of itself, by the rules of its media type; JSON, XML and style sheets (CSS Syntax Level 3,
    section 3.2) default to UTF-8."""
    essence = media_type.sniff(body, content_type)
    if media_type.is_xml(essence):
        return xml_declaration(body) or "utf-8"
    if essence == "text/css":
        rule = _CSS_CHARSET.match(body)
        return (rule and _label(rule[1])) or "utf-8"
    if essence == "application/json" or essence.endswith("+json"):
        return "utf-8"
    if essence == "text/html" or not content_type:
        return prescan(body) or late_meta(body) or _misspelt(content_type)
    return _misspelt(content_type)


def _misspelt(content_type: str | None) -> str | None:
    """The charset of a header that the standard's parser refuses: single quotes, blanks around the equals sign."""
    match = _CONTENT.search((content_type or "").encode("latin-1", "replace"))
    return _label(next(filter(None, match.groups()), b"")) if match else None


def _label(label: bytes) -> str | None:
    """The encoding of a label found inside a document, which can't be in UTF-16 if the label could be read."""
    name = lookup(label.decode("latin-1"))
    if name is None:
        return None
    if name.startswith("utf-16"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def prescan(body: bytes) -> str | None:
    """HTML Standard, "prescan a byte stream to determine its encoding", over the first 1,024 bytes."""
    data = body[:PRESCAN]
    return _xml_in_utf16(data) or _first_meta(data, raw_text=()) or xml_declaration(data)


def _xml_in_utf16(data: bytes) -> str | None:
    """The encoding of an XML declaration in UTF-16 that has no byte order mark (XML 1.0, appendix F)."""
    if data.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return "utf-16le" if data[0] else "utf-16be"
    return None


def late_meta(body: bytes) -> str | None:
    """The first ``meta`` that declares an encoding, wherever it stands, as a parser meets it: not inside a script."""
    return _first_meta(body, raw_text=_RAW_TEXT) if _CHARSET.search(body) else None


def _first_meta(data: bytes, raw_text: tuple[bytes, ...]) -> str | None:
    """Goes from tag to tag; the insides of comments and of the elements in ``raw_text`` are passed over."""
    at = data.find(b"<")
    while at >= 0:
        if data.startswith(b"<!--", at):
            end = (_COMMENT_END if raw_text else _PRESCANNED_COMMENT_END).search(data, at + 2)
            at = end.end() if end else -1
        elif _META.match(data, at):
            at, name = _meta(data, at + 5)
            if name is not None:
                return name
        elif tag := _TAG.match(data, at):
            at = _attributes(data, tag.end())[0]
            if at >= 0 and not tag[1] and tag[2].lower() in raw_text:
                end = re.compile(b"</" + tag[2], re.IGNORECASE).search(data, at)
                at = end.start() if end else -1
        elif data.startswith((b"<!", b"</", b"<?"), at):
            at = _past(data, b">", at)
        else:
            at += 1
        at = data.find(b"<", at) if at >= 0 else at
    return None


def _past(data: bytes, mark: bytes, at: int) -> int:
    found = data.find(mark, at)
    return found + len(mark) if found >= 0 else -1


def _attributes(data: bytes, at: int) -> tuple[int, dict[bytes, bytes]]:
    """The attributes of a tag, the first of each name; the position behind them, or -1 when the data ended before."""
    attributes: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(data, at):
        name, *values = match.groups()
        attributes.setdefault(name.lower(), next(filter(None, values), b"").lower())
        at = match.end()
        if at == len(data):
            return -1, attributes
    gap = _GAP.match(data, at)
    assert gap is not None
    return (gap.end() if gap.end() < len(data) else -1), attributes


def _meta(data: bytes, at: int) -> tuple[int, str | None]:
    at, attributes = _attributes(data, at)
    if at < 0:
        return at, None
    if b"charset" in attributes:
        return at, _label(attributes[b"charset"])
    if attributes.get(b"http-equiv") == b"content-type":
        return at, from_content(attributes.get(b"content", b""))
    return at, None


def from_content(content: bytes) -> str | None:
    """HTML Standard, "extracting a character encoding from a meta element"."""
    match = _CONTENT.search(content)
    return _label(next(filter(None, match.groups()), b"")) if match else None


def xml_declaration(body: bytes) -> str | None:
    """HTML Standard, "get an XML encoding": what the first word "encoding" says; also of a declaration in UTF-16."""
    if not body.startswith(b"<?xml"):
        return _xml_in_utf16(body)
    declaration = body[: body.find(b">") + 1]
    match = _XML_ENCODING.match(declaration, max(declaration.find(b"encoding"), 0))
    return _label(match.group(2)) if match else None


def guess(body: bytes) -> str:
    """The encoding of a body that declares none: UTF-8 if it reads as that, windows-1252 if little is beyond ASCII;
    else what the detector makes of it."""
    sample, complete = body[:GUESSED], len(body) <= GUESSED
    if sample.isascii():
        return "windows-1252" if body.isascii() or not _reads_as_utf8(body, complete=True) else "utf-8"
    if _reads_as_utf8(sample, complete=complete):
        return "utf-8"
    words = _MARKUP.sub(b" ", sample)
    high = sum(words.count(bytes((byte,))) for byte in range(0x80, 0x100))
    if high < _TELLING or high * 4 < len(words) - words.count(b" "):
        return "windows-1252"
    first = next((at for at, byte in enumerate(words) if byte >= 0x80), 0)
    from charset_normalizer import from_bytes  # heavy: few documents need it

    best = from_bytes(words[first : first + _DETECTED], cp_isolation=list(_GUESSES)).best()
    return _GUESSES[best.encoding] if best else "windows-1252"


def _reads_as_utf8(body: bytes, *, complete: bool) -> bool:
    """Whether next to all that is not ASCII is UTF-8 (a cut character at the end of a part is no fault)."""
    text = getincrementaldecoder("utf-8")("replace").decode(body, complete)
    faults = text.count("\ufffd")
    return faults == 0 or faults * 20 < len(text) - len(text.encode("ascii", "ignore"))

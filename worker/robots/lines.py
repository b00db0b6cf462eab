"""The lines of a robots.txt (RFC 9309 section 2.2), read as forgivingly as the big crawlers read them.

What the RFC leaves open follows Google's published parser: mistyped directive names, a missing colon, a torn byte
order mark and over-long lines. From crawler-commons come a UTF-16 byte order mark, mark-up around the lines and more
mistyped names.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

MAX_BYTES = 500 * 1024
"""How much of a robots.txt is read; the rest is ignored (RFC 9309 section 2.5 asks for at least so much)."""

MAX_VALUE = 16_653
"""Longest value in characters; what lies beyond is cut off. Google's parsers cut at eight times the longest URL of old
browsers (2,083), one the line and one the value; this is where no published case of either tells the difference."""

LineKind = Literal[
    "user-agent", "allow", "disallow", "sitemap", "crawl-delay", "request-rate", "unused", "unknown", "comment", "empty"
]


Line = tuple[int, LineKind, str, str]
"""Number from 1, kind, value without comment and white space around it, and the line as it stands in the file."""

# Known names without hyphens, spaces and underscores, and how they are mistyped in the wild.
_NAMES: dict[str, LineKind] = {
    **dict.fromkeys(("useragent", "usegagent", "seragent"), "user-agent"),
    "allow": "allow",
    **dict.fromkeys(
        (
            *("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),  # Google
            *("desallow", "dssalow", "dsallow"),  # crawler-commons
        ),
        "disallow",
    ),
    "sitemap": "sitemap",
    "crawldelay": "crawl-delay",
    "requestrate": "request-rate",
    **dict.fromkeys(
        ("noarchive", "noindex", "nofollow", "nosnippet", "host", "cleanparam", "visittime", "contentsignal"), "unused"
    ),
}
_BLANK = " \t\0\v\f\xa0"
_SEPARATORS = str.maketrans("", "", "-_ \t\0\v\f\xa0")
_TELLING = re.compile("agent|sitemap", re.IGNORECASE)
"""What a text has that says anything to a crawler."""
_LONGEST_NAME = 64
_LINE_END = re.compile(r"\r\n|\r|\n")
_MARKUP = re.compile(r"<[^<>]*>")
# A value without a colon before it must look like one: "allow robots to see this" is prose.
_VALUE_START: dict[LineKind, tuple[str, ...]] = {
    "allow": ("/", "*"),
    "disallow": ("/", "*"),
    "sitemap": ("/", "http"),
}


def lines(body: bytes) -> Iterator[Line]:
    """Every line of ``body`` in order; never raises. A line cut by MAX_BYTES is left out, since half a rule would mean
    something else: hand in at least one byte more than MAX_BYTES when there are more."""
    text = _decoded(body[:MAX_BYTES])
    rows = _LINE_END.split(text) if "\r" in text else text.split("\n")
    if body[MAX_BYTES : MAX_BYTES + 1] not in (b"", b"\r", b"\n"):
        rows.pop()
    marked_up = text.lstrip().startswith("<")
    for number, row in enumerate(rows, 1):
        if not row:
            yield number, "empty", "", row
            continue
        content = _MARKUP.sub("", row) if marked_up else row
        if "#" in content:
            content = content[: content.index("#")]
        name, colon, value = content.partition(":")
        kind = _kind(name) if colon and len(name) < _LONGEST_NAME else None
        if kind is not None:
            yield number, kind, value.strip(_BLANK)[:MAX_VALUE], row
        else:
            yield number, *_other(content.strip(_BLANK), row), row


def _decoded(body: bytes) -> str:
    """UTF-8 whose faulty bytes survive as surrogates (a path is compared by its octets), or UTF-16 if it reads as that:
    a mark before other octets, or none before those of UTF-16, must not make every rule vanish."""
    if b"\0" in body or body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        marked = "utf-16-be" if body.startswith((codecs.BOM_UTF16_BE, b"\0")) else "utf-16-le"
        for encoding in (marked, "utf-16-le", "utf-16-be"):
            text = body.decode(encoding, "replace")
            if _TELLING.search(text):
                return text.lstrip("\ufeff\ufffe")
    mark = next((n for n in (3, 2, 1) if body.startswith(codecs.BOM_UTF8[:n])), 0)
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        mark = 2
    return body[mark:].decode("utf-8", "surrogateescape").lstrip("\ufeff")  # two marks, where files were joined


@lru_cache(maxsize=512)
def _kind(name: str) -> LineKind | None:
    return _NAMES.get(name.lower().translate(_SEPARATORS))


def _other(content: str, row: str) -> tuple[LineKind, str]:
    """A line that is no name, colon and value: nothing, a comment, or a directive whose colon is missing."""
    if not content:
        return "comment" if "#" in row else "empty", ""
    words = content.split(None, 2)
    for taken in range(1, len(words)):
        name = "".join(words[:taken])
        kind = _kind(name) if len(name) < _LONGEST_NAME else None
        if kind is not None:
            value = content.split(None, taken)[taken]
            return (kind, value) if value.startswith(_VALUE_START.get(kind, "")) else ("unknown", "")
    return "unknown", ""

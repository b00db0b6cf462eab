"""References in style sheets: ``url()`` and ``@import`` (CSS Syntax Level 3 as far as needed, leniently)."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

MAX_TOKENS: Final = 300_000
"""Comments, strings and references of a style sheet that are looked at (some 0.4 s)."""

MAX_ESCAPED: Final = 500_000
"""Characters of references with escapes that are read (some 0.1 s)."""

_DOUBLE, _SINGLE = r"(?:[^\"\\\n]++|(?:\\.)++)*+", r"(?:[^'\\\n]++|(?:\\.)++)*+"
_BARE = r"(?:[^)\\]++|(?:\\.)++)*+"
_TOKEN = re.compile(
    r"[/\"'@uU](?:"  # sought first, since a set of characters is found fast
    r"(?<=/)\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
    rf"|(?<=[uU])(?<![\w-][uU])(?P<url>[rR][lL]\(\s*+)(?:\"(?P<double>{_DOUBLE})\"?|'(?P<single>{_SINGLE})'?|(?P<bare>{_BARE}))"
    r"|(?<=@)(?P<import>[iI][mM][pP][oO][rR][tT](?:\s++|/\*.*?\*/)*+)"
    rf"(?:\"(?P<text2>{_DOUBLE})\"?|'(?P<text1>{_SINGLE})'?)"
    rf"|(?<=\"){_DOUBLE}\"?|(?<='){_SINGLE}'?)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})[ \t\r\n\f]?|(\n)|(.))", re.DOTALL)
_IMPORT = re.compile(r"@import(?:\s|/\*.*?\*/)*\Z", re.IGNORECASE | re.DOTALL)


def references(css: str) -> Iterator[tuple[str, str]]:
    """The references of a style sheet and their kinds: ``css`` (imported) or ``style`` (images, fonts)."""
    room = MAX_ESCAPED
    for match in islice(_TOKEN.finditer(css), MAX_TOKENS):
        if match["url"] is not None:
            imported = _IMPORT.search(css, max(0, match.start() - 32), match.start()) is not None
            value = match["double"] or match["single"] or match["bare"] or ""
        elif match["import"] is not None:
            imported, value = True, match["text2"] or match["text1"] or ""
        else:
            continue
        if "\\" in value:
            room -= len(value)
            value = _ESCAPE.sub(_unescaped, value) if room > 0 else ""
        value = value.strip(" \t\r\n\f\"'")
        if value:
            yield value, "css" if imported else "style"


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return match[3] or ""

"""Mends the text of XML that was written by hand or by a template, piece by piece, before a parser sees it. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_LONGEST: Final = 12
"""Characters of the longest thing that the end of a piece may cut: a reference, or a mark of CDATA."""
_CDATA = re.compile(r"(<!\[CDATA\[|\]\]>)")
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});)")
_ROOT = re.compile(r"<\?xml\s|<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]", re.IGNORECASE)


def without_preface(start: str) -> str:
    """The beginning of a document without what stands before it: warnings of the program that wrote it, for example."""
    root = _ROOT.search(start)
    return start[root.start() :] if root is not None else start


def escaped(pieces: Iterable[str]) -> Iterator[str]:
    """The text with "&amp;" where "&" begins no reference that XML knows: addresses are full of them."""
    rest, inside = "", False
    for piece in pieces:
        text = rest + piece
        cut = max(text.rfind(mark, max(0, len(text) - _LONGEST)) for mark in "&<]")
        text, rest = (text[:cut], text[cut:]) if cut >= 0 else (text, "")
        text, inside = _mended(text, inside)
        yield text
    yield _mended(rest, inside)[0]


def _mended(text: str, inside: bool) -> tuple[str, bool]:
    """The text of a piece, and whether its end is inside CDATA, where nothing needs escaping."""
    if "&" not in text:
        opened, closed = text.rfind("<![CDATA["), text.rfind("]]>")
        return text, opened > closed or (inside and closed < 0)
    parts = []
    for part in _CDATA.split(text):
        if part in ("<![CDATA[", "]]>"):
            inside = part == "<![CDATA["
        elif not inside:
            part = _BARE.sub("&amp;", part)
        parts.append(part)
    return "".join(parts), inside

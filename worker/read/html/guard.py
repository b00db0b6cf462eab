"""Keeps hostile markup from making a tree builder quadratic.

The tree construction of the HTML Standard walks its stack of open elements, and compares each attribute with those
before it, also those of further ``html`` and ``body`` tags; lexbor looks through a whole ``select`` at each ``option``.
100,000 nested ``div``, 100,000 attributes or options take tens of seconds. Browsers stop nesting at some 500
elements; here a page beyond that loses the tags that only nest, never one that carries a link, metadata or hidden text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from gregor.worker.read.html.collector import names

SAFE_TAGS = 10_000
"""Fewer tags than this can't nest deep enough to matter (some 0.1 s)."""
MAX_ELEMENTS = 30_000
"""Nesting elements beyond which it is not asked how they close: only a tree builder would know for sure."""
MAX_DEPTH = 512
"""The nesting that browsers allow."""
SAFE_TAG_LENGTH = 4096
"""A tag shorter than this can't have attributes enough to matter (some 10 ms)."""
MAX_ATTRIBUTES = 512
"""Different attributes that one tag may have."""
SAFE_SIZE = 16_384
"""A shorter page has too few tags of any kind to matter (some 40 ms)."""
MAX_OPTIONS = 2000
"""Options of a page beyond which they become the mere text that they are (some 10 ms)."""
MAX_REPEATED = 16
"""``html`` and ``body`` tags, each, whose attributes count."""

_ATTRIBUTE = r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<(/?)([A-Za-z][^\s/>]*+)(?:{_ATTRIBUTE})*+[\s/]*+>?")
_COSTLY = re.compile(r"<([hHbBoO])(?:[tT][mM][lL]|[oO][dD][yY]|[pP][tT][iI][oO][nN])(?=[\s/>])")
"""Begins of html, body and option tags; a few others pass for them."""
_OPTION = re.compile(rf"<option(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>?", re.IGNORECASE)
_REPEATED = [re.compile(rf"<{name}(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>?", re.IGNORECASE) for name in ("html", "body")]
_KEPT = names(
    "a area audio base body embed form frame frameset head html iframe img input link math meta noembed noframes"
    " noscript object plaintext script source style svg template textarea title track video xmp"
)
_INLINE = names("abbr b bdi bdo big cite code em font i ins kbd mark q s small span strong sub sup tt u var")
_NOT_NESTING = names(
    "area base br col embed hr img input link meta source track wbr param frame p li dd dt option optgroup rb rp rt rtc"
    " tbody td tfoot th thead tr colgroup caption head body html"
)


def guard(html: str) -> str:
    """``html`` itself, or, if it would be expensive to parse, a tamer page with the same links."""
    if any(map(_may_be_long_tag, _long_stretches(html))):
        html = _TAG.sub(_shortened, html)
    if len(html) > SAFE_SIZE:
        html = _without_costly(html)
    if len(html) > 3 * SAFE_TAGS and html.count("<") > SAFE_TAGS and _too_deep(html):
        html = _TAG.sub(_flattened, html)
    return html


def _without_costly(html: str) -> str:
    """``html`` without the tags of which only the first ones matter, if there are many."""
    found = Counter(map(str.lower, _COSTLY.findall(html)))
    if found["o"] > MAX_OPTIONS:
        html = _OPTION.sub(" ", html)
    return _less_repeated(html) if found["h"] > MAX_REPEATED or found["b"] > MAX_REPEATED else html


def _less_repeated(html: str) -> str:
    """``html`` without those of its html and body tags that come after many."""
    for tags in _REPEATED:
        more = next(islice(tags.finditer(html), MAX_REPEATED, None), None)
        if more is not None:
            html = html[: more.start()] + tags.sub("", html[more.start() :])
    return html


def _long_stretches(html: str) -> Iterator[str]:
    """What stands between two ">" further apart than the bound. It takes a few looks only, from bound to bound."""
    at, size = 0, len(html)
    while size - at > SAFE_TAG_LENGTH:
        end = html.rfind(">", at, at + SAFE_TAG_LENGTH)
        if end < 0:
            end = html.find(">", at)
            end = size if end < 0 else end
            yield html[at:end]
        at = end + 1


def _may_be_long_tag(stretch: str) -> bool:
    return len(set(stretch.replace("/", " ").split())) > MAX_ATTRIBUTES


def _shortened(tag: re.Match[str]) -> str:
    """A tag without what follows its 512th different attribute."""
    if len(tag[0]) <= SAFE_TAG_LENGTH:
        return tag[0]
    seen: set[str] = set()
    for attribute in _ATTRIBUTES.finditer(tag[0], tag.end(2) - tag.start()):
        seen.add(attribute[1].lower())
        if len(seen) > MAX_ATTRIBUTES:
            # What looks like a tag may be script up to the next ">": its end tag must survive.
            end = tag[0].rfind("</")
            return tag[0][: attribute.start()] + (tag[0][end:] if end > attribute.start() else ">")
    return tag[0]


def _too_deep(html: str) -> bool:
    """Whether the open elements, as far as they close in the order they opened, exceed the bound, or are too many."""
    stack: list[str] = []
    for opened, (closing, name) in enumerate(_nesting_tags(html)):
        if not closing:
            stack.append(name)
        elif stack and stack[-1] == name:
            stack.pop()
        if len(stack) > MAX_DEPTH or opened > 2 * MAX_ELEMENTS:
            return True
    return False


def _nesting_tags(html: str) -> Iterator[tuple[bool, str]]:
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name not in _NOT_NESTING:
            yield bool(tag[1]), name


def _flattened(tag: re.Match[str]) -> str:
    name = tag[2].lower()
    if name in _KEPT:
        return tag[0]
    return "" if name in _INLINE else " "

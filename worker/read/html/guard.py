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
from sys import getsizeof

from gregor.worker.read.html.collector import names
from gregor.worker.read.native import Core

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
MAX_COMPARED = 50_000_000
"""Comparisons of attributes in a page (some 0.1 s)."""
MAX_OPTIONS = 2000
"""Options of a page beyond which they become the mere text that they are (some 10 ms)."""
MAX_REPEATED = 16
"""``html`` and ``body`` tags, each, whose attributes count."""
FEW_TAGS = 1000
"""Fewer tags than this can't have formatting elements enough to matter (half of them, opened anew by the others)."""
SAFE_PAGE = 128 * 1024
"""A shorter page can't have nodes, attributes and names enough to matter (some 20 MB)."""
MAX_NULLS = 100_000
"""Characters U+0000, each of which lexbor keeps as three bytes, several times."""
MAX_LENGTH = {1: 8 << 20, 2: 5 << 20, 4: 4 << 20}
"""Characters of a text that are read, by the bytes that each takes in memory: with one beyond the Latin alphabet it is
two, or four, for all of them."""
MAX_NODES = 400_000
"""Nodes and attributes of a tree (some 200 bytes each)."""
MAX_NAMES = 30_000
"""Different names of tags and attributes: lexbor's tables have few places, so that each is looked for among many."""

_ATTRIBUTE = r"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<(/?)([A-Za-z][^\s/>]*+)(?:{_ATTRIBUTE})*+[\s/]*+>?")
_COSTLY = re.compile(r"<([hHbBoO])(?:[tT][mM][lL]|[oO][dD][yY]|[pP][tT][iI][oO][nN])(?=[\s/>])")
"""Begins of html, body and option tags; a few others pass for them."""
_OPTION = re.compile(rf"<option(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>?", re.IGNORECASE)
_REPEATED = [re.compile(rf"<{name}(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>?", re.IGNORECASE) for name in ("html", "body")]
_BEFORE_NAMES = b" \n\t\r\f/'\"<"
"""What stands before the name of a tag or of an attribute; a quote does where it ends a value."""
_APART = bytes(1 if octet == 0x0B else 32 if octet in b"/>=\"'<" else octet for octet in range(256))
"""Leaves blanks between what may be names: of white space, HTML does not know one control that Python does."""
_INLINE_NAME = (
    "[bB](?:[iI][gG])?|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[iI]|[nN][oO][bB][rR]"
    "|[sS](?:[mM][aA][lL][lL]|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG]))?|[tT][tT]|[uU]"
)
_FORMATTING = re.compile(rf"<(?=[bceifnstuBCEIFNSTU])(?:{_INLINE_NAME})[\s/>]")
"""Their begins; most other tags are told by their first letter."""
_CLOSED = re.compile(
    rf"<({_INLINE_NAME}|[aA]|[sS][pP][aA][nN])(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>[^<]*+</\1>"
    rf"|<(?:[bB][rR]|[iI][mM][gG])(?=[\s/>])(?:{_ATTRIBUTE})*+[\s/]*+>"
)
_PART = 256 * 1024
"""Characters that are looked at at once."""
_ROUNDS = 4
"""How deep inline elements are looked for in each other."""
_GROWING = re.compile("&n[GL]t;")
_GROWN = {"&nGt;": "\u226b\u20d2", "&nLt;": "\u226a\u20d2"}
"""The references whose characters take more bytes than they do: lexbor 2.x makes no room for that, and a few thousand
of them overwrite memory that is not theirs."""
_KEPT = names(
    "a area audio base body embed form frame frameset head html iframe img input link math meta noembed noframes"
    " noscript object plaintext script source style svg template textarea title track video xmp"
)
_INLINE = names("abbr b bdi bdo big cite code em font i ins kbd mark q s small span strong sub sup tt u var")
_NOT_NESTING = names(
    "area base br col embed hr img input link meta source track wbr param frame p li dd dt option optgroup rb rp rt rtc"
    " tbody td tfoot th thead tr colgroup caption head body html"
)


def limited(text: str) -> tuple[str, str]:
    """The beginning of a text that is not longer than it may be, and ``size`` if that is not all of it."""
    if len(text) <= MAX_LENGTH[4]:
        return text, ""
    longest = MAX_LENGTH[round(getsizeof(text) / len(text))]
    return (text, "") if len(text) <= longest else (text[:longest], "size")


def guard(html: str, core: Core | None = None) -> str | None:
    """``html`` itself, or a tamer page with the same links if it would be expensive to parse, or None if nothing makes
    it cheap: then it is read without a tree. ``core`` answers natively what it can."""
    tags = html.count("<")
    if too_costly(html, tags, core) or (tags > FEW_TAGS and _may_multiply(html, tags, core)):
        return None
    if "&" in html and _GROWING.search(html):
        for reference, characters in _GROWN.items():  # a million of them would cost a second one by one
            html = html.replace(reference, characters)
    if any(_words(stretch) > MAX_ATTRIBUTES for stretch in _long_stretches(html)):
        if core is None or core.longest_tag(html) > SAFE_TAG_LENGTH:
            html = _TAG.sub(_shortened, html)
        if sum(_words(stretch) ** 2 for stretch in _long_stretches(html)) > MAX_COMPARED and _may_hide_tags(html):
            return None
    if len(html) > SAFE_SIZE:
        html = _without_costly(html)
    if len(html) > 3 * SAFE_TAGS and tags > SAFE_TAGS and _too_deep(html, core):
        html = _TAG.sub(_flattened, html)
    return html


def too_costly(html: str, tags: int, core: Core | None = None) -> bool:
    """Whether a tree of the page might have more than `MAX_NODES` nodes or attributes; ``tags`` is how often "<" is in
    it. What can't be bounded by counting is taken for the worst that it may be."""
    if len(html) <= SAFE_PAGE:
        return False
    if core is not None:
        return core.is_too_costly(html, tags, MAX_NULLS, MAX_NODES, MAX_NAMES)
    if html.count("\0") > MAX_NULLS:
        return True
    started = _opened(html)
    # An element with its text for each start tag, twice that where tables imply others; an end tag splits a text.
    nodes = 2 * started + (tags - started)
    return nodes > MAX_NODES or _has_many_attributes(html, MAX_NODES - nodes)


def _has_many_attributes(html: str, room: int) -> bool:
    """Whether there might be more attributes than there is room for, or more names than `MAX_NAMES`, whatever of the
    text is in tags: each attribute follows a blank, a slash or a quoted value."""
    separators = sum(len(part) - len(part.translate(None, _BEFORE_NAMES)) for part in _parts(html))
    if separators <= min(room, MAX_NAMES):
        return False
    if separators <= room and sum(len(part.translate(_APART).split()) for part in _parts(html)) <= MAX_NAMES:
        return False
    names = set[bytes]()
    for part in _parts(html):
        room -= len(part.split()) + part.count(b"/") + (part.count(b'"') + part.count(b"'")) // 2
        names.update(part.translate(_APART).split())
        if room < 0 or len(names) > MAX_NAMES:
            return True
    return False


def _parts(html: str) -> Iterator[bytes]:
    return (html[start : start + _PART].encode("utf-8", "surrogatepass") for start in range(0, len(html), _PART))


def _opened(html: str) -> int:
    """How many tags open an element; the end tags of ``p`` and ``br`` do, too."""
    return html.count("<") - html.count("</") + sum(map(html.count, ("</p", "</P", "</b", "</B")))


def _may_multiply(html: str, tags: int, core: Core | None) -> bool:
    """Whether formatting elements that are left open could be opened anew by very many others (HTML Standard,
    "reconstruct the active formatting elements"), which need an element around them that is closed. Those that close
    with nothing left open in them do not stay open, and close no others."""
    if core is not None and core.formatting_elements(html) * tags <= MAX_NODES:
        return False
    for _ in range(_ROUNDS):
        if len(_FORMATTING.findall(html)) * tags <= MAX_NODES:
            return False
        html = _CLOSED.sub("", html)
        tags = _opened(html)
    return len(_FORMATTING.findall(html)) * tags > MAX_NODES


def _may_hide_tags(html: str) -> bool:
    """Whether a tag has a further "<" in it. Where the one is script, the other may be the tag, and what looks like
    text behind it its attributes."""
    return any("<" in tag[0][1:] for tag in _TAG.finditer(html))


def _without_costly(html: str) -> str:
    """``html`` without the tags of which only the first ones matter, if there are many."""
    counts = Counter(map(str.lower, _COSTLY.findall(html)))
    if counts["o"] > MAX_OPTIONS:
        html = _OPTION.sub(" ", html)
    return _less_repeated(html) if counts["h"] > MAX_REPEATED or counts["b"] > MAX_REPEATED else html


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


def _words(stretch: str) -> int:
    """How many different attributes there are in it at most, if it is in a tag."""
    return len(set(stretch.replace("/", " ").split()))


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


def _too_deep(html: str, core: Core | None) -> bool:
    """Whether the open elements, as far as they close in the order they opened, exceed the bound, or are too many."""
    if core is not None and (deep := core.is_too_deep(html, MAX_DEPTH, 2 * MAX_ELEMENTS)) is not None:
        return deep
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

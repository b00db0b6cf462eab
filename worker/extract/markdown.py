"""A page as Markdown (CommonMark, tables as GitHub has them), for people who read and for language models. Pure.

What is shown as content is kept: headings, paragraphs, lists, quotations, code, tables, links, names of pictures.
Scripts, styles, forms and navigation (``nav``) are left out.
"""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from gregor.worker.extract.model import RuleFailed
from gregor.worker.extract.page import Parsed
from gregor.worker.web.urls import Urls

_LEFT_OUT: Final = frozenset(
    {
        *("script", "style", "template", "noscript", "head", "nav", "svg", "math", "iframe", "object", "canvas"),
        *("form", "button", "select", "input", "textarea", "dialog", "audio", "video"),
    }
)
_BLOCKS: Final = frozenset(
    {
        *("p", "div", "section", "article", "main", "header", "footer", "aside", "figure", "figcaption", "address"),
        *("details", "summary", "dl", "dt", "dd", "fieldset", "body", "table", "caption", "hgroup", "center"),
    }
)
_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<~]|&(?=#?[A-Za-z0-9]+;)")
"""What has a meaning anywhere in a line."""
_HERE: Final = "\x00"
"""Before a character that may have a meaning where it stands, which is known with the line; no page has it in text."""
_MAYBE: Final = re.compile(r"[-#+>=.)!]")
_MEANT: Final = re.compile(
    r"^((?:[ >]|- |\d{1,9}\. )*)"  # within lists and quotations
    r"(\d{1,9}(?=\x00[.)](?:\s|$))|[|:][|: ]*(?=(?:\x00-[ |:]*)+$)"
    r"|(?=(?:\x00#){1,6}(?:\s|$)|\x00[-+](?:\s|$)|\x00>|(?:\x00-[ |:]*)+$|(?:\x00=)+ *$))\x00"
    r"|\x00(?=!\[)",
    re.MULTILINE,
)
"""Where it has one: of a heading, list, quotation, rule, underline or table; or it would make a picture of a link."""
_BREAK: Final = "\x01"
"""The end of a line that is broken there, before the newline."""
_BROKEN: Final = re.compile(r"(?:(?<=[^\s>])|(?<=\x00>))\x01(?=\n[ >]*[^\s>\x01])")
"""Such a one between lines that say something: a backslash elsewhere would be one."""
_START: Final = re.compile(r"\s*\+?(\d{1,8})\s*")
"""The first number of a list, as CommonMark can say it."""
_CLOSING: Final = re.compile(r"(?<!\S)(?=(?:\x00#)+$)")
"""Where what ends a heading would be taken for its end mark."""
_SPACES: Final = re.compile(r"[ \t\r\n\f]+")
_LINES: Final = re.compile(r"\n{3,}")
_TICKS: Final = re.compile(r"`+")
_URLS: Final = Urls()
MOST: Final = 4 << 20
"""Characters that are made of a page at most."""
DEEPEST: Final = 200
"""Elements within elements that are looked into; the text of what is deeper is taken as it is."""

Resolve = Callable[[str], str | None]
"""Where a reference of the page leads; None for one that leads nowhere."""


def markdown(root: LexborNode, resolve: Resolve) -> str:
    """What a tree says."""
    text = _Writer(resolve).children(root, 0)
    text = _BROKEN.sub(r"\\", re.sub(" +\x01", _BREAK, text)).replace(_BREAK, "")
    text = _LINES.sub("\n\n", "\n".join(map(str.rstrip, text.strip("\n").split("\n"))))
    return _MEANT.sub(lambda match: f"{match[1] or ''}{match[2] or ''}\\", text).replace(_HERE, "")[:MOST]


class _Writer:
    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._room = MOST

    def children(self, node: LexborNode, depth: int) -> str:
        """What is in a node."""
        parts: list[str] = []
        child = node.first_child
        while child is not None and self._room > 0:
            part = self._node(child, depth + 1)
            if part.startswith(" ") and (not parts or parts[-1].endswith(("\n", " "))):
                part = part.lstrip(" ")
            parts.append(part)
            child = child.next
        return "".join(parts)

    def _node(self, node: LexborNode, depth: int) -> str:
        tag = node.tag or ""
        if tag == "-text":
            return self._text(node.text_content or "")
        if tag in _LEFT_OUT or tag.startswith(("-", "!")):
            return ""
        if depth > DEEPEST:
            return self._text(node.text() or "")
        match tag:
            case "br":
                return f"{_BREAK}\n"
            case "hr":
                return "\n\n---\n\n"
            case "img":
                return self._image(node)
            case "pre":
                return _fenced(node.text() or "")
            case "code" | "kbd" | "samp" | "tt":
                return _code(node.text() or "")
            case "ul" | "ol":
                return f"\n\n{self._list(node, depth)}\n\n"
            case "tr":
                return ""
            case "table":
                return f"\n\n{self._table(node, depth)}\n\n"
        inner = self.children(node, depth)
        if tag in _HEADINGS:
            words = _CLOSING.sub(r"\\", _in_line(inner))
            return f"\n\n{_HEADINGS[tag]} {words}\n\n" if words else ""
        if tag == "blockquote":
            return "\n\n" + "\n".join(f"> {line}".rstrip() for line in _tidy(inner).split("\n")) + "\n\n"
        if tag == "a":
            return self._link(node, inner)
        if tag in _MARKS and _within(inner) and "\n" not in _within(inner):
            return _marked(inner, _MARKS[tag])
        return f"\n\n{inner.strip(' ')}\n\n" if tag in _BLOCKS else inner

    def _text(self, text: str) -> str:
        self._room -= len(text)
        words = _SPECIAL.sub(r"\\\g<0>", _SPACES.sub(" ", text))
        return _MAYBE.sub(rf"{_HERE}\g<0>", words)

    def _link(self, node: LexborNode, inner: str) -> str:
        target = self._resolve(node.attributes.get("href") or "")
        words = _in_line(inner)
        if not target or not words or "\n\n" in inner.strip():
            return inner
        return _marked(inner, "[", f"]({_address(target)})")

    def _image(self, node: LexborNode) -> str:
        words = _SPACES.sub(" ", node.attributes.get("alt") or "").strip()
        target = self._resolve(node.attributes.get("src") or "")
        return f"![{self._text(words)}]({_address(target)})" if words and target else ""

    def _list(self, node: LexborNode, depth: int) -> str:
        first = _START.fullmatch(node.attributes.get("start") or "")
        number, lines = int(first[1]) if first else 1, []
        child = node.first_child
        while child is not None and self._room > 0:
            if child.tag == "li":
                mark = f"{number}. " if node.tag == "ol" else "- "
                number += 1
                inner = _tidy(self.children(child, depth + 1)).replace("\n\n- ", "\n- ")
                lines.append(mark + inner.replace("\n", "\n" + " " * len(mark)))
            elif child.tag in ("ul", "ol"):  # as many write it, though it belongs into an item
                lines.append("  " + self._list(child, depth + 1).replace("\n", "\n  "))
            child = child.next
        return "\n".join(lines)

    def _table(self, node: LexborNode, depth: int) -> str:
        rows: list[list[str]] = []
        for row in _rows(node):
            cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
            rows.append([_in_line(self.children(cell, depth + 3)).replace("|", "\\|") for cell in cells])
        rows = [row for row in rows if any(row)]
        if not rows:
            return ""
        width = max(map(len, rows))
        if width == 1:  # it only lays a page out
            return "\n\n".join(row[0] for row in rows)
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _rows(table: LexborNode) -> list[LexborNode]:
    """Its own rows, not those of tables within it."""
    rows: list[LexborNode] = []
    for child in table.iter():
        rows += [child] if child.tag == "tr" else [row for row in child.iter() if row.tag == "tr"]
    return rows


def _tidy(text: str) -> str:
    return _LINES.sub("\n\n", text).strip()


def _in_line(text: str) -> str:
    """In one line."""
    return _SPACES.sub(" ", text.replace(_BREAK, " ")).strip()


def _within(inner: str) -> str:
    """Without the blanks and broken lines around it."""
    blank = inner.replace(_BREAK, " ")
    return inner[len(blank) - len(blank.lstrip()) : len(blank.rstrip())]


def _marked(inner: str, before: str, after: str = "") -> str:
    """Between marks, with its outer blanks outside of them."""
    words = _within(inner)
    start, _, end = inner.partition(words)
    return f"{start}{before}{words}{after or before}{end}"


def _address(target: str) -> str:
    return f"<{target}>" if set(target) & set("() ") else target


def _longest(text: str, least: int) -> str:
    return "`" * max([least, *(len(ticks) + 1 for ticks in _TICKS.findall(text))])


def _code(text: str) -> str:
    words = _SPACES.sub(" ", text)
    if not words.strip():
        return words
    ticks = _longest(words, 1)
    return f"{ticks} {words} {ticks}" if words[0] == "`" or words[-1] == "`" else f"{ticks}{words}{ticks}"


def _fenced(text: str) -> str:
    ticks = _longest(text, 3)
    return f"\n\n{ticks}\n{text.strip(chr(10))}\n{ticks}\n\n"


def of_page(page: Parsed) -> str | None:
    """A page as Markdown; None for a document that is no page, or has too much markup for a tree."""
    try:
        root = page.node
    except RuleFailed:
        return None
    if root is None:
        return None
    return markdown(root, lambda reference: _absolute(reference, page.base))


def _absolute(reference: str, base: str) -> str | None:
    url = _URLS.resolve(reference.strip(), base) if reference.strip() else None
    return None if url is None else url.href

"""XHTML sent as XML, and what else lxml's XML parser is asked to read: no entities, no network, no huge trees."""

import re
from collections.abc import Mapping
from html.entities import name2codepoint
from itertools import islice
from typing import cast

from lxml import etree

from gregor.worker.read.document import Extract
from gregor.worker.read.html import linear
from gregor.worker.read.html.collector import BLOCKS, HANDLERS, HIDDEN, MAX_LINKS, Collector
from gregor.worker.read.html.shown import of_xml

NAMESPACE = "http://www.w3.org/1999/xhtml"
MOST_DECLARED = 256
"""Entities, elements and the like that a document may declare and still be read as XML: each is looked for among all of
them."""
_DECLARED = re.compile("<!(?:ENTITY|ELEMENT|NOTATION)")
_DEFAULTS = re.compile(r"<!ATTLIST|<!ENTITY\s+%")
"""Declares attributes that each of very many elements would have, or may hide such a declaration."""
SAFE_PAGE = 128 * 1024
"""A shorter document can't have nodes enough to matter."""
MAX_NODES = 300_000
"""Nodes, attributes and references of a tree (some 300 bytes each, with their texts)."""
MOST_BELOW = 1000
"""Elements below one whose texts are its text: those that nest share theirs."""
_OF_DTD = {name: chr(code) for name, code in name2codepoint.items() if code > 0x7F}
"""The entities of XHTML's DTDs beyond XML's own."""
_REFERENCE = re.compile("&([A-Za-z][A-Za-z0-9]*+);")


def parse(text: str) -> etree._Element | None:
    """The root of a well-formed document; None for any other, for one that declares very much, and for one whose tree
    would be huge. Entities beyond XML's five are left out."""
    if too_costly(text) or ("<!DOCTYPE" in text and declares_much(text)):
        return None
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def too_costly(text: str) -> bool:
    """Whether the tree of a document might have more than `MAX_NODES` nodes and attributes."""
    if len(text) <= SAFE_PAGE:
        return False
    return text.count("<") + text.count("=") + text.count("&") > MAX_NODES


def declares_much(text: str) -> bool:
    """Whether a document has a DTD of its own that may cost very much."""
    return (
        bool(_DEFAULTS.search(text))
        or sum(1 for _ in islice(_DECLARED.finditer(text), MOST_DECLARED + 1)) > MOST_DECLARED
    )


def parse_page(text: str) -> etree._Element | None:
    """As `parse`, for what may be a page: as in browsers, a DTD that it names is not read, but its entities are
    known."""
    if too_costly(text):  # each reference would be looked up first
        return None
    return parse(_REFERENCE.sub(_resolved, text) if "<!DOCTYPE" in text else text)


def extract(text: str, encoding: str = "utf-8", max_links: int = MAX_LINKS, *, shown: bool = False) -> Extract | None:
    """What an XHTML page says; None if it is not well-formed or no XHTML. ``shown``: also what its styles and drawings
    refer to."""
    root = parse_page(text)
    return read(root, text, encoding, max_links, shown) if root is not None and is_page(root) else None


def read(root: etree._Element, text: str, encoding: str, max_links: int, shown: bool = False) -> Extract:
    """What a page says; ``text`` is what its tree was made of, ``shown`` as above."""
    page = Collector(text, encoding, max_links, linear.embed)
    _walk(page, root)
    if shown:
        of_xml(page, root)
    return page.finished()


def is_page(root: etree._Element) -> bool:
    """Whether a document is a page: XHTML, or without any namespace but with HTML's root."""
    return root.tag in {f"{{{NAMESPACE}}}html", "html"}


def _walk(page: Collector, root: etree._Element) -> None:
    hidden = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        name = _name(element)
        if event == "start":
            if name in BLOCKS:
                page.parts.append(" ")
            hidden += name in HIDDEN
            if name in HANDLERS:
                HANDLERS[name](page, _Element(element))
            if element.text and not hidden and isinstance(element.tag, str):
                page.parts.append(element.text)
        else:
            hidden -= event == "end" and name in HIDDEN
            if name in BLOCKS:
                page.parts.append(" ")
            if element.tail and not hidden:
                page.parts.append(element.tail)


def _resolved(reference: re.Match[str]) -> str:
    return _OF_DTD.get(reference[1], reference[0])


def _name(element: etree._Element) -> str | None:
    """The local name of an XHTML element; None for anything else."""
    tag = element.tag
    if not isinstance(tag, str):
        return None
    namespace, brace, local = tag.rpartition("}")
    return local if not brace or namespace == "{" + NAMESPACE else None


class _Element:
    """An lxml element as :class:`gregor.worker.read.html.collector.Element`."""

    def __init__(self, element: etree._Element) -> None:
        self._element = element
        self.tag = _name(element)

    @property
    def attributes(self) -> Mapping[str, str | None]:
        return cast(Mapping[str, str | None], self._element.attrib)  # listed, they would cost their number's square

    @property
    def parent(self) -> "_Element | None":
        parent = self._element.getparent()
        return None if parent is None else _Element(parent)

    def text(self) -> str:
        pieces = [self._element.text or ""]
        walk = etree.iterwalk(self._element, events=("start", "end", "comment", "pi"))
        for event, element in islice(walk, 1, 2 * MOST_BELOW):
            if event != "start":
                pieces.append(element.tail or "" if element is not self._element else "")
            elif isinstance(element.tag, str):  # entities and the like have no text
                pieces.append(element.text or "")
        return "".join(pieces)

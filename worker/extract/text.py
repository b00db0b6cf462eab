"""What an element says, whatever tree it is of: its visible text, markup, reference, moment."""

from collections.abc import Iterator
from typing import Final

from lxml import etree
from selectolax.lexbor import LexborNode

from gregor.worker.read.html.collector import BLOCKS, HIDDEN
from gregor.worker.read.white_space import collapse

_MAX_CLIMB: Final = 16
_REFERENCES: Final = {
    **dict.fromkeys(("a", "area", "link", "base"), "href"),
    **dict.fromkeys(("img", "audio", "embed", "iframe", "source", "track", "video", "script", "input"), "src"),
    "object": "data",
    "form": "action",
    "blockquote": "cite",
    "q": "cite",
    "meta": "content",
}
"""The attribute that holds an element's URL."""
_VALUES: Final = {"meta": "content", "data": "value", "meter": "value", "time": "datetime", "input": "value"}
"""The attribute that holds, for programs, what an element says."""
Node = LexborNode | etree._Element


def raw(node: Node) -> str:
    """All text of an element, as it stands there."""
    if isinstance(node, LexborNode):
        return node.text_content or "" if node.tag == "-text" else node.text(deep=True)
    return "".join(map(str, node.itertext(with_tail=False)))


def words(node: Node, *, single: bool = True) -> str:
    """The visible text of an element: blocks are apart, scripts and the like within it are left out; with ``single``
    white space is made single."""
    if isinstance(node, LexborNode):
        only = node.first_child
        if only is None or (only.tag == "-text" and only.next is None):
            text = only.text_content or "" if only is not None else ""
        else:
            text = "".join(_of_node(node))
    else:
        text = "".join(_of_element(node))
    return collapse(text) if single else text


def _of_node(top: LexborNode) -> Iterator[str]:
    last = 0
    for node in top.traverse(include_text=True):
        if node.tag != "-text":
            if node.tag in BLOCKS:
                yield " "
            continue
        parent = node.parent
        if parent is not None and parent.tag in HIDDEN and parent.mem_id != top.mem_id:
            continue
        block = _block(node)
        yield f" {node.text_content or ''}" if last and block != last else node.text_content or ""
        last = block


def _block(node: LexborNode) -> int:
    """The identity of the block that a text belongs to, or of where the search for it was given up."""
    parent = node.parent
    for _ in range(_MAX_CLIMB):
        if parent is None or parent.tag in BLOCKS:
            break
        parent = parent.parent
    return parent.mem_id if parent is not None else 0


def _of_element(top: etree._Element) -> Iterator[str]:
    hidden = 0
    unseen = HIDDEN if top.getroottree().getroot().tag == "html" else frozenset[str]()
    for event, element in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        if event == "start":
            hidden += element.tag in unseen and element is not top
            if element.tag in BLOCKS:
                yield " "
            if not hidden and isinstance(element.tag, str):
                yield element.text or ""
            continue
        hidden -= event == "end" and element.tag in unseen and element is not top
        if element.tag in BLOCKS:
            yield " "
        if not hidden and element is not top:
            yield element.tail or ""


def direct(node: Node, *, below: bool) -> Iterator[str]:
    """The pieces of text of an element, or with ``below`` of all within it, too."""
    if isinstance(node, LexborNode):
        pieces = node.traverse(include_text=True) if below else node.iter(include_text=True)
        yield from (piece.text_content or "" for piece in pieces if piece.tag == "-text")


def markup(node: Node) -> str:
    """An element as HTML, itself included."""
    if isinstance(node, LexborNode):
        return node.html or ""
    return etree.tostring(node, encoding="unicode", method="html", with_tail=False)


def attribute(node: Node, name: str) -> str | None:
    """The value of an attribute, "" for one without; None if there is none."""
    if isinstance(node, LexborNode):
        attributes = node.attributes
        return (attributes[name] or "") if name in attributes else None
    value = node.get(name)
    return None if value is None else str(value)


def reference(node: Node) -> str:
    """The URL that an element holds, not resolved; its text if it holds none."""
    return attribute(node, _REFERENCES.get(str(node.tag), "href")) or words(node)


def value(node: Node) -> str:
    """What an element says to programs, such as a ``time`` by its ``datetime``; its text if nothing."""
    name = _VALUES.get(str(node.tag))
    return (attribute(node, name) if name else None) or attribute(node, "content") or words(node)

"""What an element says, whatever tree it is of: its visible text, markup, reference, moment."""

from collections.abc import Iterator
from typing import Final

from lxml import etree
from selectolax.lexbor import LexborNode

from gregor.worker.extract.work import Work, unbounded
from gregor.worker.read.html.collector import BLOCKS, HIDDEN
from gregor.worker.read.native import Core
from gregor.worker.read.white_space import collapse

_MAX_CLIMB: Final = 16
_SEEN: Final = 0.5
"""The step that a node costs which has no text of its own."""
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
_LINKS: Final = frozenset({"a", "area", "form"})
"""Elements that lead to their page where their URL is empty."""
_VALUES: Final = {"meta": "content", "data": "value", "meter": "value", "time": "datetime", "input": "value"}
"""The attribute that holds, for programs, what an element says."""
TreeNode = LexborNode | etree._Element


def raw(node: TreeNode) -> str:
    """All text of an element, as it stands there."""
    if isinstance(node, LexborNode):
        return node.text_content or "" if node.tag == "-text" else node.text(deep=True)
    return "".join(map(str, node.itertext(with_tail=False)))


def words(node: TreeNode, work: Work | None = None, *, single: bool = True) -> str:
    """The visible text of an element: blocks are apart, scripts and the like within it are left out; with ``single``
    white space is made single. ``work`` pays for it; None: nobody does. Raises `Spent`."""
    work = work or unbounded()
    if isinstance(node, LexborNode):
        only = node.first_child
        if only is None or (only.tag == "-text" and only.next is None):
            text = only.text_content or "" if only is not None else ""
            work.walk(len(text))
        elif work.core is not None:
            return _natively(node, work, work.core, single)
        else:
            text = "".join(_of_node(node, work))
    elif isinstance(node.tag, str):
        text = "".join(_of_element(node, work))
    else:
        text = node.text or ""  # a comment or an instruction, which XPath can choose
    return collapse(text) if single else text


def _natively(top: LexborNode, work: Work, core: Core, single: bool) -> str:
    """The same as by `_of_node`."""
    text, nodes, texts, characters = core.words_of(top.mem_id, single)
    work.steps(_SEEN * nodes)
    work.take_all(texts, characters)
    return text


def _of_node(top: LexborNode, work: Work) -> Iterator[str]:
    last = 0
    for node in top.traverse(include_text=True):
        if node.tag != "-text":
            work.steps(_SEEN)
            if node.tag in BLOCKS:
                yield " "
            continue
        text = node.text_content or ""
        work.take(len(text))
        parent = node.parent
        if parent is not None and parent.tag in HIDDEN and parent.mem_id != top.mem_id:
            continue
        block = _block(node)
        yield f" {text}" if last and block != last else text
        last = block


def _block(node: LexborNode) -> int:
    """The identity of the block that a text belongs to, or of where the search for it was given up."""
    parent = node.parent
    for _ in range(_MAX_CLIMB):
        if parent is None or parent.tag in BLOCKS:
            break
        parent = parent.parent
    return parent.mem_id if parent is not None else 0


def _of_element(top: etree._Element, work: Work) -> Iterator[str]:
    hidden = 0
    unseen = HIDDEN if top.getroottree().getroot().tag == "html" else frozenset[str]()
    for event, element in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        work.steps(_SEEN)
        if event == "start":
            hidden += element.tag in unseen and element is not top
            if element.tag in BLOCKS:
                yield " "
            if not hidden and isinstance(element.tag, str):
                work.take(len(element.text or ""))
                yield element.text or ""
            continue
        hidden -= event == "end" and element.tag in unseen and element is not top
        if element.tag in BLOCKS:
            yield " "
        if not hidden and element is not top:
            work.take(len(element.tail or ""))
            yield element.tail or ""


def direct(node: LexborNode, work: Work, *, below: bool) -> Iterator[str]:
    """The pieces of text of an element, or with ``below`` of all within it, too. Raises `Spent`."""
    for piece in node.traverse(include_text=True) if below else node.iter(include_text=True):
        work.steps(_SEEN)
        if piece.tag == "-text":
            text = piece.text_content or ""
            work.take(len(text))
            yield text


def markup(node: TreeNode) -> str:
    """An element as HTML, itself included."""
    if isinstance(node, LexborNode):
        return node.html or ""
    return etree.tostring(node, encoding="unicode", method="html", with_tail=False)


def attribute(node: TreeNode, name: str) -> str | None:
    """The value of an attribute, "" for one without; None if there is none."""
    if isinstance(node, LexborNode):
        attributes = node.attributes
        return (attributes[name] or "") if name in attributes else None
    value = node.get(name)
    return None if value is None else str(value)


def reference(node: TreeNode, work: Work) -> str:
    """The URL that an element holds, not resolved; its text where it has no attribute for one. Raises `Spent`."""
    held = attribute(node, _REFERENCES.get(str(node.tag), "href"))
    return words(node, work) if held is None else held


def means_its_page(node: TreeNode) -> bool:
    """Whether an element is a link, or a form, whose URL is empty: that is the one of its page."""
    held = attribute(node, _REFERENCES[str(node.tag)]) if node.tag in _LINKS else None
    return held is not None and not held.strip()


def value(node: TreeNode, work: Work) -> str:
    """What an element says to programs, such as a ``time`` by its ``datetime``; its text if nothing. Raises `Spent`."""
    name = _VALUES.get(str(node.tag))
    return (attribute(node, name) if name else None) or attribute(node, "content") or words(node, work)

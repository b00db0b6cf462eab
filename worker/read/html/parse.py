"""HTML: one parse for title, text, links and what the page says about itself.

The tree is lexbor's, so it is the one a browser builds with scripting off: the content of ``noscript`` counts, that of
comments, scripts and templates does not, unless these are shadow roots. The tree is walked once, in document order.
"""

from functools import partial
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gregor.worker.read.document import Document, Extract
from gregor.worker.read.html import linear, shadow
from gregor.worker.read.html.collector import ANCHOR_SHARE, BLOCKS, HANDLERS, HIDDEN, MAX_LINKS, Collector
from gregor.worker.read.html.guard import SAFE_PAGE, guard
from gregor.worker.read.html.natively import SHADOW, NativeAttempt
from gregor.worker.read.html.shown import of_tree

_MAX_CLIMB = 16
"""Inline elements between a text and its block that are looked through."""
_INLINE, _BLOCK, _HIDDEN = range(3)

_maker = LexborHTMLParser("")
_TEXT: Final = 2
"""lexbor's tag id of text nodes (LXB_TAG__TEXT)."""
_ACTIONS: Final = {
    _maker.create_node(name).tag_id: (
        _BLOCK if name in BLOCKS else _HIDDEN if name in HIDDEN else _INLINE,
        HANDLERS.get(name),
    )
    for name in {*BLOCKS, *HIDDEN, *HANDLERS}
}
"""Tag id → what its text is, what is done at its start. Elements that are not in it matter to nobody."""
_TEMPLATE: Final = _maker.create_node("template").tag_id
_BLOCK_IDS: Final = frozenset(tag for tag, (kind, _) in _ACTIONS.items() if kind == _BLOCK)
_MERE_BLOCKS: Final = frozenset(tag for tag in _BLOCK_IDS if _ACTIONS[tag][1] is None)
"""At whose start nothing else is done: most elements of most pages."""


def extract(
    html: str,
    encoding: str = "utf-8",
    max_links: int = MAX_LINKS,
    *,
    shown: bool = False,
    kept_in: Document | None = None,
    attempt: NativeAttempt | None = None,
) -> Extract:
    """What a page says. Never raises, whatever the text, which is one that `guard.limited` gives;
    ``encoding`` is passed on. ``shown``: also what its styles and drawings refer to, unless it is so large that it is
    read without a tree. ``kept_in``: the document that the tree is left with, and what reads it natively. ``attempt``
    reads natively, where nothing of what is shown is asked for."""
    tree = partial(_by_tree, encoding=encoding, max_links=max_links, shown=shown, kept_in=kept_in, attempt=attempt)
    if len(html) <= SAFE_PAGE and (said := tree(html, closed=True)):
        return said
    page, complete = shadow.opened(html)
    said = tree(page) or without_tree(page, encoding, max_links)
    said.cut = said.cut or ("" if complete else "tags")
    return said


def _by_tree(
    html: str,
    *,
    encoding: str,
    max_links: int,
    shown: bool,
    kept_in: Document | None,
    attempt: NativeAttempt | None,
    closed: bool = False,
) -> Extract | None:
    """What the tree of a page says; None if there is none, or if it has a shadow root that is ``closed`` still: few
    have one, and the tree of a short page tells it sooner than a search in its text."""
    if (tame := guard(html, None if attempt is None else attempt.core)) is None:
        return None
    root = LexborHTMLParser(tame).root if kept_in is not None else None
    if attempt is not None:
        said = attempt.read(tame, ANCHOR_SHARE * len(html), encoding, max_links, closed, root)
        if isinstance(said, Extract):
            _keep(kept_in, root, attempt)
            return said
        if said == SHADOW:
            return None
    page = Collector(html, encoding, max_links, linear.embed)
    root = root or LexborHTMLParser(tame).root
    if root is not None:
        if not _walk(page, root, closed):
            return None
        if shown:
            of_tree(page, root)
    _keep(kept_in, root, attempt)
    return page.finished()


def _keep(kept_in: Document | None, root: LexborNode | None, attempt: NativeAttempt | None) -> None:
    """Leave the tree that a page was read from with its document, if that is to keep it."""
    if kept_in is not None:
        kept_in.tree, kept_in.core = root, None if attempt is None else attempt.core


def without_tree(text: str, encoding: str = "utf-8", max_links: int = MAX_LINKS) -> Extract:
    """What any markup says, read token by token."""
    return linear.extract(text, encoding, max_links)


def _walk(page: Collector, root: LexborNode, closed: bool) -> bool:
    """One pass in document order; blocks are told apart by a space, as they start, and where one has ended. False if it
    met a shadow root that is ``closed``, and ended there."""
    parts = page.parts
    append, actions, mere_blocks = parts.append, _ACTIONS, _MERE_BLOCKS
    hidden = False
    last: LexborNode | None = None
    for node in root.traverse(include_text=True):
        tag = node.tag_id
        if tag == _TEXT:
            if hidden:
                hidden = False
                continue
            text = node.text_content or " "
            if last is not None and text[0] > " " and parts[-1][-1] > " " and _block(last) != _block(node):
                append(" ")
            append(text)
            last = node
        elif tag in mere_blocks:
            append(" ")
            last = None
        elif tag in actions:
            kind, handler = actions[tag]
            if kind == _BLOCK:
                append(" ")
                last = None
            elif kind == _HIDDEN:
                hidden = node.first_child is not None
                if closed and tag == _TEMPLATE and shadow.ATTRIBUTE in node.attributes:
                    return False
            if handler is not None:
                handler(page, node)
    return True


def _block(node: LexborNode) -> int:
    """The identity of the block that a text belongs to, or of where the search for it was given up."""
    parent = node.parent
    for _ in range(_MAX_CLIMB):
        if parent is None or parent.tag_id in _BLOCK_IDS:
            break
        parent = parent.parent
    return parent.mem_id if parent is not None else 0

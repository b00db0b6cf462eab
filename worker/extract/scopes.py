"""Where the fields of an item are looked for: a page, an element of it, or a value of JSON."""

from dataclasses import dataclass, field
from typing import Any, Final, cast

from lxml import etree
from selectolax.lexbor import LexborNode

from gregor.worker.extract.model import RuleFailed
from gregor.worker.extract.page import LxmlElement, Parsed, element_of
from gregor.worker.extract.text import TreeNode, markup, words

_NODES: Final = etree.XPath("count(descendant-or-self::node())")


@dataclass(slots=True)
class PagePart:
    """A page, or a part of it: ``part`` is an element, or a value of JSON that ``holds_json``; None: the whole page."""

    page: Parsed
    part: Any = None
    holds_json: bool = False
    _element: LxmlElement | None = field(default=None, init=False)
    _size: int = field(default=0, init=False)
    """Of a part the characters of its markup, or in a tree of XPath its nodes; 0: not counted."""

    def within(self, part: object) -> "PagePart":
        """The part of the page that a source gave."""
        return PagePart(self.page, part, not isinstance(part, TreeNode))

    @property
    def node(self) -> LexborNode | None:
        """What CSS looks in; None where there is no page."""
        if self.part is None:
            return self.page.node
        return self.part if isinstance(self.part, LexborNode) else None

    @property
    def element(self) -> LxmlElement | None:
        """What XPath looks in: of a part that CSS chose, its own markup; None where there is no tree."""
        if self.part is None:
            return self.page.element
        if isinstance(self.part, LxmlElement):
            return self.part
        if self._element is None and isinstance(self.part, LexborNode):
            self._element = element_of(self.part, self.page.work)
        return self._element

    def pay(self) -> None:
        """The page pays for one look through all of this part; the whole page is free. Raises `Spent`."""
        if self.part is None or self.holds_json:
            return
        work = self.page.work
        work.steps(0)
        if isinstance(self.part, LexborNode):
            if not self._size:
                self._size = len(self.part.html or "")
                work.count(self._size)
            work.walk(self._size)
        elif isinstance(self.part.tag, str):
            self._size = self._size or int(cast(float, _NODES(self.part)))
            work.nodes(self._size)

    def texts(self) -> tuple[str, str]:
        """What a regular expression looks in: the visible text, then the markup."""
        if self.holds_json:
            return (self.part, "") if isinstance(self.part, str) else ("", "")
        if self.part is not None:
            self.pay()
            return words(self.part, self.page.work), markup(self.part)
        try:
            root = self.page.node
        except RuleFailed:  # it has no tree; as text it can be read
            root = None
        return self.page.facts.text or (words(root) if root is not None else ""), self.page.markup

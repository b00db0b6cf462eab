"""Rules for links: which references of a page are worth more, and which are never followed."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborNode

from gregor.worker.extract import text
from gregor.worker.extract.model import Source, Weight
from gregor.worker.extract.page import Parsed
from gregor.worker.extract.scopes import PagePart
from gregor.worker.extract.selectors import bounded
from gregor.worker.read.white_space import collapse

if TYPE_CHECKING:
    from gregor.worker.links.scope import Scope


@dataclass(frozen=True, slots=True)
class LinkRule:
    """What is said of which links of which pages."""

    name: str
    match: "Scope | None"
    """The pages that it is for; None: all."""
    selects: tuple[Source, ...]
    """What chooses the elements that are links, or in which these are; none: all of the page."""
    priority: int = 0
    follow: bool = True

    @property
    def weight(self) -> Weight:
        """What it says."""
        said = f"links: {self.name}"
        return Weight(self.priority, by=said) if self.follow else Weight(fate=said)


def weights(rule: LinkRule, parsed: Parsed) -> Iterator[tuple[str, Weight]]:
    """The references that a rule is about, as they stand in the document. Raises `RuleFailed`."""
    place = PagePart(parsed)
    weight = rule.weight
    chosen = chain.from_iterable(source.select(place) for source in rule.selects)
    for selected in bounded(chosen, "elements") if rule.selects else (parsed.node,):
        if isinstance(selected, str):
            yield selected.strip(), weight
        elif isinstance(selected, text.TreeNode):
            for reference in _references(selected):
                yield collapse(reference), weight


def _references(element: text.TreeNode) -> Iterator[str]:
    """What an element refers to, and what the links within it do."""
    own = text.attribute(element, "href") or text.attribute(element, "src")
    if own:
        yield own
        return
    within = element.css("[href]") if isinstance(element, LexborNode) else element.iter("a", "area", "link")
    for below in within:
        if reference := text.attribute(below, "href"):
            yield reference

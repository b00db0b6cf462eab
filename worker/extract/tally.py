"""What rules gave and what they lost, counted by rule and cause with a few URLs to look at."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from gregor.worker.base.amounts import count
from gregor.worker.extract.crawled import Extracted
from gregor.worker.extract.model import Loss, PageItems

EXAMPLES: Final = 3
MOST: Final = 10_000
"""Different losses that are told apart."""


class Lost(msgspec.Struct):
    """One cause of one rule. ``costs_item``: an item each; ``judgement``: what is said of a page or its links; else a
    value of an item that was kept."""

    costs_item: bool
    count: int = 0
    examples: list[str] = []
    judgement: bool = False
    beyond: bool = False
    """``count`` is of pages: how much each has beyond the bounds was not counted."""


class Tally(msgspec.Struct):
    """Of some pages, or of all."""

    pages: int = 0
    items: int = 0
    matched: dict[str, int] = {}
    """Pages that each rule is for."""
    by_rule: dict[str, int] = {}
    """Items of each rule."""
    lost: dict[tuple[str, str], Lost] = {}
    """By rule and cause."""
    lost_items: dict[str, int] = {}
    """How many each rule lost."""
    damaged: int = 0
    """Records of the crawl that could not be read."""

    def add(self, extracted: PageItems, url: str) -> None:
        """A page was done."""
        self.pages += 1
        self.items += len(extracted.items)
        self.matched = dict(Counter(self.matched) + Counter(extracted.matched))
        self.by_rule = dict(Counter(self.by_rule) + Counter(item.rule for item in extracted.items))
        self.add_losses(extracted.losses, url)

    def add_crawled(self, extracted: Extracted, url: str) -> None:
        """A page was read while it was crawled."""
        self.pages += 1
        there = [item for item in extracted.items if item.change not in ("gone", "lost")]
        self.items += len(there)
        for item in there:
            self.by_rule[item.rule] = self.by_rule.get(item.rule, 0) + 1
        for rule in extracted.asked:
            self.matched[rule] = self.matched.get(rule, 0) + 1
        self.add_losses(extracted.losses, url)

    def add_losses(self, losses: Iterable[Loss], url: str) -> None:
        """What rules, filters and scorers could not do on a page."""
        for loss in losses:
            self._lose(loss, url)

    def _lose(self, loss: Loss, url: str) -> None:
        key = (loss.rule, loss.cause)
        if loss.costs_item:
            self.lost_items[loss.rule] = self.lost_items.get(loss.rule, 0) + 1
        if key not in self.lost and len(self.lost) >= MOST:
            return
        lost = self.lost.setdefault(key, Lost(loss.costs_item, judgement=loss.judgement, beyond=loss.beyond))
        lost.count += 1
        if len(lost.examples) < EXAMPLES and url not in lost.examples:
            lost.examples.append(url)

    def merge(self, other: "Tally") -> None:
        """Other pages were done elsewhere."""
        self.pages += other.pages
        self.items += other.items
        self.damaged += other.damaged
        self.matched = dict(Counter(self.matched) + Counter(other.matched))
        self.by_rule = dict(Counter(self.by_rule) + Counter(other.by_rule))
        self.lost_items = dict(Counter(self.lost_items) + Counter(other.lost_items))
        for key, theirs in other.lost.items():
            ours = self.lost.setdefault(key, Lost(theirs.costs_item, judgement=theirs.judgement, beyond=theirs.beyond))
            ours.count += theirs.count
            ours.examples = (ours.examples + theirs.examples)[:EXAMPLES]

    def lines(self, rules: Iterator[str]) -> Iterator[str]:
        """What a person is told, the worst first; ``rules``: the names of all."""
        for (rule, cause), lost in sorted(self.lost.items(), key=lambda pair: (not pair[1].costs_item, -pair[1].count)):
            yield f"{rule}: {cause}: {_what(lost)}, as at {' '.join(lost.examples)}"
        for rule in rules:
            if rule not in self.matched:
                yield f"{rule}: no page was for this rule: look at its match and when"
            elif not self.by_rule.get(rule) and not any(name == rule for name, _ in self.lost):
                yield f"{rule}: no item on its pages, {self.matched[rule]} of them: look at its each or schema"


def _what(lost: Lost) -> str:
    if lost.judgement:
        return f"on {count(lost.count, 'page')}"
    if lost.beyond:
        return f"left out on {count(lost.count, 'page')}"
    if lost.costs_item:
        return f"{count(lost.count, 'item')} lost"
    return f"{lost.count} without a value"

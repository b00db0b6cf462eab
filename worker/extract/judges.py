"""Plug-ins that judge: filters say which links are followed and which pages are kept, scorers which links go first.

What one of them raises costs its own word alone: the link, or the page, is as if it had not been asked. docs/plugins.md
has examples. They decide by what they are given, so that a page that is read twice is judged alike.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol, TypeVar, runtime_checkable

from gregor.schemas.messages import Ticket
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.extract.model import UNWEIGHED, Drop, Loss, Weight
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.known_ranks import KnownRanks
from gregor.worker.links.ordering.policy import OrderPolicy, ScoringPolicy
from gregor.worker.read.document import Document, Extract
from gregor.worker.web.urls import Url

T = TypeVar("T")
_LONGEST: Final = 200
"""Characters of a reason."""
_NO_RULES: Final[Mapping[str, Weight]] = {}
_QUEUES: Final = ((0.75, 1), (0.5, 2), (0.25, 3))
"""From which score on a link is in which front queue; below it is in the last one."""


@runtime_checkable
class Filter(Protocol):
    """Says which links are followed, of those that the scope and all other bounds let through."""

    def follow(self, link: FoundLink) -> bool:
        """Whether it may be followed. Raises `Drop` with a reason; False without one."""


@runtime_checkable
class PageFilter(Protocol):
    """Says which pages are kept. The links of the others are followed all the same."""

    def keep(self, document: Document, extract: Extract) -> bool:
        """Whether a page is stored; ``extract``: its title, text and so on. Raises `Drop` with a reason."""


@runtime_checkable
class Scorer(Protocol):
    """Says how much a link is worth."""

    def score(self, link: FoundLink) -> float | None:
        """From 0 (last) to 1 (first); None: it has no opinion."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Those of a crawl, by their names. Without any it is false."""

    filters: Mapping[str, Filter] = field(default_factory=dict)
    page_filters: Mapping[str, PageFilter] = field(default_factory=dict)
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    orderings: Mapping[str, OrderPolicy] = field(default_factory=dict)
    """Policies of the order that plug-ins bring; one is in force where the setting ``ordering`` names it."""
    policy: ScoringPolicy | None = None
    """What says what links are worth; None: depth."""
    ranks: KnownRanks = field(default_factory=KnownRanks)
    """What speaks where no rule and no scorer does."""

    def __bool__(self) -> bool:
        return bool(self.filters or self.page_filters or self.scorers or self.ranks)

    def of_page(self, ticket: Ticket, source: Url, rules: Mapping[str, Weight] = _NO_RULES) -> "LinkJudge | None":
        """What judges the links of the page that a ticket asked for; ``rules``: what these say of its references. None
        where nobody says anything."""
        if not (rules or self.filters or self.scorers or self.ranks):
            return None
        return LinkJudge(self, source.href, ticket.depth + 1, ticket.label, rules)

    def refuses(self, document: Document, extract: Extract, losses: list[Loss]) -> str:
        """Why a page is not kept; "" if it is. Never raises."""
        failures = Failures(losses)
        for name, page_filter in self.page_filters.items():
            if fate := _refusal(name, failures, partial(page_filter.keep, document, extract)):
                return fate
        return ""


class Failures:
    """What plug-ins could not do on one page: each cause of one is told once."""

    def __init__(self, losses: list[Loss]) -> None:
        self._losses = losses
        self._causes: set[tuple[str, str]] = set()

    def tell(self, name: str, cause: str) -> None:
        """A plug-in has failed, for a cause that is called alike on all pages."""
        if (name, cause) not in self._causes:
            self._causes.add((name, cause))
            self._losses.append(Loss(name, cause, costs_item=False, judgement=True))


class LinkJudge:
    """Judges the links of one page. ``losses``: what failed meanwhile."""

    def __init__(self, judges: Judges, source: str, depth: int, label: str, rules: Mapping[str, Weight]) -> None:
        """``depth``: that of what is found."""
        self._judges = judges
        self._rules = rules
        self._source, self._depth, self._label = source, depth, label
        self.losses: list[Loss] = []
        self._failures = Failures(self.losses)

    def weight(
        self,
        url: Url,
        kind: str,
        text: str = "",
        nofollow: bool = False,
        reference: str = "",
        depth: int | None = None,
    ) -> Weight:
        """What rules, filters and scorers say of a link, which stands there as ``reference``; ``depth``: of what is
        found, None for a step more than its page. Never raises."""
        ruled = self._rules.get(reference, UNWEIGHED)
        depth = self._depth if depth is None else depth
        if ruled.fate or not (self._judges.filters or self._judges.scorers):
            return self._by_rank(ruled, url, kind, depth)
        link = FoundLink(url.href, url.key, url.host, kind, text, nofollow, self._source, depth, self._label)
        for name, link_filter in self._judges.filters.items():
            if fate := _refusal(name, self._failures, partial(link_filter.follow, link)):
                return Weight(fate=fate)
        scores = [] if ruled.priority else list(self._scores(link))
        if not scores:
            return self._by_rank(ruled, url, kind, depth)
        mean = sum(score for _, score in scores) / len(scores)
        priority = next((queue for least, queue in _QUEUES if mean >= least), 4)
        return Weight(priority, by=f"scorer {', '.join(name for name, _ in scores)}: {mean:.2f}")

    def _by_rank(self, ruled: Weight, url: Url, kind: str, depth: int) -> Weight:
        """What rules say; where they say nothing of the order, what ranks do."""
        if ruled.fate or ruled.priority or not self._judges.ranks:
            return ruled
        queue, by = self._judges.ranks.queue(url.key, url.host, kind, depth)
        return Weight(queue, by=by) if queue else ruled

    def _scores(self, link: FoundLink) -> Iterator[tuple[str, float]]:
        for name, scorer in self._judges.scorers.items():
            try:
                score = scorer.score(link)
                if score is None:
                    continue
                if math.isnan(number := float(score)):
                    raise ValueError
            except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it cannot do costs its word
                self._failures.tell(f"scorer {name}", f"it failed: {type(error).__name__}")
                continue
            yield name, min(1.0, max(0.0, number))


def _refusal(name: str, failures: Failures, passes: Callable[[], bool]) -> str:
    """The fate of what a filter turns down; "" of what it lets pass, or fails on."""
    try:
        return "" if passes() else f"filter {name}"
    except Drop as drop:
        reason = one_line(str(drop), _LONGEST)
        return f"filter {name}: {reason}" if reason else f"filter {name}"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of others: what it cannot do costs its word
        failures.tell(f"filter {name}", f"it failed: {type(error).__name__}")
        return ""


NO_JUDGES: Final = Judges()


def named(plugins: Iterable[tuple[str, str, T]], what: str) -> dict[str, T]:
    """Plug-ins by name; each comes with its name and the place it is from. Raises `BadInput` for two of one name."""
    by_name: dict[str, tuple[str, T]] = {}
    for name, place, plugin in plugins:
        if name in by_name:
            raise BadInput(f"{place}: there are two {what} of the name {one_line(name)!r}: see {by_name[name][0]}")
        by_name[name] = place, plugin
    return {name: plugin for name, (_, plugin) in by_name.items()}

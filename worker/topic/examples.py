"""A topic that is told by example pages: what sets their words apart from those of all other pages. Pure, bounded.

Other pages are the bad examples, and what the crawl meets: words that are on many of these say little. A page is as
relevant as its words stand between those of the two kinds.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from gregor.worker.topic.features import words
from gregor.worker.topic.relevance import sigmoid

MOST: Final = 50_000
"""Words whose pages are counted, of each kind; of more, those that were met once are forgotten."""
_TELLING: Final = 60
"""Words of a page that speak, those with most to say."""
_STEEPNESS: Final = 4.0
_FRESH: Final = 0.02
"""The share of pages that a word is thought to be on while few pages are known."""
_KNOWN: Final = 20


class WordsOfPages:
    """On how many pages of a kind a word was."""

    def __init__(self) -> None:
        self.pages = 0
        self.counts: Counter[str] = Counter()

    def add(self, several: Collection[str]) -> None:
        """One page more, with these words."""
        self.pages += 1
        self.counts.update(several)
        if len(self.counts) > MOST:
            self.counts = Counter({word: count for word, count in self.counts.most_common(MOST // 2) if count > 1})

    def share(self, word: str) -> float:
        """The share of pages that have a word."""
        return (self.counts[word] + _FRESH * _KNOWN) / (self.pages + _KNOWN)


class ExamplePages:
    """A topic as `Relevance`, told by pages."""

    def __init__(self, good: Iterable[str] = (), bad: Iterable[str] = ()) -> None:
        """``good``, ``bad``: keys of URLs that are examples, and learnt from when the crawl reads them."""
        self._good, self._bad = frozenset(good), frozenset(bad)
        self._learnt: set[str] = set()
        self._like = WordsOfPages()
        self._unlike = WordsOfPages()
        self._good_score = 0.0  # the mean of the examples, when so many other pages were known:
        self._scored_with = 0
        self._sum_of_others = self._count_of_others = 0.0  # of scores, the older ones ever less
        self._examples: list[frozenset[str]] = []

    def learn(self, title: str | None, text: str, *, good: bool) -> None:
        """Learn from an example."""
        several = _distinct(title, text)
        (self._like if good else self._unlike).add(several)
        if good and len(self._examples) < 100:
            self._examples.append(several)

    @property
    def wanted(self) -> Collection[str]:
        return (self._good | self._bad) - self._learnt

    def of_page(self, key: str, title: str | None, text: str, href: str) -> float | None:
        if key in self._good or key in self._bad:
            if key not in self._learnt:
                self._learnt.add(key)
                self.learn(title, text, good=key in self._good)
            return 1.0 if key in self._good else 0.0
        several = _distinct(title, text)
        if not self._examples:
            self._unlike.add(several)
            return None
        relevance = self._between(self._score(several))
        if relevance < 0.5:
            self._unlike.add(several)
        return relevance

    def of_words(self, several: Sequence[str]) -> float | None:
        if not several or not self._like.pages:
            return None
        return sigmoid(sum(map(self._says, several)) / len(several))

    def _says(self, word: str) -> float:
        """How much a word speaks for the topic, from -3 to 3."""
        if word not in self._like.counts and word not in self._unlike.counts:
            return 0.0
        like = (self._like.counts[word] + 0.1) / (self._like.pages + 0.2)
        return min(3.0, max(-3.0, math.log(like / self._unlike.share(word))))

    def _score(self, several: Collection[str]) -> float:
        said = sorted(map(self._says, several), key=lambda number: (-abs(number), number))[:_TELLING]
        return sum(said) / len(said) if said else 0.0

    def _between(self, score: float) -> float:
        """Where a score stands between what the good examples have and what other pages have."""
        if not self._scored_with or self._unlike.pages >= 1.5 * self._scored_with:
            self._good_score = sum(map(self._score, self._examples)) / len(self._examples)
            self._scored_with = max(1, self._unlike.pages)
        high, others = self._good_score, self._count_of_others
        low = self._sum_of_others / others if others else min(0.0, high - 1.0)
        relevance = sigmoid(_STEEPNESS * (2.0 * (score - low) / max(0.5, high - low) - 1.0))
        if relevance < 0.5:
            self._sum_of_others = self._sum_of_others * 0.999 + score
            self._count_of_others = others * 0.999 + 1.0
        return relevance


def _distinct(title: str | None, text: str) -> frozenset[str]:
    return frozenset(words(text)).union(words(title or "", 1024))

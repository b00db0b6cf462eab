"""A model as a crawl asks it: which class a page is of, and how likely. Pure, in plain numbers of Python.

A word is looked up by its hash once, and then found by itself: words come again and again. The memory for that is
bounded.
"""

import math
from itertools import compress
from operator import itemgetter, mul
from typing import Final, NamedTuple

from gregor.worker.topic.features import PARTS, PageWords, numbers_of, of_page, weights
from gregor.worker.topic.model_file import ModelData

REMEMBERED: Final = 50_000
"""Words of each part of pages whose place is remembered."""
_LIMIT: Final = 700.0
"""What the exponential function can take."""


class Classified(NamedTuple):
    """The class of a page, and how likely each is by the model."""

    name: str
    probability: float
    probabilities: dict[str, float]


class _Places(dict[str, int]):
    """Where the weights of a word are, by the word; 0 where the model does not know it."""

    def __init__(self, part: str, places: dict[int, int]) -> None:
        super().__init__()
        self._number, self._places = numbers_of(part), places

    def __missing__(self, word: str) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        place = self[word] = self._places.get(self._number(word), 0)
        return place


class PageModel:
    """That of a file."""

    def __init__(self, data: ModelData) -> None:
        self.classes = data.classes
        self._bias = data.bias
        self._weights = [(0.0, *of_class) for of_class in data.of_classes()]
        places = {number: place for place, number in enumerate(data.numbers(), start=1)}
        self._places = [_Places(part, places) for part in PARTS]
        self._last: tuple[tuple[str | None, str, str], Classified] | None = None

    def classify(self, title: str | None, text: str, href: str) -> Classified:
        """The class of a page by its words. One page is asked about several times in a row, for its class and for how
        relevant it is, and looked at once."""
        page = title, text, href
        if self._last is None or self._last[0] != page:
            self._last = page, self._classify(title, text, href)
        return self._last[1]

    def _classify(self, title: str | None, text: str, href: str) -> Classified:
        places, values = self._weighed(of_page(title, text, href))
        if len(places) > 1:
            take = itemgetter(*places)
            scores = [sum(map(mul, values, take(of_class)), bias) for of_class, bias in self._scored()]
        else:
            scores = [sum((values[0] * of_class[at] for at in places), bias) for of_class, bias in self._scored()]
        chances = softmax(scores)
        best = max(range(len(chances)), key=chances.__getitem__)
        return Classified(self.classes[best], chances[best], dict(zip(self.classes, chances, strict=True)))

    def _scored(self) -> "zip[tuple[tuple[float, ...], float]]":
        return zip(self._weights, self._bias, strict=True)

    def _weighed(self, page: PageWords) -> tuple[list[int], list[float]]:
        """Where the weights of a page's words are, as far as the model knows them, and what each weighs."""
        places: list[int] = []
        values: list[float] = []
        for counts, places_of_words in zip(page, self._places, strict=True):
            if counts:
                here = list(map(places_of_words.__getitem__, counts))
                places += compress(here, here)
                values += compress(weights(counts.values()), here)
        return places, values


def softmax(scores: list[float]) -> list[float]:
    """Scores as probabilities."""
    most = max(scores)
    powers = [math.exp(max(-_LIMIT, score - most)) for score in scores]
    all_powers = sum(powers)
    return [power / all_powers for power in powers]

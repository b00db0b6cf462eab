"""How relevant a page or a few words are for the topic of a crawl, from 0 to 1. Pure, bounded in memory."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from gregor.worker.topic.features import url_words, words
from gregor.worker.topic.page_model import PageModel

_IN_TITLE: Final = 0.5
_IN_URL: Final = 0.3
_IN_TEXT: Final = 0.4
"""What a key word says by being there; in a text once. What several say is taken together as if each
spoke by itself."""
_AGAIN: Final = 0.7
"""In a text each further time says so much of what the one before did."""
_MOST_TIMES: Final = 10


class Relevance(Protocol):
    """What a crawl is after, as it is asked."""

    @property
    def wanted(self) -> Collection[str]:
        """Keys of pages that it is still to learn from."""

    def of_page(self, key: str, title: str | None, text: str, href: str) -> float | None:
        """Of a page; ``key``: its name. What is learnt of it counts for later ones. None while nothing can be said."""

    def of_words(self, several: Sequence[str]) -> float | None:
        """Of a few words, as of an anchor; None where nothing can be said of them."""


class KeyWords:
    """The topic is told by key words: one with a space in it is a phrase, one that ends with ``*`` a beginning."""

    wanted: Collection[str] = ()

    def __init__(self, key_words: Iterable[str]) -> None:
        """Raises ValueError for one without a letter or digit."""
        self._single: set[str] = set()
        self._begin: list[str] = []
        self._phrases: list[tuple[str, ...]] = []
        for key_word in key_words:
            parts = tuple(words(key_word))
            if not parts:
                raise ValueError(key_word)
            if len(parts) > 1:
                self._phrases.append(parts)
            elif key_word.rstrip().endswith("*"):
                self._begin.append(parts[0])
            else:
                self._single.add(parts[0])

    def of_page(self, key: str, title: str | None, text: str, href: str) -> float:
        in_title, in_url = self._met(words(title or "", 1024)), self._met(url_words(href))
        in_text, away = self._met(words(text)), 1.0
        for name, count in in_text.items():
            said = _IN_TEXT * (1.0 - _AGAIN ** min(count, _MOST_TIMES)) / (1.0 - _AGAIN)
            away *= 1.0 - min(0.9, said)
            if name in in_title:
                away *= 1.0 - _IN_TITLE
            if name in in_url:
                away *= 1.0 - _IN_URL
        for name in (in_title | in_url).keys() - in_text.keys():
            away *= 1.0 - (_IN_TITLE if name in in_title else _IN_URL)
        return 1.0 - away

    def of_words(self, several: Sequence[str]) -> float | None:
        return 1.0 - (1.0 - _IN_TITLE) ** len(self._met(several))

    def _met(self, several: Sequence[str]) -> Counter[str]:
        """The key words that are there, and how often."""
        counts = Counter(several)
        met = Counter({word: counts[word] for word in self._single if word in counts})
        for begin in self._begin:
            if count := sum(number for word, number in counts.items() if word.startswith(begin)):
                met[f"{begin}*"] = count
        for phrase in self._phrases:
            if phrase[0] in counts and (count := _times(phrase, several)):
                met[" ".join(phrase)] = count
        return met


def _times(phrase: tuple[str, ...], several: Sequence[str]) -> int:
    size = len(phrase)
    return sum(tuple(several[at : at + size]) == phrase for at, word in enumerate(several) if word == phrase[0])


class RelevantClasses:
    """The topic is told by classes of a model."""

    wanted: Collection[str] = ()

    def __init__(self, model: PageModel, classes: Sequence[str]) -> None:
        self._model = model
        self._classes = classes

    def of_page(self, key: str, title: str | None, text: str, href: str) -> float:
        probabilities = self._model.classify(title, text, href).probabilities
        return sum(probabilities[name] for name in self._classes)

    def of_words(self, several: Sequence[str]) -> float | None:
        return None


class MeanRelevance:
    """What several say: their mean."""

    def __init__(self, each: Sequence[Relevance]) -> None:
        self._each = each

    @property
    def wanted(self) -> Collection[str]:
        return {key for one in self._each for key in one.wanted}

    def of_page(self, key: str, title: str | None, text: str, href: str) -> float | None:
        return _mean(one.of_page(key, title, text, href) for one in self._each)

    def of_words(self, several: Sequence[str]) -> float | None:
        return _mean(one.of_words(several) for one in self._each)


def sigmoid(score: float) -> float:
    """A score of any size as a relevance, or as how likely something is: 0 is in the middle."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


def _mean(numbers: Iterable[float | None]) -> float | None:
    said = [number for number in numbers if number is not None]
    return sum(said) / len(said) if said else None

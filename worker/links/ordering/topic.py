"""The order of a topical crawl: how likely a link leads to a relevant page, by what is seen of it and what was learnt.

It begins as shark search does (Hersovici et al. 1998): a link inherits the relevance of its page, decayed over pages
that are not relevant, and its anchor, the words near it and its URL speak for it. From what links brought it learns how
much each of these is worth, and which words, parts of URLs and hosts led to relevant pages: logistic regression, a step
for each page that comes. What it remembers is bounded.
"""

import heapq
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import xxhash

from gregor.schemas.messages import url_fingerprint
from gregor.worker.base.pieces import PIECE, InPieces
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import SEED, TOPIC, BroughtPage
from gregor.worker.topic.features import url_words, words
from gregor.worker.topic.relevance import Relevance, sigmoid

_BITS: Final = 16
_SIZE: Final = 1 << _BITS
LINKS: Final = 20_000
"""Links that are remembered until their pages come, at least half of that."""
HOSTS: Final = 20_000
"""Hosts of which it is known how relevant their pages were."""
KEPT_WEIGHTS: Final = 1500
KEPT_HOSTS: Final = 500
"""How many of them are kept over a restart, those with most to say."""
_NEAR: Final = 60
"""Characters before and after an anchor that are near it."""
_NEAR_LINKS: Final = 300
"""Links of a page for which what is near them is looked for, and how far behind the one before."""
_MOST_LINKS: Final = 1000
"""Links of a page that are looked at one by one."""
_NEAR_ROOM: Final = 5000
_PIECE: Final = 32
"""Links that are looked at at once: each takes some 100 microseconds."""
_PRIOR: Final = (-2.2, 2.4, 2.0, 0.8, 1.0, 2.0)
"""What is thought of a link before anything is learnt: for each, and for what it inherits, its anchor, the words near
it, its URL, and the pages of its host."""
_RATE: Final = 0.5
_RATE_OF_SIGNALS: Final = 0.05
_WORDS: Final = 12


class Signals(NamedTuple):
    """What is seen of a link, each from 0 to 1: what it inherits from its page, and how relevant its anchor, the words
    near it, its URL and the known pages of its host are."""

    inherited: float
    anchor: float
    near: float
    url: float
    host: float


class Learnt(msgspec.Struct, frozen=True):
    """What is kept of it over a restart."""

    pages: int
    signals: list[float]
    weights: dict[int, float]
    hosts: dict[str, tuple[float, float]]


class _Asked(NamedTuple):
    """A link whose page has not come."""

    signals: Signals
    features: list[int]


class TopicPolicy:
    """The policy ``topic``. ``threshold``: from which on a page is relevant; ``decay``: see `inherited`."""

    name = TOPIC
    adds = False
    tax = 0.0
    compares_hosts = True
    failures: Sequence[str] = ()

    def __init__(self, relevance: Relevance, threshold: float, decay: float) -> None:
        self._relevance = relevance
        self._threshold = threshold
        self._decay = decay
        self.pages = 0
        """How many pages were learnt from."""
        self._signals = list(_PRIOR)
        self._weights = array("f", bytes(4 * _SIZE))
        self._hosts: dict[str, tuple[float, float]] = {}
        self._asked: dict[int, _Asked] = {}
        self._asked_before: dict[int, _Asked] = {}

    def inherited(self, relevance: float, worth: float) -> float:
        """What the links of a page have of it: its relevance; of one that is not relevant, at least a part of what was
        thought of it, so that a few such pages may lie between."""
        return relevance if relevance >= self._threshold else max(relevance, self._decay * min(worth, SEED))

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float]]:
        """How likely each link leads to a relevant page."""
        relevance = page.relevance or 0.0
        self._learn(page, relevance)
        inherits, at, near_text = self.inherited(relevance, page.worth), 0, page.text.lower()
        worths: list[float] = []
        for number, link in enumerate(links):
            if number and number % (_PIECE if number <= _MOST_LINKS else PIECE) == 0:
                yield
            if number >= _MOST_LINKS:  # what so many links of a page say apart is little
                worths.append(self._likely(_Asked(Signals(inherits, 0.0, 0.0, 0.0, self._of_host(link.host)), [])))
                continue
            anchor, near = words(link.text, 300), list[str]()
            if anchor and number < _NEAR_LINKS:
                text = link.text.lower()
                if (found_at := near_text.find(text, at, at + _NEAR_ROOM)) >= 0:
                    at = found_at + len(text)
                    around = near_text[max(0, found_at - _NEAR) : found_at], near_text[at : at + _NEAR]
                    near = [word for part in around for word in words(part)]
            worths.append(self._worth(link, page.host, inherits, anchor, near))
        return worths

    def _worth(
        self, link: FoundLink, source: str, inherits: float, anchor: Sequence[str], near: Sequence[str]
    ) -> float:
        url, of_words = url_words(link.url), self._relevance.of_words
        each = (of_words(anchor) or 0.0, of_words(near) or 0.0, of_words(url) or 0.0)
        asked = _Asked(Signals(inherits, *each, self._of_host(link.host)), _features(anchor, near, url, source))
        if len(self._asked) >= LINKS // 2:
            self._asked, self._asked_before = {}, self._asked
        self._asked.setdefault(url_fingerprint(link.key), asked)
        return self._likely(asked)

    def _likely(self, asked: _Asked) -> float:
        begin, *each = self._signals
        number = begin + sum(weight * signal for weight, signal in zip(each, asked.signals, strict=True))
        weights = self._weights
        if asked.features:
            number += sum(weights[feature] for feature in asked.features) / math.sqrt(len(asked.features))
        return sigmoid(number)

    def _learn(self, page: BroughtPage, relevance: float) -> None:
        self.pages += 1
        fingerprint = url_fingerprint(page.key)
        asked = self._asked.pop(fingerprint, None) or self._asked_before.pop(fingerprint, None)
        if asked is not None:
            apart = relevance - self._likely(asked)
            self._signals[0] += _RATE_OF_SIGNALS * apart
            for place, signal in enumerate(asked.signals, start=1):
                self._signals[place] += _RATE_OF_SIGNALS * apart * signal
            if asked.features:
                step = _RATE * apart / math.sqrt(len(asked.features))
                for feature in asked.features:
                    self._weights[feature] += step
        total, count = self._hosts.pop(page.host, (0.0, 0.0))
        self._hosts[page.host] = total * 0.98 + relevance, count * 0.98 + 1.0  # the last one that was met stands last
        if len(self._hosts) > HOSTS:
            self._hosts = dict(list(self._hosts.items())[HOSTS // 2 :])

    def _of_host(self, host: str) -> float:
        total, count = self._hosts.get(host, (0.0, 0.0))
        return (total + 0.2) / (count + 1.0)

    def kept(self) -> bytes:
        """What is kept of it over a restart: bounded."""
        learnt = ((place, weight) for place, weight in enumerate(self._weights) if weight)
        strongest = heapq.nlargest(KEPT_WEIGHTS, learnt, key=lambda entry: abs(entry[1]))
        weights = {place: round(weight, 4) for place, weight in strongest}
        hosts = heapq.nlargest(KEPT_HOSTS, self._hosts.items(), key=lambda entry: entry[1][1])
        return msgspec.msgpack.encode(Learnt(self.pages, self._signals, weights, dict(hosts)))

    def recall(self, kept: bytes) -> None:
        """Go on from what was kept, if it knows more than this. What cannot be read is as if nothing had been kept."""
        try:
            learnt = msgspec.msgpack.decode(kept, type=Learnt) if kept else None
        except (msgspec.MsgspecError, RecursionError):
            return
        if learnt is None or learnt.pages <= self.pages or not _is_sound(learnt):
            return
        self.pages, self._signals, self._hosts = learnt.pages, list(learnt.signals), dict(learnt.hosts)
        self._weights = array("f", bytes(4 * _SIZE))
        for place, weight in learnt.weights.items():
            self._weights[place] = weight


def _is_sound(learnt: Learnt) -> bool:
    numbers: list[Any] = [
        *learnt.signals,
        *learnt.weights.values(),
        *(n for pair in learnt.hosts.values() for n in pair),
    ]
    return (
        len(learnt.signals) == len(_PRIOR)
        and all(0 <= place < _SIZE for place in learnt.weights)
        and len(learnt.hosts) <= HOSTS
        and all(count >= 0.0 for _, count in learnt.hosts.values())
        and all(math.isfinite(number) and abs(number) < 1e9 for number in numbers)
    )


def _features(anchor: Sequence[str], near: Sequence[str], url: Sequence[str], source: str) -> list[int]:
    """What of a link weights are learnt for: words of its anchor, near it and of its URL, and whose page it is on."""
    several = [f"a {word}" for word in anchor[:_WORDS]]
    several += [f"n {word}" for word in near[:_WORDS]]
    several += [f"u {word}" for word in url[:_WORDS]]
    several.append(f"s {source}")
    return list({xxhash.xxh3_64_intdigest(text.encode()) & (_SIZE - 1) for text in several})

"""Traps: endless URL spaces that a site makes without meaning to. Pure, deterministic, bounded in memory.

The evidence is judged where a link is found, before it is published. The target's own text is one kind of it
(``url_loops``); here it is what pages of the same *shape* brought. A shape is a URL with its numbers and values left
out; each has a score that rises with every page that brought nothing new and falls much faster with every page that
did. Only links from pages of a spent shape to pages of a spent shape are refused, so that nothing else of the site
suffers, and a site with one page in eight new is never stopped, however many pages have its shape.

What is learnt lives as long as the process: after a restart a trap has to be found again.
"""

import re
from array import array
from collections import OrderedDict
from typing import Final, NamedTuple

import xxhash

from gregor.worker.links.url_loops import LETTER, pairs
from gregor.worker.web.urls import Url

Numbers = tuple[int, ...]

SPENT = 200
"""The score from which on a shape is spent."""
GROWN = 25
"""The score from which on links are refused that only lengthen the query or the path of their page."""
STALE = 5
"""What a page adds that duplicates a stored one, exactly or nearly: 40 in a row spend a shape."""
STEP = 2
"""What a page adds whose words were there before and whose number lies beyond all others': 100 steps spend a shape.

Numbered pages in any order, with next to no words, are no endless walk: soon their numbers lie between others."""
FRESH = 40
"""What a page with something new takes off."""

REPEATING = "/**"
"""The shape of all paths in which a segment comes twice."""

_SHAPES = 32768
_HOST_SHAPES = 64
_TEXTS = 128
_KINDS = 4
_WORD = 12
_FIRST = 8
_NAME = 200

_MONTHS = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_VARIABLE = re.compile(rf"[0-9a-f]{{8,}}|\d+|(?<![a-z])(?:{_MONTHS})(?![a-z])", re.IGNORECASE)
_INTEGER = re.compile(r"(?<==)-?\d+|\d+")


class Shape:
    """The pages of one shape: how much new they brought lately, and how far their numbers reach."""

    __slots__ = ("_high", "_low", "_pages", "_texts", "score", "walks")

    def __init__(self) -> None:
        self.score = 0
        self.walks = False
        self._pages = 0
        self._texts = array("I")
        self._low: Numbers = ()
        self._high: Numbers = ()

    def learn(self, fresh: bool, numbers: Numbers, words: int | None) -> None:
        """Count a page; ``words`` is a hash of its text without numbers, None if it has no text."""
        self._pages += 1
        new = self._new(words)
        step = self._reaches(numbers)
        if not fresh:
            self._add(STALE)
            self.walks = False
        elif new:
            self._add(-FRESH)
        elif step:
            self._add(STEP)
            self.walks = True

    def _new(self, words: int | None) -> bool:
        """Whether a text is none of the last ones; remembers it."""
        if words is None:
            return True
        if words in self._texts:
            return False
        if len(self._texts) < _TEXTS:
            self._texts.append(words)
        else:
            self._texts[self._pages % _TEXTS] = words
        return True

    def _reaches(self, numbers: Numbers) -> bool:
        """Whether the numbers lie beyond those of all pages before."""
        if self._pages > 1 and self._low <= numbers <= self._high:
            return False
        self._low = numbers if self._pages == 1 else min(self._low, numbers)
        self._high = max(self._high, numbers)
        return True

    def _add(self, points: int) -> None:
        self.score = max(0, min(SPENT, self.score + points))


_NONE: Final[OrderedDict[str, Shape]] = OrderedDict()


class _Suspect(NamedTuple):
    """What is known against links of a page: shapes below which no link may grow, its own shape if it is spent, and
    the domain below which no further host is followed ("" for none)."""

    growing: frozenset[str]
    spent: Shape | None
    domain: str


class Traps:
    """What is learnt of the hosts' URL spaces."""

    def __init__(self, shapes: int = _SHAPES) -> None:
        """``shapes`` is how many are remembered over all hosts; those of the hosts learnt longest ago are dropped."""
        self._most = shapes
        self._count = 0
        self._hosts: OrderedDict[str, OrderedDict[str, Shape]] = OrderedDict()
        self._source: Url | None = None
        self._suspect: _Suspect | None = None

    def __len__(self) -> int:
        return self._count + len(self._hosts)

    def learn(self, url: Url, *, fresh: bool, text: str) -> None:
        """A page was stored; ``fresh``: its content is neither a duplicate nor a near-duplicate of another page's."""
        self._source = None
        new_host = self._know(url.host)
        if names := shapes(url):
            words = _words(text) if text.strip() else None
            numbers = tuple(int(number[:18]) for number in _INTEGER.findall(url.target)[:_FIRST])
            for name in names:
                self._shape(url.host, name).learn(fresh, numbers, words)
        if new_host and (domain := _parent(url.host)):
            self._know(domain)
            self._shape(domain, "").learn(fresh, (), None)

    def suspects(self, source: Url) -> bool:
        """Whether any link of a page may be refused: asked once a page, and as a rule not so."""
        if source is not self._source:
            self._source, self._suspect = source, self._suspicion(source)
        return self._suspect is not None

    def refuses(self, source: Url, target: Url) -> str | None:
        """Why what was learnt of the pages speaks against a link, if it does: a short reason that can be counted."""
        if not self.suspects(source) or (suspect := self._suspect) is None:
            return None
        if source.host == target.host:
            return self._nothing_new(source, target, suspect)
        # Names below one domain, each of whose first pages brought nothing new, lead to no further one.
        endless = suspect.domain and _parent(target.host) == suspect.domain and target.host not in self._hosts
        return "endless hosts" if endless else None

    def _nothing_new(self, source: Url, target: Url, suspect: _Suspect) -> str | None:
        there = shapes(target)
        longer = target.href.count("&") > source.href.count("&") or target.href.count("/") > source.href.count("/")
        if longer and any(name in suspect.growing for name in there):
            return "growing URLs"
        if suspect.spent is None:
            return None
        known = self._hosts[target.host]
        if not any(name in known and known[name].score >= SPENT for name in there):
            return None
        return "endless numbers" if suspect.spent.walks else "nothing new"

    def _suspicion(self, url: Url) -> _Suspect | None:
        """What is known against links of a page; None, as a rule."""
        known = self._hosts.get(url.host, _NONE)
        own = [(name, known[name]) for name in shapes(url) if name in known] if known else []
        growing = {name for name, shape in own if shape.score >= GROWN and name.startswith("/")}
        if REPEATING in known and known[REPEATING].score >= SPENT:
            growing.add(REPEATING)
        spent = next((shape for _, shape in own if shape.score >= SPENT), None)
        domain = _parent(url.host)
        hosts = self._hosts.get(domain, _NONE).get("")
        endless = domain if hosts is not None and hosts.score >= SPENT else ""
        return _Suspect(frozenset(growing), spent, endless) if growing or spent is not None or endless else None

    def _know(self, host: str) -> bool:
        """A page of the host was stored; True if it is the first that is remembered."""
        new = host not in self._hosts
        self._hosts.setdefault(host, OrderedDict())
        self._hosts.move_to_end(host)
        self._forget()
        return new

    def _forget(self) -> None:
        while len(self) > self._most and len(self._hosts) > 1:
            self._count -= len(self._hosts.popitem(last=False)[1])

    def _shape(self, host: str, name: str) -> Shape:
        known = self._hosts[host]
        if name in known:
            known.move_to_end(name)
            return known[name]
        known[name] = shape = Shape()
        self._count += 1
        if len(known) > _HOST_SHAPES:
            known.popitem(last=False)
            self._count -= 1
        self._forget()
        return shape


def shapes(url: Url) -> tuple[str, ...]:
    """The shapes of a URL, none if nothing in it is variable.

    Numbers, long hexadecimal words and names of months in a path are variable. A query counts twice: with its path,
    whatever it says (for facets combine), and by its parameters, wherever they stand (a session goes everywhere; months
    and days may differ in one word). All paths in which a segment comes twice are one shape: relative links on a
    page that answers under any path make them.
    """
    path, _, query = url.target.partition("?")
    shape = _VARIABLE.sub("N", path)
    words = [segment for segment in path.split("/") if LETTER.search(segment)]
    if len(set(words)) < len(words):
        shape = REPEATING
    if query:
        kinds = sorted({_kind(pair) for pair in pairs(query)})
        return (f"{shape[:_NAME]}?", "?" + ("&".join(kinds)[:_NAME] if len(kinds) <= _KINDS else "*"))
    return (shape[:_NAME],) if shape != path else ()


def _kind(pair: str) -> str:
    """A parameter whose value is left out unless it is one short word."""
    name, _, value = pair.partition("=")
    return f"{_VARIABLE.sub('N', name)}={value if value.isalpha() and len(value) <= _WORD else ''}"


def _words(text: str) -> int:
    """What stays the same of a text when only its numbers change."""
    return xxhash.xxh32_intdigest(text.encode("utf-8", "surrogatepass").translate(None, b"-0123456789"))


def _parent(host: str) -> str:
    """The domain above a host name, marked as such; empty for what has none that many hosts could share."""
    above = host.partition(".")[2]
    return f"*.{above}" if "." in above and not above[-1].isdigit() else ""

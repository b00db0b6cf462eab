"""Traps: endless URL spaces that a site makes without meaning to. Pure, deterministic, bounded in memory.

Two kinds of evidence, both judged where a link is found, before it is published:

- the target's own text: loops and heaps that no site writes on purpose (``_malformed``);
- what pages of the same *shape* brought. A shape is a URL with its numbers and values left out; each has a score that
  rises with every page that brought nothing new and falls much faster with every page that did. Only links from
  pages of a spent shape to pages of a spent shape are refused, so that nothing else of the site suffers, and a site
  with one page in eight new is never stopped, however many pages have its shape.

What is learnt lives as long as the process: after a restart a trap has to be found again.
"""

import re
from collections import Counter, OrderedDict, deque

import xxhash

from gregor.worker.urls import Url

Numbers = tuple[int, ...]

SAME_SEGMENT = 3
"""How often one segment may stand in a path. Dates and sharded numbers have no letters and are not counted."""
SEGMENTS = 40
"""Segments of a path."""
SAME_PAIR = 3
"""How often one ``name=value`` may stand in a query."""
SAME_NAME = 16
"""How often one parameter may stand in a query, with different values."""
PAIRS = 48
"""Parameters of a query."""
LABELS = 10
"""Labels of a host name."""
SAME_END = 4
"""How often in a row a long URL may end in the same text."""

SPENT = 200
"""The score from which on a shape is spent."""
GROWN = 25
"""The score from which on links are refused that only lengthen the query or the path of their page."""
STALE = 5
"""What a page adds that duplicates a stored one, exactly or nearly: 40 in a row spend a shape."""
STEP = 2
"""What a page adds whose words were there before and whose number lies beyond all others': 100 steps spend a shape."""
FRESH = 40
"""What a page with something new takes off."""

_SHAPES = 65536
_HOST_SHAPES = 64
_RECENT = 32
_LONG = 200
_MOST_TEXT = 20_000

_NUMBER = re.compile(
    r"(?<==)-?\d+|[0-9A-Fa-f]{8,}|\d+"
    r"|(?<![A-Za-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}(?![A-Za-z])",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"-?\d+")
_LETTER = re.compile(r"[^\W\d]")


class Shape:
    """The pages of one shape: how much new they brought lately, and how far their numbers reach."""

    __slots__ = ("_high", "_low", "_recent", "score", "walks")

    def __init__(self) -> None:
        self.score = 0
        self.walks = False
        self._recent: deque[int] = deque(maxlen=_RECENT)
        self._low: Numbers = ()
        self._high: Numbers = ()

    def learn(self, fresh: bool, numbers: Numbers, words: int | None) -> None:
        """Count a page; ``words`` is a hash of its text without numbers, None if it has no text."""
        known = words is not None and words in self._recent
        beyond = not self._low <= numbers <= self._high
        if not fresh:
            self._add(STALE)
            self.walks = False
        elif not known:
            self.score = max(0, self.score - FRESH)
        elif beyond:
            self._add(STEP)
            self.walks = True
        if words is not None and not known:
            self._recent.append(words)
        if beyond:
            self._low = min(self._low or numbers, numbers)
            self._high = max(self._high, numbers)

    def _add(self, points: int) -> None:
        self.score = min(SPENT, self.score + points)


class Traps:
    """What is learnt of the hosts' URL spaces."""

    def __init__(self, shapes: int = _SHAPES) -> None:
        """``shapes`` is how many are remembered over all hosts; those of the hosts learnt longest ago are dropped."""
        self._most = shapes
        self._count = 0
        self._hosts: OrderedDict[str, OrderedDict[str, Shape]] = OrderedDict()
        self._source: Url | None = None
        self._of_source: list[tuple[str, Shape]] = []

    def __len__(self) -> int:
        return self._count + len(self._hosts)

    def learn(self, url: Url, *, fresh: bool, text: str) -> None:
        """A page was stored; ``fresh``: its content is neither a duplicate nor a near-duplicate of another page's."""
        self._source = None
        new_host = self._know(url.host)
        words = _words(text) if len(text) <= _MOST_TEXT and not text.isspace() else None
        numbers = tuple(int(number[:18]) for number in _DIGITS.findall(url.target))
        for shape in shapes(url):
            self._shape(url.host, shape).learn(fresh, numbers, words)
        if new_host and (domain := _parent(url.host)):
            self._know(domain)
            self._shape(domain, "").learn(fresh, (), None)

    def refuses(self, source: Url, target: Url) -> str | None:
        """Why a link leads into a trap, if it does: a short reason that can be counted."""
        if reason := _malformed(target):
            return reason
        if source.host != target.host:
            return self._endless_hosts(source.host, target.host)
        if source is not self._source:
            self._source, self._of_source = source, self._suspects(source)
        if not self._of_source:
            return None
        return self._nothing_new(source, target)

    def _nothing_new(self, source: Url, target: Url) -> str | None:
        known, there = self._hosts[target.host], shapes(target)
        grown = target.href.count("&") > source.href.count("&") or target.href.count("/") > source.href.count("/")
        for name, shape in self._of_source:
            if grown and name in there and name[0] == "/":
                return "growing URLs"
            if shape.score < SPENT:
                continue
            if any(name in known and known[name].score >= SPENT for name in there):
                return "endless numbers" if shape.walks else "nothing new"
        return None

    def _suspects(self, url: Url) -> list[tuple[str, Shape]]:
        """The shapes of a page whose links are looked at closely."""
        known = self._hosts.get(url.host)
        if not known:
            return []
        return [(name, known[name]) for name in shapes(url) if name in known and known[name].score >= GROWN]

    def _endless_hosts(self, source: str, target: str) -> str | None:
        """Names below one domain, each of whose first pages brought nothing new, lead to no further one."""
        domain = _parent(target)
        if not domain or domain not in self._hosts or _parent(source) != domain or target in self._hosts:
            return None
        shape = self._hosts[domain].get("")
        return "endless hosts" if shape is not None and shape.score >= SPENT else None

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

    Numbers, long hexadecimal words and names of months in a path are variable, and so are a query's values. Three
    different parameters or more count as any number of them, for facets combine. Paths in which a segment comes
    twice are one shape below their first segment: relative links on a page that answers under any path make them.
    """
    path, _, query = url.target.partition("?")
    shape = _NUMBER.sub("N", path)
    words = [segment for segment in path.split("/") if _LETTER.search(segment)]
    if len(set(words)) < len(words):
        shape = f"/{words[0]}/**"
    if query:
        names = sorted({_NUMBER.sub("N", pair.partition("=")[0]) for pair in _pairs(query)})
        parameters = "?*" if len(names) > 2 else "?" + "&".join(names)
        return (shape + parameters, parameters)
    return (shape,) if shape != path else ()


def _words(text: str) -> int:
    """What stays the same of a text when only its numbers change."""
    return xxhash.xxh3_64_intdigest(_DIGITS.sub("", text).encode("utf-8", "surrogatepass"))


def _malformed(target: Url) -> str | None:
    """What is wrong with the text of a URL. Ordinary ones cost four counts."""
    href = target.href
    if href.count("/") >= SAME_SEGMENT + 3 and (reason := _path_loop(href)):
        return reason
    if (href.count("&") >= SAME_PAIR or href.count(";") >= SAME_PAIR) and (reason := _query_heap(href)):
        return reason
    if "%25252525" in href:
        return "escapes of escapes"
    if target.host.count(".") >= LABELS:
        return "too many host labels"
    if len(href) >= _LONG and _same_end(href):
        return "repeated text"
    return None


def _path_loop(href: str) -> str | None:
    segments = href.partition("?")[0].split("/")[3:]
    if len(segments) > SEGMENTS:
        return "too many path segments"
    times = Counter(segment for segment in segments if segment)
    if any(count > SAME_SEGMENT and _LETTER.search(segment) for segment, count in times.items()):
        return "repeated path segments"
    return None


def _query_heap(href: str) -> str | None:
    pairs = _pairs(href.partition("?")[2])
    if len(pairs) > PAIRS:
        return "too many parameters"
    if len(pairs) <= SAME_PAIR:
        return None
    if max(Counter(pairs).values()) > SAME_PAIR:
        return "repeated parameters"
    if max(Counter(pair.partition("=")[0] for pair in pairs).values()) > SAME_NAME:
        return "repeated parameter names"
    return None


def _pairs(query: str) -> list[str]:
    """The parameters; an old way of writing separates them by semicolons."""
    return [pair for pair in query.split("&" if "&" in query else ";") if pair]


def _same_end(href: str) -> bool:
    return any(href.endswith(href[-period:] * SAME_END) and len(set(href[-period:])) > 2 for period in range(8, 64))


def _parent(host: str) -> str:
    """The domain above a host name, marked as such; empty for what has none that many hosts could share."""
    above = host.partition(".")[2]
    return f"*.{above}" if "." in above and not above[-1].isdigit() else ""

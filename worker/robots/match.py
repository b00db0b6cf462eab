"""How one rule of a robots.txt meets a URL, and which of many rules decides (RFC 9309 section 2.2.2).

Rules without wildcards lie in a dict by their path, the others in a list by length: a decision costs a few look-ups
however long the file is, and a pattern full of ``*`` is matched in one pass, without backtracking.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import msgspec

from gregor.worker.robots.lines import Line
from gregor.worker.web.http_headers import resolve

# The authority, if any, then path and query; input that is no whole URL is cut as Google's published parser does it.
_PATH = re.compile(r"(?:(?:[^/?;:#]*:)?//)?[^/?;#]*([/?;][^#]*)?")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9/._~?=&:@!'()+,;\[\]%-]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def request_path(href: str) -> str:
    """Path and query of a URL in the form in which rules are compared; ``/`` when there are none."""
    match = _PATH.match(href)
    path = (match and match[1]) or "/"
    return normal(path if path[0] == "/" else f"/{path}")


def normal(path: str) -> str:
    """Percent-encoding made comparable (RFC 9309 section 2.2.2): escapes in upper case, escaped unreserved characters
    decoded, whatever a URI cannot hold escaped by its UTF-8 octets, and so are ``*`` and ``$`` that mean themselves."""
    return _ESCAPED.sub(_escape, path)


def _escape(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    # A faulty octet of the file came as a low surrogate; a URL may hold other lone ones.
    escaped = "\udc80" <= text <= "\udcff"
    return quote_from_bytes(text.encode("utf-8", "surrogateescape" if escaped else "surrogatepass"), safe="")


class Decision(msgspec.Struct, frozen=True):
    """Whether a URL may be fetched, and the line of the file that says so."""

    allowed: bool
    line: int = 0
    """Line number from 1; 0 when no rule matched."""
    rule: str = ""
    """The text of that line, empty when no rule matched."""


class RequestRate(msgspec.Struct, frozen=True):
    """``Request-rate: requests/seconds start-end`` (not in the RFC); the times are UTC as ``HHMM``, if given."""

    requests: int
    seconds: int
    start: str | None = None
    end: str | None = None


class Pattern(NamedTuple):
    """What an Allow or Disallow line matches."""

    weight: int
    """Length of the pattern, doubled, and 1 more for Allow: the longest wins, Allow wins a tie."""
    longest: str
    """The longest literal: a path that lacks it does not match."""
    first: str
    """What the path begins with, up to the first wildcard."""
    rest: tuple[str, ...]
    """The literals after each wildcard."""
    anchored: bool
    source: Line

    def matches(self, path: str) -> bool:
        """One pass over a path in its :func:`normal` form, without backtracking."""
        if not path.startswith(self.first):
            return False
        at = len(self.first)
        if not self.rest:
            return not self.anchored or at == len(path)
        *inner, last = self.rest
        for part in inner:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return path.endswith(last, at) if self.anchored else path.find(last, at) >= 0


def pattern(value: str, source: Line) -> Pattern:
    """The pattern that ``value`` spells, ``*`` being any text and a last ``$`` the end of the URL."""
    anchored = value.endswith("$")
    first, *rest = [normal(part) for part in value.removesuffix("$").split("*")]
    length = len(first) + sum(map(len, rest)) + len(rest) + anchored
    if len(rest) > 1:
        rest = [*filter(None, rest[:-1]), rest[-1]]
    weight = 2 * length + (source[1] == "allow")
    return Pattern(weight, max((first, *rest), key=len), first, tuple(rest), anchored, source)


class Robots:
    """What a robots.txt says to one crawler. Immutable."""

    __slots__ = ("_base", "_lengths", "_literals", "_patterns", "_sitemaps", "crawl_delay", "request_rate", "size")

    def __init__(
        self,
        rules: Iterable[Line] = (),
        crawl_delay: float | None = None,
        request_rate: RequestRate | None = None,
        sitemaps: Iterable[str] = (),
        base: str = "",
    ) -> None:
        self.crawl_delay = crawl_delay
        """Seconds between two requests as the file asks, uncapped; None when it does not say."""
        self.request_rate = request_rate
        self._sitemaps = tuple(sitemaps)
        self._base = base
        self._literals: dict[str, Line] = {}
        self._patterns: list[Pattern] = []
        for line in rules:
            self._add(line)
        self._lengths = sorted({len(path) for path in self._literals})
        self._patterns.sort(key=itemgetter(0), reverse=True)
        kept = [*self._literals.values(), *(each.source for each in self._patterns)]
        self.size = (
            500 + sum(100 + len(value) for value in self._sitemaps) + sum(500 + 3 * len(line[3]) for line in kept)
        )
        """Approximate bytes in memory."""

    def _add(self, line: Line) -> None:
        value = line[2]
        if "*" in value or value[-1:] == "$":
            if value[0] in "/*":
                self._patterns.append(pattern(value, line))
        elif value[:1] == "/":
            path = normal(value)
            if path not in self._literals or (line[1] == "allow" and self._literals[path][1] != "allow"):
                self._literals[path] = line
            head, slash, tail = value.rpartition("/")
            if line[1] == "allow" and tail.startswith("index.htm"):
                # As Google has it: who allows the index page allows its directory.
                self._patterns.append(pattern(f"{head}{slash}$", line))

    @property
    def pace(self) -> float | None:
        """Seconds between two requests by all that the file asks for: the larger of Crawl-delay and Request-rate. A
        rate for some hours holds for all of them, since waiting harms nobody."""
        if self.request_rate is None:
            return self.crawl_delay
        return max(self.crawl_delay or 0.0, self.request_rate.seconds / self.request_rate.requests)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Absolute http(s) URLs in the order of the file, each once; worked out anew at each call.

        A Sitemap line must have a full URL. A path is common enough to be taken, other text is hardly one.
        """
        likely = (value for value in self._sitemaps if value[:4].lower() == "http" or value[:1] == "/")
        return tuple(dict.fromkeys(filter(None, (resolve(value, self._base) for value in likely))))

    def decide(self, href: str) -> Decision:
        """The rule with the longest pattern that matches path and query of ``href``; Allow wins a tie, no match allows,
        and so is /robots.txt itself. Takes any text, never raises."""
        path = request_path(href)
        if path == "/robots.txt":
            return _ALLOWED
        best, weight = self._longest_literal(path)
        for candidate in self._patterns:
            if candidate[0] <= weight:
                break
            if candidate[1] in path and candidate.matches(path):
                best = candidate.source
                break
        return _ALLOWED if best is None else Decision(best[1] == "allow", best[0], best[3].strip())

    def _longest_literal(self, path: str) -> tuple[Line | None, int]:
        """The longest rule without wildcards that matches, and its weight as a pattern."""
        lengths = self._lengths
        for at in range(bisect_right(lengths, len(path)) - 1, -1, -1):
            line = self._literals.get(path[: lengths[at]])
            if line is not None:
                return line, 2 * lengths[at] + (line[1] == "allow")
        return None, 0


_ALLOWED = Decision(True)

ALLOW_ALL = Robots()
"""No rule at all, as for a robots.txt that does not exist."""
DISALLOW_ALL = Robots([(0, "disallow", "/", "")])
"""Nothing but /robots.txt itself."""

"""How one rule of a robots.txt meets a URL, and which of many rules decides (RFC 9309 section 2.2.2).

Rules without wildcards lie in a dict by their path, the others in a list by length: a decision costs a few look-ups
however long the file is, and a pattern full of ``*`` is matched in one pass, without backtracking.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import msgspec

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
    found = match[0]
    if len(found) == 3:
        character = chr(int(found[1:], 16))
        return character if character in _UNRESERVED else found.upper()
    # A faulty octet of the file came as a low surrogate; a URL may hold other lone ones.
    escaped = "\udc80" <= found <= "\udcff"
    return quote_from_bytes(found.encode("utf-8", "surrogateescape" if escaped else "surrogatepass"), safe="")


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


class Rule(NamedTuple):
    """One Allow or Disallow line."""

    weight: int
    """Length of the pattern, doubled, and 1 more for Allow: the longest wins, Allow wins a tie."""
    first: str
    """What the path begins with, up to the first wildcard."""
    rest: tuple[str, ...]
    """The literals after each wildcard."""
    anchored: bool
    decision: Decision

    def matches(self, path: str) -> bool:
        """One pass over a path in its :func:`normal` form."""
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


def rules(value: str, decision: Decision) -> Iterator[Rule]:
    """The rules that a line asks for; none when its value is empty or cannot match any path."""
    if not value.startswith(("/", "*")):
        return
    yield _rule(value, decision)
    head, slash, tail = value.rpartition("/")
    if decision.allowed and tail.startswith("index.htm"):
        # As Google has it: who allows the index page allows its directory.
        yield _rule(f"{head}{slash}$", decision)


def _rule(value: str, decision: Decision) -> Rule:
    anchored = value.endswith("$")
    first, *rest = [normal(part) for part in value.removesuffix("$").split("*")]
    length = len(first) + sum(map(len, rest)) + len(rest) + anchored
    if len(rest) > 1:
        rest = [*filter(None, rest[:-1]), rest[-1]]
    return Rule(2 * length + decision.allowed, first, tuple(rest), anchored, decision)


class Robots:
    """What a robots.txt says to one crawler. Immutable."""

    __slots__ = ("_lengths", "_literals", "_patterns", "crawl_delay", "request_rate", "sitemaps", "size")

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        crawl_delay: float | None = None,
        request_rate: RequestRate | None = None,
        sitemaps: tuple[str, ...] = (),
    ) -> None:
        self.crawl_delay = crawl_delay
        """Seconds between two requests as the file asks, uncapped; None when it does not say."""
        self.request_rate = request_rate
        self.sitemaps = sitemaps
        """Absolute http(s) URLs in the order of the file, each once."""
        self.size = 500 + sum(100 + len(url) for url in sitemaps)
        """Approximate bytes in memory."""
        self._literals: dict[str, Rule] = {}
        self._patterns: list[Rule] = []
        for rule in rules:
            self.size += 400 + 2 * rule.weight + len(rule.decision.rule)
            if rule.rest or rule.anchored:
                self._patterns.append(rule)
            elif rule.weight > self._literals.get(rule.first, _NO_RULE).weight:
                self._literals[rule.first] = rule
        self._lengths = sorted({len(path) for path in self._literals}, reverse=True)
        self._patterns.sort(key=lambda rule: -rule.weight)

    def decide(self, href: str) -> Decision:
        """The rule with the longest pattern that matches path and query of ``href``; Allow wins a tie, no match allows,
        and so is /robots.txt itself. Takes any text, never raises."""
        path = request_path(href)
        if path == "/robots.txt":
            return _ALLOWED
        best = _NO_RULE
        for length in self._lengths:
            found = self._literals.get(path[:length])
            if found is not None:
                best = found
                break
        for rule in self._patterns:
            if rule.weight <= best.weight:
                break
            if path.startswith(rule.first) and rule.matches(path):
                return rule.decision
        return best.decision


_ALLOWED = Decision(True)
_NO_RULE = Rule(0, "", (), False, _ALLOWED)

ALLOW_ALL = Robots()
"""No rule at all, as for a robots.txt that does not exist."""
DISALLOW_ALL = Robots(rules("/", Decision(False)))
"""Nothing but /robots.txt itself."""

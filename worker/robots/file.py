"""robots.txt: what one crawler may fetch of one origin, how long that holds (RFC 9309). Pure."""

import re
from collections.abc import Mapping
from typing import Final

from gregor.worker.robots import lines as robots_lines
from gregor.worker.robots.agents import affinity, is_product_token, names, product_token
from gregor.worker.robots.match import ALLOW_ALL, DISALLOW_ALL, Decision, RequestRate, Robots
from gregor.worker.web import http_headers
from gregor.worker.web.loose_values import span_in_prose

__all__ = [
    "ALLOW_ALL",
    "DISALLOW_ALL",
    "MAX_BYTES",
    "Decision",
    "RequestRate",
    "Robots",
    "is_product_token",
    "parse",
    "product_token",
    "time_to_live",
    "usable_last_good",
]

MAX_BYTES: Final = robots_lines.MAX_BYTES
MAX_TTL: Final = 86_400.0
"""Seconds after which a copy is stale, whatever its headers say (RFC 9309 section 2.4)."""
LAST_GOOD: Final = 30 * 86_400.0
"""Seconds for which the last good copy stands in for an unreachable file (RFC 9309 section 2.3.1.4)."""

_MAX_SITEMAPS = 5_000
_NUMBER = (
    r"(\d{1,300}(?:[.,]\d{0,300})?|[.,]\d{1,300})"
    r"\s*(s|secs?|seconds?|ms|m|mins?|minutes?|h|hrs?|hours?|d|days?)?"
)
"""Of a Crawl-delay, with its unit; 300 digits are a number that is finite."""
_DELAY = re.compile(rf"{_NUMBER}\.?(?:\s*[-\u2013]\s*{_NUMBER}\.?)?", re.ASCII | re.IGNORECASE)
"""A number, or two as the ends of a range."""
_AROUND: Final = " \t\"'=;,"
"""What may stand around a delay: quotes, as in other files, and what ends a line there."""
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)(?:\s+(\d{4})\s*-\s*(\d{4}))?", re.ASCII | re.IGNORECASE)
_UNITS: Final = {"m": 60.0, "h": 3600.0, "d": 86_400.0}
"""Seconds of the units that a Crawl-delay may have, by their first letter; "ms" counts as seconds: who writes it may
mean what others read.
"""
_UNIT = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def parse(body: bytes, agent: str, base: str = "") -> Robots:
    """What a robots.txt says to ``agent``, a product token or a whole User-Agent. ``base`` is the URL of the file, for
    relative Sitemap lines. Reads MAX_BYTES at most (hand in one byte more when there are more); never raises.

    All groups that name the crawler best are one (RFC 9309 section 2.2.1); if none does, those for ``*``. A Crawl-delay
    before any group holds for a crawler whose group has none.
    """
    reader = _Reader(agent, base)
    for line in robots_lines.lines(body):
        reader.read(line)
    return reader.robots()


class _Group:
    """What the file says to everyone (``*``), or to whom it names as well as it names us."""

    def __init__(self) -> None:
        self.rules: list[robots_lines.Line] = []
        self.crawl_delay: float | None = None
        self.request_rate: RequestRate | None = None


class _Reader:
    """Collects the groups that concern one crawler, line by line.

    Rules and paces (Crawl-delay, Request-rate) each have their own list of current agents: a pace ends the list for
    further paces, but must not interfere with the grouping of rules (RFC 9309 section 2.2.4).
    """

    def __init__(self, agent: str, base: str) -> None:
        self._names = names(agent)
        self._base = base
        self._groups: dict[int, _Group] = {}
        self._ruled: list[_Group] = []
        self._paced: list[_Group] = []
        self._ruled_closed = self._paced_closed = True
        self._started = False
        self._default_delay: float | None = None
        self._sitemaps: list[str] = []

    def read(self, line: robots_lines.Line) -> None:
        _, kind, value, _ = line
        if kind == "disallow" or kind == "allow":
            self._ruled_closed = self._paced_closed = True
            for group in self._ruled:
                group.rules.append(line)
        elif kind == "user-agent":
            self._agent(affinity(value, self._names))
        elif kind == "crawl-delay" and (delay := _seconds(value)) is not None:
            self._crawl_delay(delay)
        elif kind == "request-rate" and (rate := _request_rate(value)):
            self._paced_closed = True
            for group in self._paced:
                group.request_rate = group.request_rate or rate
        elif kind == "sitemap" and len(self._sitemaps) < _MAX_SITEMAPS:
            self._sitemaps.append(value)

    def robots(self) -> Robots:
        group = self._groups[max(self._groups)] if self._groups else _Group()
        delay = self._default_delay if group.crawl_delay is None else group.crawl_delay
        return Robots(group.rules, delay, group.request_rate, self._sitemaps, self._base)

    def _agent(self, affinity: int) -> None:
        self._started = True
        if self._ruled_closed:
            self._ruled, self._ruled_closed = [], False
        if self._paced_closed:
            self._paced, self._paced_closed = [], False
        if affinity:
            group = self._groups.setdefault(affinity, _Group())
            if group not in self._ruled:
                self._ruled.append(group)
            if group not in self._paced:
                self._paced.append(group)

    def _crawl_delay(self, delay: float) -> None:
        self._paced_closed = True
        if not self._started:
            self._default_delay = max(delay, self._default_delay or 0.0)
        for group in self._paced:
            group.crawl_delay = max(delay, group.crawl_delay or 0.0)


def _seconds(value: str) -> float | None:
    """The Crawl-delay that a value asks for, None if it is none. It has whole seconds (no RFC): whatever else may be
    meant, the larger reading is taken, since waiting longer harms nobody; also of what a sentence says."""
    match = _DELAY.fullmatch(value.strip(_AROUND).removeprefix("+"))
    if match is None:
        return span_in_prose(value)
    first, unit, last, last_unit = (part or "" for part in match.groups())
    ends = ((first, unit or last_unit), (last or first, last_unit or unit))
    return max(float(number.replace(",", ".")) * _seconds_of(unit) for number, unit in ends)


def _seconds_of(unit: str) -> float:
    return 1.0 if unit.lower() == "ms" else _UNITS.get(unit[:1].lower(), 1.0)


def _request_rate(value: str) -> RequestRate | None:
    match = _RATE.fullmatch(value)
    if match is None or not int(match[1]) or not int(match[2]):
        return None
    return RequestRate(int(match[1]), int(match[2]) * _UNIT[match[3].lower()], match[4], match[5])


def time_to_live(
    headers: Mapping[str, str], now: float | None, default: float = MAX_TTL, minimum: float = 0.0
) -> float:
    """Seconds for which a copy may be used (RFC 9309 section 2.4): what Cache-Control or Expires say, ``default`` when
    they say nothing, at least ``minimum`` and at most a day. ``now`` is POSIX time; without it Expires needs a Date."""
    lifetime = http_headers.freshness(headers, now)
    return min(MAX_TTL, max(minimum, default if lifetime is None else lifetime))


def usable_last_good(fetched_at: float, now: float, longest: float = LAST_GOOD) -> bool:
    """Whether a copy from ``fetched_at`` still stands in for a file that is unreachable ``now`` (both in seconds of
    one clock). After ``longest``, and without a copy, the origin stays closed."""
    return 0.0 <= now - fetched_at <= longest

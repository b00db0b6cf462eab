"""URLs whose own text tells that a machine made them by mistake: loops and heaps that no site means. Pure."""

import re
from collections import Counter

from gregor.worker.web.urls import Url

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

LETTER = re.compile(r"[^\W\d]")
_LONG = 200
_SHORTEST, _LONGEST = 8, 63
"""Characters of what is repeated at the end of a long URL."""


def malformed(target: Url) -> str | None:
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
    if len(segments) - len(set(segments)) < SAME_SEGMENT:
        return None  # nothing can stand there once more often than it may
    times = Counter(segment for segment in segments if segment)
    if any(count > SAME_SEGMENT and LETTER.search(segment) for segment, count in times.items()):
        return "repeated path segments"
    return None


def _query_heap(href: str) -> str | None:
    parameters = pairs(href.partition("?")[2])
    if len(parameters) <= SAME_PAIR:
        return None
    if len(parameters) > PAIRS:
        return "too many parameters"
    if max(Counter(parameters).values()) > SAME_PAIR:
        return "repeated parameters"
    if max(Counter(pair.partition("=")[0] for pair in parameters).values()) > SAME_NAME:
        return "repeated parameter names"
    return None


def _same_end(href: str) -> bool:
    """Whether a script glues its own name to where it is; a row of one or two characters may mean something. What is
    repeated ends as the URL does, so that only the places of that end need be looked at."""
    end = at = len(href) - _SHORTEST
    if len(set(href[-_LONGEST:])) <= 2:
        return False
    while (at := href.rfind(href[end:], max(0, end - _LONGEST), at + _SHORTEST - 1)) >= 0:
        repeated = href[at - end :]
        if end - at >= _SHORTEST and href.endswith(repeated * SAME_END) and len(set(repeated)) > 2:
            return True
    return False


def pairs(query: str) -> list[str]:
    """The parameters; an old way of writing separates them by semicolons."""
    return [pair for pair in query.split("&" if "&" in query else ";") if pair]

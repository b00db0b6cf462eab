"""What a page asks of robots that have fetched it: meta robots elements and X-Robots-Tag headers. Pure, never raises.

There is no RFC; this follows Google's published rules. Everything that names all robots or this one counts, and the
most restrictive wins: a permission never takes a restriction back.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from gregor.worker.robots.file import product_token
from gregor.worker.web.http_headers import any_date


class Directives(msgspec.Struct, frozen=True):
    """The restrictions in force for one page."""

    noindex: bool = False
    """Also when ``unavailable_after`` has passed."""
    nofollow: bool = False
    noarchive: bool = False
    nosnippet: bool = False
    noimageindex: bool = False
    notranslate: bool = False
    noodp: bool = False
    noai: bool = False
    noimageai: bool = False
    unavailable_after: float | None = None
    """POSIX time from which the page is not to be shown; the earliest one stated."""


_FLAGS = tuple(name for name in Directives.__struct_fields__ if name != "unavailable_after")
_IMPLIED = {name: (name,) for name in _FLAGS} | {"none": ("noindex", "nofollow"), "nocache": ("noarchive",)}
# Directives that have a value behind a colon, where another name would be that of a robot.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_VALUE = re.compile(rf"(?:{'|'.join(sorted(_VALUED))})\s*:\s*\S*")
_EVERYONE = frozenset({"robots", "*"})
MAX_TEXT: Final = 256 * 1024
"""Characters of all that speaks to robots that are read: no page that means it says so much."""
_SEPARATOR = re.compile(r"[,;]")
_WEEKDAY = re.compile(r"\s*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\s*", re.IGNORECASE)


def meta_robots(entries: Iterable[tuple[str, str]], headers: Iterable[str], agent: str, now: float) -> Directives:
    """The restrictions that hold for ``agent`` (its product token or whole User-Agent) at POSIX time ``now``.

    ``entries`` are name and content of the page's meta elements, ``headers`` the X-Robots-Tag values, each of which may
    name a robot before its directives ("agent: directive, …"). Unknown directives are ignored. Of either, `MAX_TEXT`
    is read.
    """
    ours = {agent.strip().lower(), product_token(agent).lower(), *_EVERYONE} - {""}
    words: set[str] = set()
    dates: list[float] = []
    room = MAX_TEXT
    for name, content in entries:
        if name.strip().lower() in ours:
            _collect(((None, directive) for directive in _split(content[:room])), ours, words, dates)
            room = max(0, room - len(content))
    room = MAX_TEXT
    for header in headers:
        _collect(_addressed(header[:room]), ours, words, dates)
        room = max(0, room - len(header))
    unavailable_after = min(dates, default=None)
    if unavailable_after is not None and unavailable_after <= now:
        words.add("noindex")
    return Directives(**dict.fromkeys(words, True), unavailable_after=unavailable_after)


def names(directives: Directives) -> list[str]:
    """The restrictions in force, by name."""
    return [name for name in _FLAGS if getattr(directives, name)]


def _collect(directives: Iterable[tuple[str | None, str]], ours: set[str], words: set[str], dates: list[float]) -> None:
    for robot, directive in directives:
        if robot is not None and robot not in ours:
            continue
        name, colon, value = directive.partition(":")
        if colon and name.strip() == "unavailable_after":
            date = any_date(value)
            dates += [] if date is None else [date]
            continue
        for word in _VALUE.sub(" ", directive).split():  # the "none" of a preview is not that of robots
            words.update(_IMPLIED.get(word, ()))


def _addressed(header: str) -> Iterator[tuple[str | None, str]]:
    """Each directive of a header with the robot it is for, None meaning all: a name holds until the next one."""
    robot = None
    for directive in _split(header):
        name, colon, rest = directive.partition(":")
        words = name.split()
        if colon and words and words[-1] not in _VALUED:
            robot, directive = name.strip(), rest.strip()
        yield robot, directive


def _split(text: str) -> Iterator[str]:
    """The directives, in lower case. A date may have a comma behind its weekday."""
    pending = ""
    for part in _SEPARATOR.split(text.lower()):
        _, colon, value = part.rpartition("unavailable_after:")
        if colon and _WEEKDAY.fullmatch(value):
            if pending:
                yield pending
            pending = part.strip()
        else:
            yield f"{pending}, {part}".strip() if pending else part.strip()
            pending = ""
    if pending:
        yield pending

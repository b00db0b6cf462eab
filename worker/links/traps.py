"""Traps: endless URL spaces that a site makes without meaning to. Pure, bounded in memory.

The evidence is what pages of the same *shape* brought (``shapes``). Each shape has a score that rises with every page
that brought nothing new and falls much faster with every page that did; only the same words count as nothing new, never
words that are nearly the same. What is learnt orders a host's URLs (`Standing`): what looks endless or brings little
sinks behind the rest, and a shape that is spent waits until nothing else of the host is left. Then some of its URLs are
tried, from all over it. One page with something new opens it again; only when all trials were in vain is the rest
refused.

What is learnt lives as long as the process: after a restart a trap has to be found again.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec

from gregor.schemas.messages import PRIORITIES, Ticket
from gregor.worker.links.echoes import Words, words_of
from gregor.worker.links.shapes import looks_endless, numbers, section, sessionless, shapes, target_of
from gregor.worker.web.urls import Url

Numbers = tuple[int, ...]

SPENT: Final = 240
"""The score from which on a shape is spent."""
SUNK: Final = 80
"""The score from which on a shape's URLs are visited after those of others."""
STALE: Final = 20
"""What a page adds that has the words and numbers of another one: 12 in a row spend a shape."""
STEP: Final = 16
"""What a page adds whose words were there before and whose number lies beyond all others': 15 steps spend a shape."""
BETWEEN: Final = 8
"""What a page adds whose words were there before and whose number lies between others."""
FRESH: Final = 160
"""What a page with something new takes off: one in eight keeps its shape from being spent."""
LED: Final = 40
"""What a page with something new takes off the shape of the page that led to it, if that is another shape."""
HOST: Final = 6
"""What a host adds to the names below its domain whose first page has the content of another's: 40 in a row."""
TRIALS: Final = 5
"""How many URLs of a spent shape are tried in any case."""
TRIAL_SHARE: Final = 16
"""One more URL of spent shapes is tried for so many pages of the host that brought something new."""
LARGE: Final = 32
"""Pages from which on a section gives way to smaller ones."""
KNOWN: Final = 3
"""Pages with something new from which on a shape speaks for a URL that has another, spent shape too."""

SESSIONS: Final = 4
"""Pages that were there before under another session id, from which on such ids are known to name no page."""

_BARE: Final = 4096
_SHAPES: Final = 32768
_HOST_SHAPES: Final = 64
_TEXTS: Final = 128


class Standing(IntEnum):
    """How a URL stands among those of its host: the lower, the sooner."""

    OPEN = 0
    LARGE = 1
    SUNK = 2
    SPENT = 3
    """It waits until nothing else is left, and may be tried then."""
    REFUSED = 4
    """It waits as well, and is refused then."""


class Shape:
    """The pages of one shape: how much new they brought lately, and how far their numbers reach."""

    __slots__ = ("_bare", "_full", "_high", "_low", "fresh", "pages", "score", "trials", "walks")

    def __init__(self) -> None:
        self.score = 0
        self.walks = False
        self.pages = self.fresh = 0
        self.trials = 0
        """Pages in vain since it was spent."""
        self._full = array("Q")
        self._bare = array("Q")
        self._low: Numbers = ()
        self._high: Numbers = ()

    def learn(self, copy: bool, numbers: Numbers, words: Words | None) -> bool:
        """Count a page, ``copy`` being whether its content is another page's; ``words`` is None if it has no text.

        Gives whether it brought something new.
        """
        self.pages += 1
        spent = self.score >= SPENT
        known = words is not None and self._remember(self._bare, words.bare)
        same = words is not None and self._remember(self._full, words.full)
        step = self._reaches(numbers)
        if not (copy or known):
            self.fresh += 1
            self.add(-FRESH)
            return True
        self.walks = bool(numbers) and not (copy or same)
        self.add(STALE if not self.walks else STEP if step else BETWEEN)
        self.trials += spent
        return False

    def _remember(self, texts: "array[int]", text: int) -> bool:
        """Whether a text is one of the last ones; remembers it."""
        if text in texts:
            return True
        if len(texts) < _TEXTS:
            texts.append(text)
        else:
            texts[self.pages % _TEXTS] = text
        return False

    def _reaches(self, numbers: Numbers) -> bool:
        """Whether the numbers lie beyond those of all pages before."""
        if self.pages > 1 and self._low <= numbers <= self._high:
            return False
        self._low = numbers if self.pages == 1 else min(self._low, numbers)
        self._high = max(self._high, numbers)
        return True

    def add(self, points: int) -> None:
        """Change the score."""
        self.score = max(0, min(SPENT, self.score + points))
        if self.score < SPENT:
            self.trials = 0


class _Host:
    """What is learnt of a host, or of the names below a domain."""

    __slots__ = ("bare", "fresh", "sections", "sessions", "shapes", "trials")

    def __init__(self) -> None:
        self.shapes: OrderedDict[str, Shape] = OrderedDict()
        self.sections: dict[str, int] = {}
        self.bare: set[int] = set()
        """Targets of pages without their session ids, as hashes, once one had such an id."""
        self.sessions = 0
        """How often a page was the same under another id, less what speaks against it."""
        self.fresh = 0
        self.trials = 0
        """Pages in vain of shapes that were spent."""

    def count(self, name: str) -> None:
        """A page of a section was stored."""
        if name in self.sections or len(self.sections) < _HOST_SHAPES:
            self.sections[name] = self.sections.get(name, 0) + 1

    def learn_session(self, target: str, fresh: bool) -> None:
        """A page was stored: is what may be a session id in its URL one, or does it name another page?"""
        bare = sessionless(target)
        if bare == target and not self.bare:
            return
        if (known := hash(bare)) not in self.bare:
            self.bare.update((known,) if len(self.bare) < _BARE else ())
        elif bare != target:
            self.sessions = max(-SESSIONS, min(2 * SESSIONS, self.sessions + (-2 if fresh else 1)))


_NOTHING: Final = _Host()


class Judged(NamedTuple):
    """A standing, its reason for who asks why, and the section of the site: those that sank take turns."""

    standing: Standing
    reason: str = ""
    section: str = ""


_OPEN: Final = Judged(Standing.OPEN)


class Traps:
    """What is learnt of the hosts' URL spaces."""

    def __init__(self, shapes: int = _SHAPES) -> None:
        """``shapes`` is how many are remembered over all hosts; those of the hosts learnt longest ago are dropped."""
        self._most = shapes
        self._count = 0
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._source: Url | None = None
        self._suspect = False

    def __len__(self) -> int:
        return self._count + len(self._hosts)

    def learn(self, url: Url, *, text: str, media: Iterable[str] = (), copy_of: str = "", via: str = "") -> None:
        """A page was stored. ``media``: URLs of the images and the like that it shows; ``copy_of``: the key of the page
        whose content it has; ``via``: that of the page whose link led to it."""
        self._source = None
        new_host = url.host not in self._hosts
        host = self._know(url.host)
        names, copied = shapes(url.target), bool(copy_of)
        if copied and self._is_the_copy(copy_of, url, names):
            copied = False
            for name in shapes(target_of(copy_of)):
                if name in host.shapes:
                    host.shapes[name].add(STALE)
        host.count(section(url.target))
        fresh = not copied
        if names:
            words = words_of(text, url.target, media) if text.strip() else None
            row = numbers(url.target)
            spent = any(name in host.shapes and host.shapes[name].score >= SPENT for name in names)
            brought = [self._shape(host, name).learn(copied, row, words) for name in names]
            fresh = fresh and all(brought)
            host.trials += spent and not fresh
        host.learn_session(url.target, fresh)
        host.fresh += fresh
        if fresh and via and _host_of(via) == url.host:
            self._credit(host, names, via)
        if new_host and (domain := _parent(url.host)):
            below = self._shape(self._know(domain), "")
            below.add(HOST if copy_of else -FRESH)

    def judge(self, ticket: Ticket) -> Judged:
        """How the URL of a ticket stands among those of its host, as far as is known now."""
        if ticket.kind != "new" or ticket.ordered or ticket.depth == 0 or ticket.link in ("sitemap", "url"):
            return _OPEN
        target = target_of(ticket.key)
        names, part = shapes(target), section(target)
        host = self._hosts.get(ticket.host, _NOTHING)
        if host.sessions >= SESSIONS and (bare := sessionless(target)) != target:
            if hash(bare) in host.bare:
                return Judged(Standing.REFUSED, "session id", part)
            if len(host.bare) < _BARE:
                return _OPEN  # a page that is new under whatever session
        known = [shape for name in names if (shape := host.shapes.get(name)) is not None]
        worst = max(known, key=lambda shape: shape.score, default=None)
        if worst is not None and worst.score >= SUNK:
            good = any(shape.fresh >= KNOWN and shape.score < SUNK for shape in known)
            if worst.score < SPENT or good:
                return Judged(Standing.SUNK, "little new", part)
            return Judged(self._of_spent(host, worst, names, ticket), _reason(worst), part)
        if looks_endless(target, names):
            return Judged(Standing.SUNK, "looks endless", part)
        if host.sections.get(part, 0) > LARGE:
            return Judged(Standing.LARGE, "many of one kind", part)
        return _OPEN

    def ranked(self, ticket: Ticket) -> Ticket:
        """A ticket as it is published: what looks endless, or brings little, goes to the last front queue."""
        if self.judge(ticket).standing < Standing.SUNK:
            return ticket
        return msgspec.structs.replace(ticket, priority=PRIORITIES[-1])

    def _of_spent(self, host: _Host, shape: Shape, names: tuple[str, ...], ticket: Ticket) -> Standing:
        if shape.trials < TRIALS or host.trials * TRIAL_SHARE < host.fresh:
            return Standing.SPENT
        # What somebody lists has an end, even if there is next to nothing on it but a number.
        return Standing.SUNK if shape.walks and not _leads_itself(names, ticket) else Standing.REFUSED

    def suspects(self, source: Url) -> bool:
        """Whether any link of a page may be refused: asked once a page, and as a rule not so."""
        if source is not self._source:
            self._source, self._suspect = source, self._suspicion(source)
        return self._suspect

    def refuses(self, source: Url, target: Url) -> str | None:
        """Why what was learnt of the pages speaks against publishing a link, if it does: a short reason that can be
        counted. Names below one domain, the first pages of which brought nothing new, lead to no further one."""
        if not self.suspects(source) or source.host == target.host:
            return None
        domain = _parent(source.host)
        return "endless hosts" if _parent(target.host) == domain and target.host not in self._hosts else None

    def _suspicion(self, url: Url) -> bool:
        below = self._hosts.get(_parent(url.host), _NOTHING).shapes.get("")
        return below is not None and below.score >= SPENT

    def _is_the_copy(self, other: str, url: Url, names: tuple[str, ...]) -> bool:
        """Whether of two URLs of one host with the same content, the one that came first is the odd one."""
        if _host_of(other) != url.host:
            return False
        there = target_of(other)
        theirs = shapes(there)
        return set(theirs).isdisjoint(names) and _oddness(there, theirs) > _oddness(url.target, names)

    def _credit(self, host: _Host, names: tuple[str, ...], via: str) -> None:
        """What leads to something new is no trap itself."""
        led = shapes(target_of(via)) if any(shape.score for shape in host.shapes.values()) else ()
        if set(led).isdisjoint(names):
            for name in led:
                if name in host.shapes:
                    host.shapes[name].add(-LED)

    def _know(self, name: str) -> _Host:
        """A page of the host was stored."""
        if name not in self._hosts:
            self._hosts[name] = _Host()
        self._hosts.move_to_end(name)
        self._forget()
        return self._hosts[name]

    def _forget(self) -> None:
        while len(self) > self._most and len(self._hosts) > 1:
            self._count -= len(self._hosts.popitem(last=False)[1].shapes)

    def _shape(self, host: _Host, name: str) -> Shape:
        known = host.shapes
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


def _reason(shape: Shape) -> str:
    return "endless numbers" if shape.walks else "nothing new"


def _leads_itself(names: tuple[str, ...], ticket: Ticket) -> bool:
    """Whether a page of a shape of its own led to a URL."""
    return _host_of(ticket.via) == ticket.host and not set(names).isdisjoint(shapes(target_of(ticket.via)))


def _oddness(target: str, names: tuple[str, ...]) -> tuple[bool, int]:
    return looks_endless(target, names), len(target)


def _host_of(key: str) -> str:
    """The host of a canonical URL, as :attr:`Url.host` has it: with its port unless that is 80 or 443."""
    return key.split("/", 3)[2] if "://" in key else ""


def _parent(host: str) -> str:
    """The domain above a host name, marked as such; empty for what has none that many hosts could share."""
    above = host.partition(".")[2]
    return f"*.{above}" if "." in above and not above[-1].isdigit() else ""

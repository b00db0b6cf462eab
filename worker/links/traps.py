"""Traps: endless URL spaces that a site makes without meaning to. Pure, bounded in memory.

The evidence is what pages of the same *shape* brought (``shapes``, ``shape_score``). Each shape has a score that rises
with every page that brought nothing new and falls much faster with every page that did; only the same words count as
nothing new, never words that are nearly the same. What is learnt orders a host's URLs (`Rank`): what looks endless
or brings little sinks behind the rest, and a shape that is spent waits until nothing else of the host is left. Then its
URLs are visited too, those first that were found furthest on. One page with something new opens the shape again.

Refused is only what is endless besides: what pages in vain lead to, once a line of them, each found on the one before,
has gone on for long (``chains``). Pages that are alike are many, not endless: however many a list names, they are
visited. What was refused is set aside (``refusals``), and comes back when pages of its shape bring something new.

What is learnt lies in memory; what sank is kept in the record of its host besides (`changes`, `recall`), so that a
later owner need not find a trap again, and refused names in that of a partition (`endless_hosts`).
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Final

import msgspec

from gregor.schemas.messages import PRIORITIES, Ticket
from gregor.worker.links.chains import Chains
from gregor.worker.links.echoes import words_of
from gregor.worker.links.endless_hosts import EndlessHosts, RefusedNames, domain_of
from gregor.worker.links.known_host import KnownHost
from gregor.worker.links.rank import (
    COMBINES,
    ENDLESS_HOSTS,
    ENDLESS_NUMBERS,
    LOOKS_DATED,
    LOOKS_ENDLESS,
    LOOKS_PAST,
    NOTHING_NEW,
    SESSION_ID,
    Judged,
    Rank,
)
from gregor.worker.links.refusals import KEPT_EVERY, RefusedUrls
from gregor.worker.links.shape_score import LINE, NEARLY, SPENT, SUNK, Shape
from gregor.worker.links.shapes import host_of_key, narrow, numbers, sessionless, shapes, target_of, view
from gregor.worker.web.urls import Url

TRIALS: Final = 5
"""How many URLs of a spent shape are tried in any case."""
TRIAL_SHARE: Final = 16
"""One more URL of spent shapes is tried for so many pages of the host that brought something new."""
ROW: Final = 300
"""Pages in vain that a row may have on a site of which nothing else is known."""
ROW_SHARE: Final = 0.15
"""The same on a large site, for each page that brought something new."""
LARGE: Final = 32
"""Pages from which on a section gives way to smaller ones."""
KNOWN: Final = 3
"""Pages with something new from which on a shape speaks for a URL that has another, spent shape too."""

YEAR: Final = 31_556_952.0
"""Seconds."""
MOST_YEAR: Final = 9999
_SHAPES: Final = 32768
_NOTHING: Final = KnownHost()
_OPEN: Final = Judged(Rank.OPEN)
_SCORE: Final = attrgetter("score")


class Traps:
    """What is learnt of the hosts' URL spaces."""

    def __init__(self, shapes: int = _SHAPES, partition_of: Callable[[str], int] = lambda host: 0) -> None:
        """``shapes`` is how many are remembered over all hosts; those of the hosts learnt longest ago are dropped.
        ``partition_of`` a host: see `RefusedNames`."""
        self._most = shapes
        self._count = 0
        self._hosts: OrderedDict[str, KnownHost] = OrderedDict()
        self._domains = EndlessHosts(shapes)
        self._chains = Chains()
        self._refusals = RefusedUrls()
        self.refused_names = RefusedNames(partition_of)
        self._source: Url | None = None
        self._suspect = False

    def __len__(self) -> int:
        return self._count + len(self._hosts)

    def learn(
        self, url: Url, *, text: str, media: Iterable[str] = (), copy_of: str = "", via: str = "", near: bool = False
    ) -> None:
        """A page was stored. ``media``: URLs of the images and the like that it shows; ``copy_of``: the key of the page
        whose content it has; ``via``: that of the page whose link led to it; ``near``: it is a near-duplicate. Text and
        media are looked at only where that may tell anything."""
        self._source = None
        target, host = url.target, self._know(url.host) or self._meet(url.host, bool(copy_of), host_of_key(via))
        words = partial(words_of, text, target, media) if shapes(target) and text and not text.isspace() else None
        # A page of another host is no evidence against this one: mirrors have an end.
        twin = target_of(copy_of) if copy_of and (words is None or host_of_key(copy_of) == url.host) else ""
        before = len(host.shapes)
        led = via if host_of_key(via) == url.host else ""
        fresh = host.learn(url.key, target, words, copy_of=twin, via=led, chains=self._chains)
        self._refusals.brought(url.host, shapes(target), url.key, fresh)
        host.note_nearly(target, near)
        self._count += len(host.shapes) - before
        self._forget()

    def changes(self, host: str) -> bytes | None:
        """What the record of a host should hold of it now, if that is something else than when this was asked last."""
        known = self._hosts.get(host)
        return known.kept(self._refusals.kept(host)) if known is not None and known.changed else None

    def set_aside(self, ticket: Ticket) -> None:
        """A URL is refused, as it was judged: remember it, as long as there is room, under the worst of its shapes."""
        host = self._hosts.get(ticket.host, _NOTHING)
        its_shapes = {name: shape for name in shapes(target_of(ticket.key)) if (shape := host.shapes.get(name))}
        if its_shapes:
            worst = max(its_shapes, key=lambda name: its_shapes[name].score)
            count = self._refusals.add(ticket.host, worst, ticket.key)
            host.changed = host.changed or count & (count - 1) == 0 or count % KEPT_EVERY == 0

    def returning(self, host: str) -> list[str]:
        """The keys of URLs of a host that were refused and come back now, until they `came_back`."""
        return self._refusals.returning(host)

    def came_back(self, host: str, keys: Iterable[str]) -> None:
        """They are asked for now."""
        self._refusals.came_back(host, keys)

    def recall(self, host: str, learnt: bytes) -> None:
        """The record of a host was read: go on from there, unless more is known. Raises `msgspec.MsgspecError` or
        OverflowError if it is damaged."""
        if learnt and host not in self._hosts:
            recalled = KnownHost()
            self._refusals.recall(host, recalled.recall(learnt))
            self._hosts[host] = recalled
            self._count += len(recalled.shapes)
            self._forget()

    def judge(self, ticket: Ticket) -> Judged:
        """How the URL of a ticket stands among those of its host, as far as is known now."""
        if ticket.kind != "new" or ticket.ordered or ticket.depth == 0 or ticket.link in ("sitemap", "url"):
            return _OPEN
        if ticket.requisite:  # no page: it has a bound of its own
            return _OPEN
        target = target_of(ticket.key)
        names, part, endless, dated, below, frame, combines = view(target)
        host = self._hosts.get(ticket.host, _NOTHING)
        its_shapes = [shape for name in names if (shape := host.shapes.get(name)) is not None]
        if host.sessions.proven and (bare := sessionless(target)) != target:
            repeats = host.sessions.repeats(bare)
            if repeats is False:
                return Judged(Rank.OPEN, section=part)  # a page that is new under whatever session
            if repeats:
                return Judged(_of_session(its_shapes, names, ticket), SESSION_ID, part, _spare(host))
        worst = max(its_shapes, key=_SCORE, default=None)
        if worst is not None and worst.score >= SUNK:
            good = any(shape.fresh >= KNOWN and shape.score < SUNK for shape in its_shapes)
            if worst.score < SPENT or good:
                return Judged(Rank.SUNK, "little new", part)
            return Judged(self._of_spent(host, worst, names, ticket), _reason(worst), part, _spare(host))
        if any(shape.nearly >= NEARLY for shape in its_shapes):
            return Judged(Rank.SUNK, "near-duplicates", part)
        if endless:
            if dated or below:
                past = below or _leaves(host, target, ticket.at)
                return Judged(Rank.SUNK, LOOKS_PAST if past else LOOKS_DATED, part)
            if not (frame and ((usual := host.frames.get(part)) is None or usual.holds(frame))):
                return Judged(Rank.SUNK, LOOKS_ENDLESS, part)
        if combines and not _one_varies(host, target, names):
            return Judged(Rank.SUNK, COMBINES, part)
        if host.sections.get(part, 0) > LARGE:
            return Judged(Rank.LARGE, "many of one kind", part)
        return Judged(Rank.OPEN, section=part)

    def ranked(self, ticket: Ticket) -> Ticket:
        """A ticket as it is published: what looks endless, or brings little, goes to the last front queue."""
        if self.judge(ticket).rank < Rank.SUNK:
            return ticket
        return msgspec.structs.replace(ticket, priority=PRIORITIES[-1])

    def suspects(self, source: Url, via: str) -> bool:
        """Whether any link of a page may be refused: asked once a page, and as a rule not so. ``via``: the key of the
        page that led to it."""
        if source is not self._source:
            self._source, self._suspect = source, self._domains.spent(source.host) and self._echoes(source.host, via)
        return self._suspect

    def refuses(self, source: Url, target: Url, via: str) -> str | None:
        """Why what was learnt of the pages speaks against publishing a link, if it does: a short reason that can be
        counted. Names below one domain, the first pages of which brought nothing new, lead to no further one; but
        whoever lists such names does."""
        if not self.suspects(source, via) or source.host == target.host or target.host in self._hosts:
            return None
        return ENDLESS_HOSTS if domain_of(target.host) == domain_of(source.host) else None

    def _of_spent(self, host: KnownHost, shape: Shape, names: tuple[str, ...], ticket: Ticket) -> Rank:
        """Whether what is left of a spent shape is visited at last, or refused: what pages of its kind, or others in
        vain, have without end."""
        via = ticket.via
        if shape.trials < TRIALS or host.trials * TRIAL_SHARE < host.fresh or host_of_key(via) != ticket.host:
            return Rank.SPENT
        led = not set(names).isdisjoint(shapes(target_of(via))) or via in self._chains
        endless = led and host.line(shape, target_of(ticket.key), via) >= LINE
        return Rank.REFUSED if endless else Rank.SPENT

    def _echoes(self, host: str, via: str) -> bool:
        """Whether a host was found on another one whose first page was a copy, and is none that brought something."""
        if (known := self._hosts.get(host)) is not None:
            return known.echoes
        return self._hosts.get(host_of_key(via), _NOTHING).copied

    def _know(self, name: str) -> KnownHost | None:
        if name in self._hosts:
            self._hosts.move_to_end(name)
        return self._hosts.get(name)

    def _meet(self, name: str, copied: bool, via: str) -> KnownHost:
        """The first page of a host was stored; ``via``: the host of the page that led to it."""
        self._domains.learn(name, copied)
        self.refused_names.met(name, copied)
        echoes = copied and self._hosts.get(via, _NOTHING).copied
        self._hosts[name] = KnownHost(copied, echoes)
        return self._hosts[name]

    def _forget(self) -> None:
        while len(self) > self._most and len(self._hosts) > 1:
            self._count -= len(self._hosts.popitem(last=False)[1].shapes)


def _spare(host: KnownHost) -> bool:
    """Whether a row of pages in vain, each of which leads to the next alone, may go on: it costs a page a step, and it
    may be all that a small site has."""
    return host.trials < max(ROW_SHARE * host.fresh, ROW - 2 * host.fresh)


def _leaves(host: KnownHost, target: str, at: float) -> bool:
    """Whether pages like that of a URL, which was found at ``at`` unix seconds, left the times that pages are of: by so
    much a calendar without end differs from an archive."""
    year = 1970 + int(at / YEAR) + 1 if at else MOST_YEAR
    its_shapes = [host.shapes.get(name) for name in narrow(target)]
    return all(shape is not None and shape.leaves(year) for shape in its_shapes)


def _one_varies(host: KnownHost, target: str, names: tuple[str, ...]) -> bool:
    """Whether of the parameters of a URL one counts pages, and the others are always the same."""
    row = numbers(target)
    return all((shape := host.shapes.get(name)) is not None and shape.one_varies(row) for name in names[:2])


def _of_session(its_shapes: list[Shape], names: tuple[str, ...], ticket: Ticket) -> Rank:
    """The same of a page that was fetched under another session id: pages under such ids, or of its kind, lead on to
    it."""
    via = target_of(ticket.via)
    led = host_of_key(ticket.via) == ticket.host and (sessionless(via) != via or not set(names).isdisjoint(shapes(via)))
    return Rank.REFUSED if led and any(shape.line >= LINE for shape in its_shapes) else Rank.SPENT


def _reason(shape: Shape) -> str:
    return ENDLESS_NUMBERS if shape.walks else NOTHING_NEW

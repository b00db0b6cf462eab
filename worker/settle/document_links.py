"""Where documents lead: the fate of every link of a page, of every entry of a sitemap, and of redirects; and the
tickets of what is followed. No effect happens here.

A page may have ten thousand links, and a sitemap fifty thousand: they are judged in pieces.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from gregor.schemas.messages import Link, Page, Ticket, url_fingerprint
from gregor.worker.base.pieces import PIECE, InPieces
from gregor.worker.config.settings import Config
from gregor.worker.extract.judges import Judges, LinkJudge
from gregor.worker.extract.model import UNWEIGHED, Loss
from gregor.worker.frontier.sent import RecentlySent, as_requisite
from gregor.worker.links import tickets
from gregor.worker.links.configured import REQUISITES
from gregor.worker.links.ordering.fetch_order import FetchOrder
from gregor.worker.links.ordering.follow_ups import FollowUps
from gregor.worker.links.requisites import Requisites
from gregor.worker.links.scope import MAX_ELSEWHERE, OutOfScope, Scope
from gregor.worker.links.targets import LONGEST, Finder, Target, Targets
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.document import Extract, Reference
from gregor.worker.read.html.references import base_url
from gregor.worker.read.native import Core
from gregor.worker.read.sitemaps.entries import Sitemap
from gregor.worker.settle.fates import OF_ITS_KIND, Fates
from gregor.worker.web.urls import Url, Urls

DEEPEST_SITEMAP = 5
LINK_ROOM: Final = 300
"""Characters that each of `max_links` links of a page may have on average: a base of thousands is in all of them."""


class DocumentLinks:
    """Judges those of one worker. `sent` only saves work: a link that it knows was published before."""

    def __init__(
        self,
        config: Config,
        *,
        urls: Urls,
        scope: Callable[[], Scope],
        now: Callable[[], float],
        stats: Stats,
        sent: RecentlySent,
        traps: Traps,
        order: FetchOrder | None,
        judges: Judges,
        core: Core | None = None,
    ) -> None:
        """See `Examiner`; ``judges``: those of rules; ``core`` resolves references natively."""
        self._config, self._urls = config, urls
        self._scope = scope
        self._now = now
        self._stats = stats
        self._sent = sent
        self._judges = judges
        self._follow_ups = FollowUps(traps, sent, order, config.topic_threshold)
        self._core = core
        self._targets = Targets(urls, scope, core=core)
        self._fates = Fates(config, traps, stats)
        self.requisites = Requisites(config, scope, lambda: stats.total_requisites)

    def of_page(
        self, ticket: Ticket, url: Url, extract: Extract, page: Page, judge: LinkJudge | None
    ) -> InPieces[list[Ticket]]:
        """Decide the fate of every link; what is decided here is recorded at the link, never at its target."""
        base = base_url(extract.base, url.href, self._config.max_url_length)
        finder, astray = self._targets.finder(base, extract.encoding), self._follow_ups.astray(ticket, page)
        unfollowed = "nofollow" in page.directives
        fate_of = self._fates.of_page(ticket, url, astray)
        shown_fate_of = self.requisites.fates(ticket) if self.requisites.wanted else None
        if extract.canonical is not None and (canonical := self._urls.resolve(extract.canonical, base)):
            page.canonical = canonical.href
        add, chosen = page.links.append, dict[int, tuple[Url, str, int]]()
        links, room = extract.links[: self._config.max_links], LINK_ROOM * self._config.max_links
        long, priority = len(links) * self._config.max_url_length > room, 0
        judged = None
        if judge is None and shown_fate_of is None and not long and not unfollowed:
            judged = self._natively(finder, self._fates.usual(ticket, url, astray), page, chosen)
        place = end = 0
        while place < len(links):
            if place == end:
                if place:
                    yield
                end = min(place + PIECE, len(links))
                finder.ahead(each.url for each in links[place:end])
            if judged is not None and (place := judged(links, place, end)) == end:
                continue
            link = links[place]
            place += 1
            target = finder.find(link.url)
            if target is None:
                self._stats.links["malformed"] += 1
                continue
            if long and (room := room - len(target.url.href)) < 0:
                extract.truncated = True
                break
            kind, nofollow, number = link.kind, link.nofollow or unfollowed, target.fingerprint
            if shown_fate_of is not None and kind in REQUISITES:
                fate = shown_fate_of(target, kind)
                number = url_fingerprint(as_requisite(target.url.key)) if fate == "sent" else number
            else:
                fate = fate_of(target, kind, nofollow)
            if judge is None or fate not in tickets.OPEN or kind in REQUISITES:
                add(Link(target.url.href, kind, nofollow, fate, link.text))
                priority = 0
            else:
                weight = judge.weight(target.url, kind, link.text, nofollow, link.url)
                fate, priority = weight.fate or fate, weight.priority
                add(Link(target.url.href, kind, nofollow, fate, link.text, priority=priority, by=weight.by))
            if fate == "sent" and number not in chosen:
                chosen[number] = target.url, kind, priority
        self._tell(judge, url)
        follow_ups = yield from self._follow_ups.of_links(ticket, url, page, chosen, self._now())
        for name, cause in follow_ups.failures:
            self._stats.extracted.add_losses([Loss(name, cause, costs_item=False, judgement=True)], url.href)
        return follow_ups.tickets

    def _natively(
        self, finder: Finder, usual: dict[str, str] | None, page: Page, chosen: dict[int, tuple[Url, str, int]]
    ) -> Callable[[list[Reference], int, int], int] | None:
        """What judges links of a page, from a place on and before another one, up to the first that needs thought, and
        gives its place; None where Python judges all. ``usual``: see `Fates.usual`."""
        core, remembered, obeys = self._core, finder.remembered, self._config.nofollow
        if core is None or remembered is None or usual is None:
            return None

        def judged(links: list[Reference], place: int, end: int) -> int:
            return core.links_judged(
                links, place, end, remembered, LONGEST, usual, OF_ITS_KIND, obeys, Link, page.links, chosen
            )

        return judged

    def redirect(self, ticket: Ticket, source: Url, location: str) -> tuple[list[Ticket], Link | None]:
        """The ticket of a redirect's target, and the link as it is recorded; no ticket where it leads back."""
        target = self._urls.resolve(location, source.href)
        if target is None:
            return [], None
        fate = "hops"
        if ticket.hops + 1 <= self._config.max_redirects:
            judged = self._targets.target(target)
            if ticket.link == "sitemap":
                judged = self._as_sitemap(judged)
            if ticket.requisite:
                fate = self.requisites.excluded(judged) or "sent"
            else:
                fate = judged.out_of_scope or self._fates.trap(ticket, source, judged, "redirect") or "sent"
        judge = None if ticket.requisite or ticket.link == "sitemap" else self._judges.of_page(ticket, source)
        if judge is not None and fate == "sent":
            fate = judge.weight(target, "redirect", depth=ticket.depth).fate or fate
            self._tell(judge, source)
        sent = fate == "sent" and target.key != ticket.key
        follow = [tickets.redirected(ticket, target, self._now())] if sent else []
        return follow, Link(target.href, "redirect", False, fate, "", target.key)

    def _as_sitemap(self, target: Target) -> Target:
        """What is said of a target that is a sitemap, announced by a site of the crawl."""
        if not target.out_of_scope:
            return target
        verdict = self._scope().allows_sitemap(target.url)
        excluded = verdict.fate if isinstance(verdict, OutOfScope) else ""
        return msgspec.structs.replace(target, out_of_scope=excluded)

    def _tell(self, judge: LinkJudge | None, url: Url) -> None:
        """Count what filters and scorers could not do on a page."""
        if judge is not None:
            self._stats.extracted.add_losses(judge.losses, url.href)

    def of_sitemap(
        self, ticket: Ticket, url: Url, listed: Sitemap, page: Page, judge: LinkJudge | None
    ) -> InPieces[list[Ticket]]:
        """A sitemap's URLs and further sitemaps are links too."""
        follow_up: list[Ticket] = []
        elsewhere, now, dated = 0, self._now(), self._config.revisit is not None
        (find, ahead, _), fate_of = self._targets.finder(url.href, "utf-8"), self._fates.of_page(ticket, url)
        entries = [(entry, "sitemap", tickets.nested) for entry in listed.children]
        entries += [(entry, "url", tickets.listed) for entry in listed.urls]
        for place, (entry, kind, ticket_of) in enumerate(entries):
            if place % PIECE == 0:
                if place:
                    yield
                ahead(each.loc for each, _, _ in entries[place : place + PIECE])
            target = find(entry.loc)
            if target is None:
                self._stats.links["malformed"] += 1
                continue
            if kind == "sitemap" and target.out_of_scope and target.url.host == url.host and elsewhere < MAX_ELSEWHERE:
                target = self._as_sitemap(target)
                elsewhere += not target.out_of_scope
            fate = fate_of(target, kind, False)
            if kind == "sitemap" and ticket.hops >= DEEPEST_SITEMAP:
                fate = "hops"
            weight = judge.weight(target.url, kind) if judge and kind == "url" and fate in tickets.OPEN else UNWEIGHED
            fate = weight.fate or fate
            page.links.append(Link(target.url.href, kind, False, fate, priority=weight.priority, by=weight.by))
            if fate == "sent":
                follow = ticket_of(ticket, target.url, entry, now, dated=dated)
                if weight.priority:
                    follow = msgspec.structs.replace(follow, priority=weight.priority)
                if not self._sent.knows(url_fingerprint(follow.news), follow.depth):
                    follow_up.append(follow)
        self._tell(judge, url)
        return follow_up

"""Examine: what an answer says, the page to store, and which of its links are published. No effect happens here."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from gregor.schemas.messages import Link, Page, Ticket, url_fingerprint
from gregor.worker.base.shortage import own_shortages
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import NOTHING, Extracted, Extraction
from gregor.worker.extract.judges import LinkJudge
from gregor.worker.extract.links import UNWEIGHED
from gregor.worker.extract.model import Loss
from gregor.worker.fetch.outcomes import Broken, Denied, Fetched, Outcome, Redirected
from gregor.worker.frontier.sent import RecentlySent, as_requisite
from gregor.worker.links import tickets
from gregor.worker.links.configured import REQUISITES
from gregor.worker.links.header_links import add_header_links
from gregor.worker.links.requisites import Requisites
from gregor.worker.links.scope import MAX_ELSEWHERE, OutOfScope, Scope
from gregor.worker.links.targets import Target, Targets
from gregor.worker.links.traps import Traps
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.read import fingerprints, languages
from gregor.worker.read.document import Document, Extract
from gregor.worker.read.html.references import base_url
from gregor.worker.read.processors import ProcessorError, Processors
from gregor.worker.read.read import LargeDocuments, Reading, Room, read
from gregor.worker.read.sitemaps.entries import Sitemap
from gregor.worker.robots import meta as meta_robots
from gregor.worker.settle.fates import Fates
from gregor.worker.settle.new_page import new_page
from gregor.worker.settle.visited import Examined
from gregor.worker.web.urls import Url, Urls

DEEPEST_SITEMAP = 5
LINK_ROOM: Final = 300
"""Characters that each of `max_links` links of a page may have on average: a base of thousands is in all of them."""

_LOG = logs("examine")


class Content(msgspec.Struct, frozen=True):
    """The page of a document, and the tickets of its links that are to be published."""

    page: Page
    tickets: list[Ticket]
    extracted: Extracted | None = None
    refusal: str = ""
    """Why the page is not kept."""


class ReadPage(NamedTuple):
    """A page that was read: its document, what rules made of it, if any is for it, and the filter that refuses it."""

    page: Page
    said: Reading
    extracted: Extracted | None = None
    refusal: str = ""
    losses: Sequence[Loss] = ()
    """What filters of pages could not do."""


class Examiner:
    """Reads documents for one worker. `sent` only saves work: a link that it knows was published before."""

    def __init__(
        self,
        config: Config,
        *,
        urls: Urls,
        scope: Callable[[], Scope],
        now: Callable[[], float],
        stats: Stats,
        processors: Processors,
        sent: RecentlySent,
        traps: Traps,
        extraction: Extraction = NOTHING,
    ) -> None:
        """``scope`` gives the one by which links are measured now, ``now`` the coordinator's time in unix seconds."""
        self._extraction = extraction
        self._config = config
        self._urls = urls
        self._scope = scope
        self._now = now
        self._stats = stats
        self._processors = processors
        self._large = LargeDocuments()
        if processors.core is None:
            fingerprints.way()  # what it loads is not waited for at the first page
        self.room = Room()
        self._sent = sent
        self._traps = traps
        self._targets = Targets(urls, scope)
        self._fates = Fates(config, traps, stats)
        self._requisites = Requisites(config, scope, lambda: stats.total_requisites)

    def _is_sitemap(self, ticket: Ticket) -> bool | None:
        """Whether a document was announced as one; None for a seed, or where one leads, and for an entry of a sitemap,
        since some list sitemaps like pages: its root says what it is."""
        follows = self._config.sitemaps or self._config.sitemap_only
        if ticket.link == "sitemap":
            return True
        return None if follows and not ticket.requisite and (ticket.depth == 0 or ticket.link == "url") else False

    async def of(self, ticket: Ticket, url: Url, outcome: Outcome) -> Examined:
        """Read the document, if one came. A processor that fails on it makes another outcome."""
        match outcome:
            case Fetched(response):
                try:
                    with own_shortages():  # modules and tables are opened when they are first needed
                        document, work = self._work(ticket, url, response)
                        read_page = await self._large.read(document, work) or work(document)
                    content = self.content(ticket, url, response, read_page)
                except ProcessorError as error:
                    return Examined(Broken("processor", str(error), response.status))
                if content.refusal:
                    return Examined(Denied(content.refusal, response.status), None, content.tickets)
                return Examined(outcome, content.page, content.tickets, extracted=content.extracted)
            case Redirected(_, location, after):
                follow_up, link = self.redirect(ticket, url, location)
                if after:
                    later = self._now() + after
                    follow_up = [msgspec.structs.replace(follow, not_before=later) for follow in follow_up]
                return Examined(outcome, None, follow_up, link)
            case _:
                return Examined(outcome)

    def _work(self, ticket: Ticket, url: Url, response: Response) -> tuple[Document, Callable[[Document], ReadPage]]:
        """The document of an answer, and what reads it, here or beside the event loop."""
        document = Document(url.href, response.body, response.combined("content-type"), self._requisites.wanted)
        page = new_page(ticket, url, response, document, self._now())
        return document, partial(self._read, ticket, url, response, page)

    def _read(self, ticket: Ticket, url: Url, response: Response, page: Page, document: Document) -> ReadPage:
        """What the document says, and what rules make of it. It shares nothing with anybody."""
        extracts = bool(self._extraction) and not ticket.requisite and self._extraction.wants(url)
        document.keeps_tree = extracts
        reading = read(self._processors, document, self._is_sitemap(ticket))
        page.fingerprint = reading.fingerprint or bytes.fromhex(page.body)[:16]
        page.simhash, page.sketch = reading.simhash, reading.sketch
        if reading.sitemap is not None:
            return ReadPage(page, reading)
        self._describe(page, reading.extract, response)
        losses: list[Loss] = []
        refusal = "" if ticket.requisite else self._extraction.judges.refuses(document, reading.extract, losses)
        extracted = self._extraction.of(page, url, document) if extracts and not refusal else None
        document.tree = None
        return ReadPage(page, reading, extracted, refusal, losses)

    def examine(self, ticket: Ticket, url: Url, response: Response) -> Content:
        """Say what an answer with status 200 to 299 means. Raises `ProcessorError`."""
        document, work = self._work(ticket, url, response)
        return self.content(ticket, url, response, work(document))

    def content(self, ticket: Ticket, url: Url, response: Response, read_page: ReadPage) -> Content:
        """What a page that was read says, and where it leads."""
        page, reading, extracted, refusal, losses = read_page
        self._stats.extracted.add_losses(losses, url.href)
        judge = self._extraction.judges.of_page(ticket, url, extracted.links if extracted else {})
        if reading.sitemap is not None:
            self._note_unread(page, "entries" if reading.sitemap.truncated else "")
            return Content(page, self._sitemap(ticket, url, reading.sitemap, page, judge))
        extract = reading.extract
        self._stats.ways.update(filter(None, (reading.way,)))
        add_header_links(extract, url, response, self._urls)
        content = Content(page, self._links(ticket, url, extract, page, judge), extracted, refusal)
        left_out = extract.truncated or len(extract.links) > self._config.max_links
        if left_out and not self._stats.unread["links"]:
            _LOG.warning("links beyond max_links are not followed", url=url.href, max_links=self._config.max_links)
        self._note_unread(page, extract.cut, "links" if left_out else "")
        return content

    def _note_unread(self, page: Page, *reasons: str) -> None:
        """Say on the page, and count, why a document was not read to its end, if so."""
        page.unread = ", ".join(filter(None, reasons))
        self._stats.unread.update(filter(None, reasons))

    def _describe(self, page: Page, extract: Extract, response: Response) -> None:
        page.title, page.text, page.encoding = extract.title, extract.main or extract.text, extract.encoding
        declared = languages.declared(extract.lang, response.combined("content-language"))
        page.language = declared or languages.detected(page.text, page.content_type)
        page.headings = tuple(extract.headings)
        tags = [content for name, content in response.headers if name.lower() == "x-robots-tag"]
        directives = meta_robots.meta_robots(extract.meta_robots, tags, self._config.user_agent, page.fetched_at)
        page.directives = tuple(meta_robots.names(directives))

    def _links(self, ticket: Ticket, url: Url, extract: Extract, page: Page, judge: LinkJudge | None) -> list[Ticket]:
        """Decide the fate of every link; what is decided here is recorded at the link, never at its target."""
        base = base_url(extract.base, url.href, self._config.max_url_length)
        find = self._targets.finder(base, extract.encoding)
        unfollowed = "nofollow" in page.directives
        fate_of = self._fates.of_page(ticket, url)
        shown_fate_of = self._requisites.fates(ticket) if self._requisites.wanted else None
        if extract.canonical is not None and (canonical := self._urls.resolve(extract.canonical, base)):
            page.canonical = canonical.href
        add, chosen = page.links.append, dict[int, tuple[Url, str, int]]()
        links, room = extract.links[: self._config.max_links], LINK_ROOM * self._config.max_links
        long, priority = len(links) * self._config.max_url_length > room, 0
        for link in links:
            target = find(link.url)
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
        now, depth, knows = self._now(), ticket.depth, self._sent.knows
        return [
            self._traps.ranked(tickets.referred(ticket, target, kind, now, priority))
            for number, (target, kind, priority) in chosen.items()
            if not knows(number, depth + (kind not in REQUISITES))
        ]

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
                fate = self._requisites.excluded(judged) or "sent"
            else:
                fate = judged.out_of_scope or self._fates.trap(ticket, source, judged) or "sent"
        judge = (
            None if ticket.requisite or ticket.link == "sitemap" else self._extraction.judges.of_page(ticket, source)
        )
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

    def _sitemap(self, ticket: Ticket, url: Url, listed: Sitemap, page: Page, judge: LinkJudge | None) -> list[Ticket]:
        """A sitemap's URLs and further sitemaps are links too."""
        follow_up: list[Ticket] = []
        elsewhere, now, dated = 0, self._now(), self._config.revisit is not None
        find, fate_of = self._targets.finder(url.href, "utf-8"), self._fates.of_page(ticket, url)
        entries = [(entry, "sitemap", tickets.nested) for entry in listed.children]
        entries += [(entry, "url", tickets.listed) for entry in listed.urls]
        for entry, kind, ticket_of in entries:
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

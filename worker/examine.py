"""Examine: what an answer says, the page to store, and which of its links are published. No effect happens here."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gregor.schemas.messages import Page, Ticket
from gregor.worker.base.pieces import InPieces, at_once, with_pauses
from gregor.worker.base.shortage import own_shortages
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import NOTHING, Extracted, Extraction
from gregor.worker.extract.model import Loss
from gregor.worker.fetch.outcomes import Broken, Denied, Fetched, Outcome, Redirected
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.header_links import add_header_links
from gregor.worker.links.ordering.fetch_order import FetchOrder
from gregor.worker.links.scope import Scope
from gregor.worker.links.traps import Traps
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.read import fingerprints, languages
from gregor.worker.read.document import Document, Extract
from gregor.worker.read.processors import ProcessorError, Processors
from gregor.worker.read.read import LargeDocuments, Reading, Room, read
from gregor.worker.robots import meta as meta_robots
from gregor.worker.settle.document_links import DocumentLinks
from gregor.worker.settle.new_page import new_page
from gregor.worker.settle.visited import Examined
from gregor.worker.web.urls import Url, Urls

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
        order: FetchOrder | None = None,
    ) -> None:
        """``scope`` gives that in force, ``now`` the coordinator's unix seconds; ``order``: where a policy scores."""
        self._extraction = extraction
        self._config, self._urls = config, urls
        self._now = now
        self._stats = stats
        self._processors = processors
        self._large = LargeDocuments()
        if processors.core is None:
            fingerprints.way()  # what it loads is not waited for at the first page
        self.room = Room()
        self._links = links = DocumentLinks(
            config,
            urls=urls,
            scope=scope,
            now=now,
            stats=stats,
            sent=sent,
            traps=traps,
            order=order,
            judges=extraction.judges,
            core=processors.core,
        )
        self.redirect = links.redirect

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
                    content = await with_pauses(self._content(ticket, url, response, read_page))
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
        document = Document(url.href, response.body, response.combined("content-type"), self._links.requisites.wanted)
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
        return at_once(self._content(ticket, url, response, read_page))

    def _content(self, ticket: Ticket, url: Url, response: Response, read_page: ReadPage) -> InPieces[Content]:
        page, reading, extracted, refusal, losses = read_page
        self._stats.extracted.add_losses(losses, url.href)
        judge = self._extraction.judges.of_page(ticket, url, extracted.links if extracted else {})
        if reading.sitemap is not None:
            self._note_unread(page, "entries" if reading.sitemap.truncated else "")
            return Content(page, (yield from self._links.of_sitemap(ticket, url, reading.sitemap, page, judge)))
        extract = reading.extract
        self._stats.ways.update(filter(None, (reading.way,)))
        add_header_links(extract, url, response, self._urls)
        self._extraction.classify(page)  # which learns of pages, and is asked by one at a time
        follow_ups = yield from self._links.of_page(ticket, url, extract, page, judge)
        content = Content(page, follow_ups, extracted, refusal)
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

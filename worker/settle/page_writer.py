"""What a new page is before it is stored, by what is stored of others; and what is learnt of it afterwards."""

from typing import Final

import msgspec

from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.store import PageStore
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Url

SHOWN: Final = frozenset({"img", "source", "video", "audio", "embed", "object"})
"""Kinds of links to what a page shows: a page with other pictures is another page."""


class PageWriter:
    """The pages of one partition."""

    def __init__(
        self,
        partition: Partition,
        *,
        store: PageStore,
        seen: SeenSet,
        effects: Effects,
        traps: Traps,
        stats: Stats,
        near_duplicate_share: float,
    ) -> None:
        """``near_duplicate_share``: pages whose sketches share so much are near-duplicates."""
        self._partition = partition
        self._store = store
        self._seen = seen
        self._effect = effects.run
        self._traps = traps
        self._stats = stats
        self._least = near_duplicate_share

    async def version(self, ticket: Ticket, row: Row | None) -> Page | None:
        """The stored version of what is visited again, also by the retry of a revisit that failed.

        A copy whose original is no more is asked for as a whole: that it did not change would leave it a copy for ever.
        """
        if ticket.kind not in ("revisit", "retry") or row is None or not row.page:
            return None
        page = await self._effect(lambda: self._store.page(ticket.key, row.page))
        if page is None or not page.duplicate_of or not (page.etag or page.last_modified):
            return page
        owner = await self._effect(lambda: self._seen.content(page.fingerprint))
        return page if owner == page.duplicate_of else msgspec.structs.replace(page, etag="", last_modified="")

    async def compare(self, visited: Visited) -> bool:
        """Say of a new page, if one came, whose it is, and what it is like; gives whether it claims its content.

        What has no owner is claimed, and its own, which may be owned for a time only, which begins anew.
        """
        page, store, seen = visited.page, self._store, self._seen
        if page is None:
            return False
        owner = await self._effect(lambda: seen.content(page.fingerprint))
        if owner is not None and owner != page.key:
            page.state, page.duplicate_of = "duplicate", owner
            return False
        if page.sketch:
            near = await self._effect(lambda: store.near(page.sketch, self._least))
            page.near_duplicate_of = near if near is not None and near != page.key else ""
        return True

    def stored(self, visited: Visited) -> None:
        """A page, if one came, is stored: it is counted, with what rules made of it, and traps learn of it. What was
        stored by a visit that came no further is not counted."""
        page, extracted = visited.page, visited.extracted
        if page is None:
            return
        if visited.response is not None:
            alike = "duplicate" if page.duplicate_of else "near_duplicate" if page.near_duplicate_of else "new"
            self._stats.contents[alike] += 1
        if extracted is not None:
            self._partition.fields.note(extracted, page.href, page.fetched_at)
            self._stats.extracted.add_crawled(extracted, page.href)
        if visited.url is not None:
            self._learn(visited.url, visited.row, page)

    def _learn(self, url: Url, row: Row | None, page: Page) -> None:
        """What the page brought to its host's URLs; a further version says nothing of its like."""
        if page.requisite or (row is not None and row.page):
            return
        media = (link.url for link in page.links if link.kind in SHOWN)
        alike = bool(page.near_duplicate_of or page.duplicate_of)
        text = f"{page.title or ''}\n{page.text}"
        self._traps.learn(url, text=text, media=media, copy_of=page.duplicate_of, via=page.via, near=alike)

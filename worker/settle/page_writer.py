"""A page becomes durable: its links and bodies, then its content's fingerprint, which always names a stored page."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Final

from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.store import PageStore
from gregor.worker.frontier.partition import Partition
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.visited import Visited

SHOWN: Final = frozenset({"img", "source", "video", "audio", "embed", "object"})
"""Kinds of links to what a page shows: a page with other pictures is another page."""


class PageWriter:
    """Stores the pages of one partition."""

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
        """The stored version of what is visited again, also by the retry of a revisit that failed."""
        if ticket.kind not in ("revisit", "retry") or row is None or not row.page:
            return None
        return await self._effect(lambda: self._store.page(ticket.key, row.page))

    async def store(self, visited: Visited, opted_out: Callable[[str], bool]) -> None:
        """Store the page that an answer brought. A fingerprint names a stored page: look up, store, then set if absent;
        the loser is relabelled. What rules made of it is counted. ``opted_out``: whether a host is, which is heard
        at any time: nothing is written after that, for whoever erases may have been there already."""
        page, response, url, extracted = visited.page, visited.response, visited.url, visited.extracted
        assert page is not None and response is not None
        store, seen, stamp = self._store, self._seen, self._partition.stamp
        owner = await self._effect(lambda: seen.content(page.fingerprint))
        contents = self._stats.contents
        if owner is not None and owner != page.key:
            page.state, page.duplicate_of = "duplicate", owner
        elif page.sketch:
            near = await self._effect(lambda: store.near(page.sketch, self._least))
            page.near_duplicate_of = near if near is not None and near != page.key else ""
        contents["duplicate" if page.duplicate_of else "near_duplicate" if page.near_duplicate_of else "new"] += 1
        wire = response.wire_body

        async def put() -> None:
            if opted_out(page.host):
                return
            with response.body.open() as body, wire.open() if wire is not None else nullcontext() as kept:
                await store.put_page(page, body, kept, stamp())

        await self._effect(put)
        if opted_out(page.host):
            return
        if owner in (None, page.key):  # its own: it may be owned for a time only, which begins anew
            await self.claim(page)
        if extracted is not None:
            self._partition.fields.note(extracted, page.href, page.fetched_at)
            self._stats.extracted.add_crawled(extracted, page.href)
        first = visited.row is None or not visited.row.page  # a further version says nothing of its like
        if url is not None and first and not page.requisite:
            media = (link.url for link in page.links if link.kind in SHOWN)
            alike = bool(page.near_duplicate_of or page.duplicate_of)
            text = f"{page.title or ''}\n{page.text}"
            self._traps.learn(url, text=text, media=media, copy_of=page.duplicate_of, via=page.via, near=alike)

    async def claim(self, page: Page) -> None:
        """Let the content name this stored page; a page that comes second is a duplicate after all."""
        winner = await self._effect(lambda: self._seen.claim(page.fingerprint, page.key))
        if winner != page.key:
            page.state, page.duplicate_of = "duplicate", winner
            await self._effect(lambda: self._store.put_page(page, None, None, self._partition.stamp()))

"""What is kept of a stale URL is deleted, in a turn of its host, so that no visit of it runs beside."""

from gregor.schemas.messages import Changed, Page, Row, Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.errors import Damaged
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.services import Services
from gregor.worker.frontier.counts import dropped_counts
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.observe.stats import Stats
from gregor.worker.settle.staleness import is_stale


class Drops:
    """Those of one partition."""

    def __init__(
        self,
        partition: Partition,
        *,
        after: float | None,
        visits_again: bool,
        services: Services,
        effects: Effects,
        sent: RecentlySent,
        stats: Stats,
    ) -> None:
        """``after``: the setting `stale_after`; ``visits_again``: see `stale_since`."""
        self._partition = partition
        self._after = after
        self._visits_again = visits_again
        self._log: FrontierLog = services.log
        self._seen, self._store = services.seen, services.store
        self._now, self._effect = services.coordinator.now, effects.run
        self._sent = sent
        self._stats = stats

    async def drop(self, ticket: Ticket, row: Row | None) -> None:
        """Delete what is kept of a URL, if its row is what the ticket saw, and stale.

        In this order: what names its pages, what they claim, what is told of them, that it was seen, its pages with the
        row. Cut short anywhere, the row is still there and the ticket unfinished, so all of it is done again; a URL
        that is not known as seen, and has a row, costs a read.
        """
        if row is None or self._after is None or row.visits != ticket.visit:
            return
        if not is_stale(row, self._after, self._now(), visits_again=self._visits_again):
            return
        key, effect, number = row.key, self._effect, url_fingerprint(row.key)
        for visit in await effect(lambda: self._store.versions(key)):
            page = await self._page(key, visit)
            if page is not None and page.fingerprint:
                content = page.fingerprint
                await effect(lambda content=content: self._seen.disown(content, key))  # type: ignore[misc]
        if row.page:
            erased = Changed(key, row.href, row.host, row.visits, "erased", self._now())
            await effect(lambda: self._log.announce(erased))
        await effect(lambda: self._seen.forget([number]))
        await effect(lambda: self._store.drop(key, self._partition.stamp()))
        self._sent.forget(key)
        change = dropped_counts(row)
        self._partition.counts.update(change)
        self._stats.dropped(change)

    async def _page(self, key: str, visit: int) -> Page | None:
        """A version; None when it is damaged: then nothing is known of what it claims."""
        try:
            return await self._effect(lambda: self._store.page(key, visit))
        except Damaged:
            return None

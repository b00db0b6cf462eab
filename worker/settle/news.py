"""What a ticket tells of a URL that was visited before: what a sitemap says of it, and a shorter way to it."""

from collections.abc import Callable

import msgspec

from gregor.schemas.messages import Row, Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.frontier.tickets import may_shorten
from gregor.worker.frontier.waiting import Waiting
from gregor.worker.links.tickets import of_stored, redirected
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.settle.verdicts import Policy, sitemap_news
from gregor.worker.web.urls import Urls


class News:
    """The news of one partition. They are applied in turns of the URL's host, so no visit runs beside."""

    def __init__(
        self,
        partition: Partition,
        waiting: Waiting,
        *,
        policy: Policy,
        log: FrontierLog,
        store: PageStore,
        effects: Effects,
        orders: OrdersInForce,
        urls: Urls,
        sent: RecentlySent,
        now: Callable[[], float],
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._partition = partition
        self._waiting = waiting
        self._policy = policy
        self._log = log
        self._store = store
        self._effect = effects.run
        self._orders = orders
        self._urls = urls
        self._sent = sent
        self._now = now

    async def apply(self, ticket: Ticket, row: Row) -> None:
        """A stale ticket. What a sitemap says is kept, and may bring a visit forward: the later entry gets stale."""
        news = sitemap_news(ticket, row, self._policy, self._now())
        if news is not None:
            row, again = news
            if again is not None:
                await self._waiting.appoint(again, row.due)
            await self._effect(lambda: self._store.put_rows([row], self._partition.stamp()))
        await self.shorten(ticket, row)

    async def shorten(self, ticket: Ticket, row: Row) -> None:
        """A ticket of a shorter way than that of the row: what the URL leads to is published as less deep, then the row
        has the depth. Cut short between, it is done again; what was too deep before is visited now."""
        if ticket.depth >= row.depth or not may_shorten(ticket, self._policy.max_depth):
            return
        by_key = {follow.key: follow for follow in await self._leads_to(ticket, row)}
        fresh = [f for f in by_key.values() if not self._sent.knows(url_fingerprint(f.key), f.depth)]
        if fresh:
            follow = self._orders.ranked(fresh)
            await self._effect(lambda: self._log.publish(follow))
            self._sent.learn(follow)
        nearer = msgspec.structs.replace(row, depth=ticket.depth)
        await self._effect(lambda: self._store.put_rows([nearer], self._partition.stamp()))

    async def _leads_to(self, ticket: Ticket, row: Row) -> list[Ticket]:
        """Where a visited URL led, or would have if it had not been too deep."""
        now = self._now()
        source = msgspec.structs.replace(ticket, hops=row.hops, priority=row.priority, label=row.label)
        if row.state == "redirected" and not row.rule:
            target = self._urls.parse(row.target)
            return [] if target is None else [redirected(source, target, now)]
        page = await self._effect(lambda: self._store.page(row.key, row.page)) if row.page else None
        if page is None:
            return []
        return of_stored(msgspec.structs.replace(page, depth=row.depth), source, self._urls.parse, now)

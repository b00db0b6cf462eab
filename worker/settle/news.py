"""What a ticket tells of a URL that was visited before: what a sitemap says of it, and a shorter way to it."""

from collections.abc import Callable

import msgspec

from gregor.schemas.messages import Changed, Row, Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.frontier.counts import became_page, count_change
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.frontier.tickets import makes_a_page, may_shorten
from gregor.worker.frontier.waiting import WaitingTickets
from gregor.worker.links.tickets import of_stored, redirected
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.settle.drops import Drops
from gregor.worker.settle.verdicts import Policy, asked_again, sitemap_news
from gregor.worker.web.urls import Urls


def found_as_page(row: Row, ticket: Ticket) -> Row:
    """The row of what was a requisite, by the link that makes a page of it."""
    via, link, label = ticket.via, ticket.link, ticket.label
    return msgspec.structs.replace(row, requisite=False, depth=ticket.depth, via=via, link=link, label=label)


class News:
    """The news of one partition. They are applied in turns of the URL's host, so no visit runs beside."""

    def __init__(
        self,
        partition: Partition,
        waiting: WaitingTickets,
        *,
        policy: Policy,
        log: FrontierLog,
        store: PageStore,
        effects: Effects,
        orders: OrdersInForce,
        urls: Urls,
        sent: RecentlySent,
        now: Callable[[], float],
        stats: Stats,
        drops: Drops,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._drops = drops
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
        self._stats = stats

    async def apply(self, ticket: Ticket, row: Row | None) -> None:
        """A stale ticket. What a sitemap says is kept, and may bring a visit forward: the later entry gets stale. One
        that asks to drop the URL has what is kept of it deleted."""
        if ticket.kind == "drop" or row is None:
            await self._drops.drop(ticket, row)
            return
        news = sitemap_news(ticket, row, self._policy, self._now())
        if news is not None:
            row, again = news
            if again is not None:
                await self._waiting.appoint(again, row.due)
            await self._effect(lambda: self._store.put_rows([row], self._partition.stamp()))
        await self.shorten(ticket, row)

    async def shorten(self, ticket: Ticket, row: Row) -> None:
        """A ticket of a shorter way than that of the row, or the first link to a requisite: what the URL leads to is
        published as less deep, then the row has the depth. Cut short between, it is done again; what was too deep
        before is visited now, and what a requisite links to."""
        if makes_a_page(ticket, row) and row.state == "redirected":
            await self._ask_again(ticket, row)
            return
        nearer_way = ticket.depth < row.depth and may_shorten(ticket, self._policy.max_depth)
        if not makes_a_page(ticket, row) and not nearer_way:
            return
        max_depth = self._policy.max_depth
        leads_to = [link for link in await self._leads_to(ticket, row) if max_depth is None or link.depth <= max_depth]
        by_name = {(follow.key, follow.requisite): follow for follow in leads_to}
        fresh = [link for link in by_name.values() if not self._is_known(link, row)]
        if fresh:
            follow = self._orders.ranked(fresh)
            await self._effect(lambda: self._log.publish(follow))
            self._sent.learn(follow)
        nearer = msgspec.structs.replace(row, depth=ticket.depth)
        if row.requisite:
            nearer = found_as_page(nearer, ticket)
        if row.requisite and row.page:  # before the row: after it nobody would tell
            became = Changed(row.key, row.href, row.host, row.visits, row.state, self._now())
            await self._effect(lambda: self._log.announce(became))
        await self._effect(lambda: self._store.put_rows([nearer], self._partition.stamp()))
        if row.requisite and row.page:
            change = became_page(row)
            count_change(self._partition.counts, change)
            self._stats.became_page(change.pages_200)

    def _is_known(self, follow: Ticket, row: Row) -> bool:
        """Whether what a document leads to need not be published: what it shows is the same on any way to it."""
        return not row.requisite if follow.requisite else self._sent.knows(url_fingerprint(follow.key), follow.depth)

    async def _ask_again(self, ticket: Ticket, row: Row) -> None:
        """Where a redirect leads was judged as a requisite: of a page it is asked for again, and judged anew."""
        row = msgspec.structs.replace(found_as_page(row, ticket), due=self._now())
        await self._waiting.appoint(asked_again(ticket, row.visits), row.due)
        await self._effect(lambda: self._store.put_rows([row], self._partition.stamp()))

    async def _leads_to(self, ticket: Ticket, row: Row) -> list[Ticket]:
        """Where a visited URL led, or would have if it had not been too deep."""
        now = self._now()
        hops = 0 if makes_a_page(ticket, row) else row.hops
        source = msgspec.structs.replace(ticket, hops=hops, priority=row.priority, label=row.label)
        if row.state == "redirected" and not row.rule:
            target = self._urls.parse(row.target)
            return [] if target is None else [redirected(source, target, now)]
        page = await self._effect(lambda: self._store.page(row.key, row.page)) if row.page else None
        if page is None:
            return []
        return of_stored(msgspec.structs.replace(page, depth=row.depth), source, self._urls.parse, now)

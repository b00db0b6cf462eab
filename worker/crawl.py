"""One URL's way: admit, visit, examine, settle. The story of the crawl, told for one partition.

    frontier topic ─► admit ─► back queue ─► visit ─► examine ─► settle ─► finished
                        │                      │                   │
                        └► backlog             └► robots.txt       └► outlinks to the topics; retry to the calendar

Everything here may be cut short at any await: each effect can be repeated without harm, and a ticket is finished only
after all of its effects. What is counted and timed on the way stands in observe/visits.py.
"""

import random
from contextlib import closing, nullcontext
from dataclasses import dataclass

from gregor.schemas.messages import Page, Row
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.services import Services
from gregor.worker.examine import Examiner
from gregor.worker.fetch.fetcher import Fetcher, conditions
from gregor.worker.fetch.held import TurnHeld
from gregor.worker.fetch.outcomes import AddressRefused, Broken, Denied, LeaseOver, in_the_end
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.intake import Intake
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.queue_item import QueueItem
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.frontier.tickets import is_stale, nearest
from gregor.worker.links.tickets import of_stored
from gregor.worker.observe.visits import Visits
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.politeness.host_records import Answered
from gregor.worker.politeness.turns import Turn, Turns
from gregor.worker.robots.rulings import Allowed, Disallowed, NotNow, RobotsRulings
from gregor.worker.robots.shared import OriginRefused
from gregor.worker.settle.comebacks import Comebacks
from gregor.worker.settle.news import News
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.rows import OPTED_OUT, settled_row
from gregor.worker.settle.settling import Settling, settlement_of
from gregor.worker.settle.verdicts import Policy, Verdict, conclude, turn_result
from gregor.worker.settle.visited import Visited
from gregor.worker.web.urls import Url, Urls


@dataclass(frozen=True, kw_only=True)
class PartitionCrawl:
    """The crawl of one owned partition. ``name``: the worker's."""

    partition: Partition
    intake: Intake
    turns: Turns
    rulings: RobotsRulings
    fetcher: Fetcher
    examiner: Examiner
    pages: PageWriter
    settling: Settling
    news: News
    comebacks: Comebacks
    budgets: HostBudgets
    visits: Visits
    policy: Policy
    services: Services
    effects: Effects
    orders: OrdersInForce
    schedule: HostSchedule
    urls: Urls
    sent: RecentlySent
    chance: random.Random
    name: str

    # Admit: `Intake` reads topics, calendar and backlogs, and makes live tickets of them, or waiting ones.

    # Visit

    async def visit(self, host: Host) -> None:
        """One turn of a host: until a request was made, or nothing is left to ask for. The host was taken out."""
        try:
            turn = await self.turns.begin(host)
            while turn.open and (item := await self.intake.next_of(host)) is not None:
                with self.visits.begun(self.partition.lease, host.name, turn.late):
                    await self._visit(turn, item)
        finally:
            host.busy = False
            self.intake.waiting.look_after(host)
            self.schedule.see(self.partition, host)

    async def _visit(self, turn: Turn, item: QueueItem) -> None:
        """Visit one URL, or put it back when the turn is over before its request."""
        ticket, store, effect = item.ticket, self.services.store, self.effects.run
        if (url := self.urls.parse(ticket.href)) is None:
            return await self.settle(turn, item, Visited(ticket, None, Broken("url", "not a URL that can be fetched")))
        try:
            if ticket.kind == "robots":  # another host's owner asks for it
                await self.rulings.answer_for(turn, ticket, url)
                return self.intake.finish(item)
            row = (await effect(lambda: store.rows([ticket.key])))[0]
            item.ticket = ticket = nearest(item.ticket, row)  # as it is now: records may have told of a shorter way
            if is_stale(ticket, row):
                await self.news.apply(ticket, row)
                return self.intake.finish(item)
            if self.orders.opted_out(turn.host.name):
                return await self.settle(turn, item, Visited(ticket, row, Denied(OPTED_OUT)))
            stored = await effect(lambda: store.page(ticket.key, ticket.visit + 1)) if item.inherited else None
            if stored is not None and stored.kind == ticket.kind:
                return await self._settle_stored(turn, item, url, row, stored)
            if item.refused:
                return await self.settle(turn, item, await self.comebacks.refuse(turn.host, ticket, row, item.refused))
            if ticket.not_before > self.services.coordinator.now():
                await self.intake.waiting.postpone(ticket)
                return self.intake.finish(item, moved=True)
            more = not ticket.requisite and (row is None or not row.page)
            if refused := self.fetcher.refused_port(url) or turn.refusal(url.origin, ticket.ordered, more=more):
                return await self.settle(turn, item, Visited(ticket, row, refused))
            match await self.rulings.rule(turn, url, ticket):
                case Allowed(rules):
                    await self._fetch(turn, item, row, url, rules)
                case Disallowed(rule):
                    await self.settle(turn, item, Visited(ticket, row, Denied(rule)))
                case OriginRefused(detail):
                    await self.settle(turn, item, Visited(ticket, row, AddressRefused(detail)))
                case NotNow():
                    turn.host.queue.put_back(item)
        except TurnHeld as held:
            turn.host.queue.put_back(item)
            turn.wait_for(held)
        except LocalShortage as lack:  # says nothing of the host: its URL waits
            turn.host.queue.put_back(item)
            turn.put_off(self.fetcher.lacks(lack, self.visits.running, item.shortages))
            item.shortages += 1

    async def _fetch(self, turn: Turn, item: QueueItem, row: Row | None, url: Url, rules: float) -> None:
        """The request itself, and what it brought."""
        ticket, host, fetcher = item.ticket, turn.host, self.fetcher
        permit, now = await turn.for_page(url.href, rules), self.services.coordinator.now()
        stored, begun = await self.pages.version(ticket, row), turn.now
        outcome, response = await fetcher.fetch(url, permit, now, fetcher.limits_of(ticket.link), conditions(stored))
        with closing(response) if response is not None else nullcontext():
            if isinstance(outcome, LeaseOver):
                raise LeaseLost
            seconds = turn.took(begun, response)
            self.visits.answered(response)
            outcome = in_the_end(outcome, response, sent=turn.used, last=ticket.attempts >= self.policy.retries)
            if isinstance(outcome, Broken) and outcome.cause == "protocol" and not item.lenient:
                item.lenient = True  # one more turn: then the transport reads as browsers do
                host.queue.put_back(item)
                await turn.over(Answered(url.origin))
                return
            async with self.examiner.room.of(response.body.size if response is not None else 0):
                read = await self.visits.parse(self.examiner.of(ticket, url, outcome))  # Examine
                visited = read.visited(ticket, row, url, response, stored, seconds)
                await self.visits.settle(self.settle(turn, item, visited))

    async def settle(self, turn: Turn, item: QueueItem, visited: Visited) -> None:
        """Settle: make a visit durable, in the order in which nothing can be lost."""
        if self.orders.opted_out(turn.host.name):
            visited = visited.without_content()
        if visited.response is not None:
            turn.host.pushbacks = turn.host.pushbacks + 1 if visited.pushed_back else 0
        verdict = conclude(visited, self.policy, turn.host.pushbacks, self.services.coordinator.now(), self.chance)
        claims = visited.response is not None and await self.pages.compare(visited)
        await self._conclude(turn, item, visited, verdict, claims)
        if (result := turn_result(visited, verdict, turn.used)) is not None:
            await turn.over(result)  # 6 the next turn

    async def _settle_stored(self, turn: Turn, item: QueueItem, url: Url, row: Row | None, page: Page) -> None:
        """The page of this very ticket is stored: go on from there, without a fetch."""
        now = self.services.coordinator.now()
        links = of_stored(page, item.ticket, self.urls.parse, now)
        visited = Visited(item.ticket, row, None, url, page=page, tickets=links, seconds=page.elapsed)
        verdict = conclude(visited, self.policy, 0, now, self.chance)
        await self._conclude(turn, item, visited, verdict, page.state == "fetched")

    async def _conclude(self, turn: Turn, item: QueueItem, visited: Visited, verdict: Verdict, claims: bool) -> None:
        """Steps 1 to 5 of a settle. ``claims``: the content of its page is to name it."""
        waiting, now, links = self.intake.waiting, self.services.coordinator.now(), self.orders.ranked(visited.tickets)
        row = settled_row(visited, verdict, now, self.name, turn.host.asked)
        entry = waiting.place(verdict.next, verdict.due) if verdict.next is not None else None
        opted_out = self.orders.opted_out
        settlement = settlement_of(
            visited, verdict, row, links, entry, claims=claims, owner=self.partition, opted_out=opted_out, now=now
        )
        try:
            await self.settling.settle(settlement)  # 1 page, 2 outlinks, 3 the next ticket, 4 the row, 5 seen
        finally:
            if entry is not None:
                waiting.placed(entry)
        turn.host.take_requests()  # the row tells of them
        row = settlement.kept_row
        if (page := visited.page if row.page else None) is not None:
            self.pages.stored(visited)
        await self.sent.learn_all(settlement.published)
        self.visits.published(settlement.published)
        change = self.budgets.settled(self.partition, visited.row, row, page, verdict.cause)
        self.visits.settled(verdict.state, page, (visited.row, row), verdict.cause, change[1:4])
        await self.news.shorten(item.ticket, row)  # it may have been found on a shorter way meanwhile
        await self.comebacks.bring(turn.host.name)  # what was refused, if pages like it bring something new
        self.intake.finish(item, moved=verdict.state == "waiting")  # 5 finished

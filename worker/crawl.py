"""One URL's way: admit, visit, examine, settle. The story of the crawl, told for one partition.

    frontier topic ─► admit ─► back queue ─► visit ─► examine ─► settle ─► finished
                        │                      │                   │
                        └► backlog             └► robots.txt       └► outlinks to the topics; retry to the calendar

Everything here may be cut short at any await: each effect can be repeated without harm, and a ticket is finished only
after all of its effects.
"""

import random
from collections.abc import Callable
from time import perf_counter

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas.messages import DeadLetter, Page, Row, Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.services import Services
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.examine import Examined, Examiner
from gregor.worker.fetch.fetcher import AddressBusy, Fetcher
from gregor.worker.fetch.outcomes import AddressRefused, Broken, Denied, Failed, Fetched, LeaseOver, Outcome, Redirected
from gregor.worker.frontier.back_queue import FromLog, Item
from gregor.worker.frontier.counts import count_settled
from gregor.worker.frontier.domain_budget import DomainPages, count_of
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.intake import Intake
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.frontier.tickets import is_stale
from gregor.worker.observe import tracing
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.tracing import Tracer, Visit
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness.turns import Turns
from gregor.worker.read.processors import ProcessorError
from gregor.worker.robots.answers import NotReachable, OriginRefused, Rules, TurnUsed, Wait
from gregor.worker.robots.walk import RobotsFetch
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.rows import OPTED_OUT, forgotten, settled_row
from gregor.worker.settle.verdicts import GIVEN_UP, Policy, Verdict, conclude, of_redirect, of_stored, sitemap_news
from gregor.worker.web.urls import Url, Urls

_LOG = logs("crawl")


class Crawl:
    """The crawl of one owned partition."""

    def __init__(
        self,
        partition: Partition,
        *,
        intake: Intake,
        turns: Turns,
        robots: RobotsFetch,
        fetcher: Fetcher,
        examiner: Examiner,
        pages: PageWriter,
        config: Config,
        services: Services,
        effects: Effects,
        orders: OrdersInForce,
        schedule: HostSchedule,
        domain_pages: DomainPages,
        urls: Urls,
        sent: RecentlySent,
        monotonic: Callable[[], float],
        chance: random.Random,
        stats: Stats,
        name: str,
        tracer: Tracer | None,
    ) -> None:
        """``name``: the worker's."""
        self.partition = partition
        self.intake = intake
        self.turns = turns
        self._robots = robots
        self._fetcher = fetcher
        self._examiner = examiner
        self._pages = pages
        self._config = config
        self._services = services
        self._now = services.coordinator.now
        self._effect = effects.run
        self._orders = orders
        self._schedule = schedule
        self._domain_pages = domain_pages
        self._urls = urls
        self._links_sent = sent
        self._monotonic = monotonic
        self._chance = chance
        self._stats = stats
        self._name = name
        self._tracer = tracer
        self._policy = Policy.of(config)

    # Admit: `Intake` reads topics, calendar and backlogs, and makes live tickets of them, or waiting ones.

    # Visit

    async def visit(self, host: Host) -> None:
        """One turn of a host: until a request was made, or nothing is left to ask for. The host was taken out."""
        try:
            await self.turns.know(host)
            while host.next_turn <= self._monotonic() and (item := host.queue.take()) is not None:
                late = self._monotonic() - host.next_turn
                with Visit(self.partition.id, self.partition.lease.epoch, host.name, self._tracer, late):
                    over = await self._visit(host, item)
                if over:
                    break
        finally:
            host.busy = False
            self.intake.look_after(host)
            self._schedule.see(self.partition, host)

    async def _visit(self, host: Host, item: Item) -> bool:
        """Visit one URL; True when the host's turn is over."""
        ticket, store = item.ticket, self._services.store
        url = self._urls.parse(ticket.href)
        if url is None:
            await self.settle(host, item, None, Broken("url", "not a URL that can be fetched"))
            return False
        try:
            if ticket.kind == "robots":
                return await self._answer_for(host, item, url)
            row = (await self._effect(lambda: store.rows([ticket.key])))[0]
            if is_stale(ticket, row):
                await self._hear(ticket, row)
                self._finish(item)
                return False
            if self._opted_out(host):
                await self.settle(host, item, row, Denied(OPTED_OUT))
                return False
            stored = await self._effect(lambda: store.page(ticket.key, ticket.visit + 1)) if item.inherited else None
            if stored is not None and stored.kind == ticket.kind:
                await self._settle_stored(host, item, row, stored)
                return False
            if (closed := self._closed(host, url)) is not None:
                await self.settle(host, item, row, closed)
                return False
            tracing.ended("row")
            rules = await self._robots_allow(host, item, row, url)
            tracing.ended("robots")
            if rules is None:
                return item.state != "visited"
            return await self._fetch(host, item, row, url, rules.known)
        except AddressBusy as busy:
            self._wait_for(str(busy), host, item)
            return True

    def _opted_out(self, host: Host) -> bool:
        return self._orders.opted_out(host.name)

    async def _hear(self, ticket: Ticket, row: Row | None) -> None:
        """What a sitemap says of a known page is kept, and may bring a visit forward: the later entry gets stale."""
        news = sitemap_news(ticket, row, self._policy, self._now())
        if news is None:
            return
        known, again = news
        if again is not None:
            await self.intake.appoint(again, known.due)
        await self._effect(lambda: self._services.store.put_rows([known], self.partition.stamp()))

    def _closed(self, host: Host, url: Url) -> Outcome | None:
        """Why no URL of the host, or of this origin of it, is fetched now, if so."""
        if cause := self.turns.given_up(host, url.origin):
            return Broken("host", cause)
        if budget := self.turns.budget_spent(host):
            return Denied(budget)
        return None

    async def _robots_allow(self, host: Host, item: Item, row: Row | None, url: Url) -> Rules | None:
        """The robots.txt that allows the URL. None: its ticket was settled, or went back to wait for its turn."""
        may_send, before = (lambda: self.turns.may_send(host)), host.last_start
        answer = await self._robots.rules(host, url, item.ticket, may_send)
        match answer:
            case Rules(robots) if host.last_start != before:  # asked for in vain: what was known before holds on
                host.crawl_delays[url.origin] = robots.crawl_delay
                await self.turns.asked(host, url.origin, robots=True)
            case Rules(robots) if self._spaced_by(robots.crawl_delay, host, url):
                decision = robots.decide(url.href)
                self._stats.robots["allowed" if decision.allowed else "denied"] += 1
                if not decision.allowed:
                    await self.settle(host, item, row, Denied(f"robots.txt line {decision.line}: {decision.rule}"))
                return answer if decision.allowed else None
            case Rules():
                host.next_turn = self.turns.page_due(host)
            case OriginRefused(detail):
                await self.settle(host, item, row, AddressRefused(detail))
                return None
            case TurnUsed(latency, robots):
                host.latency = latency
                self._stats.stages["robots"].observe(latency)
                if robots is not None:
                    host.crawl_delays[url.origin] = robots.crawl_delay
                await self.turns.asked(host, url.origin, robots=True, mends=robots is not None)
            case Wait(seconds):
                host.next_turn = self._monotonic() + seconds
            case NotReachable(cause, after, failure):
                self._stats.errors[failure] += 1
                self._stats.robots["unreachable"] += 1
                await self.turns.failed(host, url.origin, cause, after)
        host.queue.put_back(item)
        return None

    def _spaced_by(self, crawl_delay: float | None, host: Host, url: Url) -> bool:
        """Note what an origin asks for. False when it is more than was known, and the last page was too lately."""
        if host.crawl_delays.get(url.origin) == crawl_delay:
            return True
        host.crawl_delays[url.origin] = crawl_delay
        return self.turns.page_due(host) <= self._monotonic()

    async def _fetch(self, host: Host, item: Item, row: Row | None, url: Url, rules: float) -> bool:
        """The request itself; True when one was made."""
        await self.turns.promise(host)
        before, now = host.last_start, self._now()
        stored = await self._version(item.ticket, row)
        begun_at = self._monotonic()
        outcome, response = await self._fetcher.fetch(
            url,
            lambda: self.turns.may_send(host, url.href, rules),
            now,
            self._fetcher.limits,
            _conditions(stored),
        )
        try:
            if isinstance(outcome, LeaseOver):
                raise LeaseLost
            took = response.elapsed if response is not None else self._monotonic() - begun_at
            if isinstance(outcome, Failed) and host.last_start == before:
                outcome = msgspec.structs.replace(outcome, host=True)  # it was never sent: no connection came about
            if response is not None:
                host.latency = response.latency
                self._stats.answered(response)
                if (
                    isinstance(outcome, Failed)
                    and outcome.cause == "cut"
                    and item.ticket.attempts >= self._policy.retries
                ):
                    outcome = Fetched(response)  # it never comes whole: better kept with its mark than not at all
            if isinstance(outcome, Broken) and outcome.cause == "protocol" and not item.lenient:
                item.lenient = True  # one more turn: then the transport reads as browsers do
                host.queue.put_back(item)
                await self.turns.asked(host, url.origin)
                return True
            stats, begun = self._stats, perf_counter()
            outcome, examined = await self.examine(item.ticket, url, outcome)
            stats.stages["parse"].observe(perf_counter() - begun)
            tracing.ended("parse")
            parsed = self._monotonic()
            settle = self.settle(host, item, row, outcome, url, response, examined, stored, took)
            await stats.spending.charge("settle", settle)
            stats.stages["settle"].observe(self._monotonic() - parsed)
            tracing.ended("settle")
        finally:
            if response is not None:
                response.close()
        return host.last_start != before or isinstance(outcome, Failed)

    async def _version(self, ticket: Ticket, row: Row | None) -> Page | None:
        """The stored version of what is visited again."""
        if ticket.kind != "revisit" or row is None or not row.page:
            return None
        return await self._effect(lambda: self._services.store.page(ticket.key, row.page))

    async def _answer_for(self, host: Host, item: Item, url: Url) -> bool:
        """Fetch a robots.txt that another host's owner asked for."""
        if self._opted_out(host):
            self._finish(item)
            return False
        made = await self._robots.answer_for(host, item.ticket, lambda: self.turns.may_send(host))
        self._finish(item)
        if made:
            await self.turns.asked(host, url.origin, robots=True, mends=False)
        return made

    def _wait_for(self, address: str, host: Host, item: Item) -> None:
        """Try again when the address has room, and now and then in case it has by other ways."""
        host.queue.put_back(item)
        again = host.next_turn = self._monotonic() + 1.0

        def room() -> bool:
            waits = host.alive and host.next_turn == again  # else its turn is another one by now
            if waits:
                least = host.last_start + self.turns.delay(host)
                host.next_turn = min(again, max(self._monotonic(), least))
                self._schedule.see(self.partition, host)
            return waits

        self._fetcher.gate.wait(address, host, room)

    # Examine

    async def examine(self, ticket: Ticket, url: Url, outcome: Outcome) -> tuple[Outcome, Examined | None]:
        """Read the document, if one came. A processor that fails on it makes another outcome."""
        if not isinstance(outcome, Fetched):
            return outcome, None
        spending = self._stats.spending
        before = spending.switch("parse")
        try:
            reading = await self._examiner.read_large(ticket, url, outcome.response)
            return outcome, self._examiner.examine(ticket, url, outcome.response, reading)
        except ProcessorError as error:
            return Broken("processor", str(error), outcome.response.status), None
        finally:
            spending.switch(before)

    # Settle

    async def settle(
        self,
        host: Host,
        item: Item,
        row: Row | None,
        outcome: Outcome,
        url: Url | None = None,
        response: Response | None = None,
        examined: Examined | None = None,
        stored: Page | None = None,
        took: float = 0.0,
    ) -> None:
        """Make an outcome durable, in the order in which nothing can be lost. `took`: seconds of the request."""
        ticket = item.ticket
        if self._opted_out(host):  # maybe since the request was made: nothing of its answer is kept
            outcome, examined, stored = Denied(OPTED_OUT), None, None
        pushed = isinstance(outcome, Denied) is False and response is not None and response.status in (429, 503)
        host.pushbacks = host.pushbacks + 1 if pushed else host.pushbacks if response is None else 0
        same = examined is not None and stored is not None and examined.page.fingerprint == stored.fingerprint
        held = stored.state if stored is not None and _conditions(stored) else None
        verdict = conclude(ticket, outcome, row, self._policy, host.pushbacks, self._now(), self._chance, same, held)
        tickets: list[Ticket] = []
        if isinstance(outcome, Redirected) and url is not None:
            tickets, link = self._examiner.redirect(ticket, url, outcome.location)
            verdict = of_redirect(verdict, ticket, url, link, self._config, self._now())
            tickets = tickets if verdict.state == "redirected" else []
        page = None
        if examined is not None and response is not None:
            page, tickets = examined.page, examined.tickets
            await self._pages.store(page, response, url)  # 1 page, links, body; then the fingerprint
        await self._conclude(host, item, row, verdict, tickets, page, took)
        origin = url.origin if url is not None else ""
        if response is not None:
            size = page.size if page is not None else None
            await self.turns.asked(host, origin, verdict.pause, size)  # 6 the next turn
        elif verdict.host_failed:
            await self.turns.failed(host, origin, verdict.outcome)
        elif url is not None:  # whatever came, if anything did, a request may have been made
            await self.turns.asked(host, origin)

    async def _settle_stored(self, host: Host, item: Item, row: Row | None, page: Page) -> None:
        """The page of this very ticket is stored: go on from there, without a fetch."""
        if page.state == "fetched":
            await self._pages.claim(page)
        verdict = of_stored(page, item.ticket, row, self._policy, self._now(), self._chance)
        tickets = [
            self._examiner.follow(item.ticket, target, link.kind)
            for link in page.links
            if link.fate == "sent" and (target := self._urls.parse(link.url)) is not None
        ]
        await self._conclude(host, item, row, verdict, tickets, page, page.elapsed)

    async def _conclude(
        self,
        host: Host,
        item: Item,
        row: Row | None,
        verdict: Verdict,
        tickets: list[Ticket],
        page: Page | None,
        took: float,
    ) -> None:
        """Steps 2 to 5 of a settle."""
        partition, services, ticket = self.partition, self._services, item.ticket
        tickets = self._orders.ranked(tickets)
        if tickets:  # 2 outlinks published
            await self._effect(lambda: services.log.publish(tickets))
            self._links_sent.learn(tickets)
            self._sent(tickets)
        if page is not None:  # before the row: after it nobody would tell
            await self._effect(lambda: services.log.announce(page))
        if (follower := verdict.next) is not None:  # 3 the next ticket
            await self.intake.appoint(follower, verdict.due)
        if verdict.state in GIVEN_UP:
            letter = DeadLetter(
                ticket.key,
                ticket.href,
                ticket.host,
                verdict.cause,
                verdict.rule or verdict.outcome,
                self._now(),
                ticket.attempts + 1,
            )
            await self._effect(lambda: services.store.put_dead_letter(letter))
            await self._effect(lambda: services.log.announce(letter))
        now, name = self._now(), self._name
        settled = settled_row(ticket, row, verdict, page, now, name, host.take_requests(), took)
        settled = forgotten(settled) if verdict.rule == OPTED_OUT else settled
        await self._effect(lambda: services.store.put_rows([settled], partition.stamp()))  # 4 the row
        await self._effect(lambda: services.seen.mark([url_fingerprint(ticket.key)]))  # 5 seen, finished
        count_settled(self.partition.counts, row, settled, page, verdict.cause)
        self._count(verdict, page)
        self._tell(settled, verdict.cause)
        self._finish(item, moved=verdict.state == "waiting")

    def _sent(self, tickets: list[Ticket]) -> None:
        """Count links that were published, and how many of them stay on this worker."""
        stats, partitions = self._stats, self._config.partitions
        mine = self._services.coordinator.wanted()
        stays = sum(partition_of(ticket.host, partitions) in mine for ticket in tickets)
        stats.links["sent"] += len(tickets)
        stats.churn["stays"] += stays
        stats.churn["crosses"] += len(tickets) - stays

    def _finish(self, item: Item, *, moved: bool = False) -> None:
        """The ticket is finished, its followers with it; calendar entries that followed one that moved go back."""
        back = [source for source in item.followers if moved and not isinstance(source, FromLog)]
        self.partition.leave(item)
        self.partition.finish(source for source in item.sources() if source not in back)
        self.intake.reenter([(item.ticket, source) for source in back])
        self.intake.room()

    def _count(self, verdict: Verdict, page: Page | None) -> None:
        stats = self._stats
        stats.settled(page.state if page is not None else verdict.state)
        if page is not None:
            for domain, _ in self._orders.domain_budgets(page.host):
                self.partition.counts[count_of(domain)] += 1
                self._domain_pages.stored(domain)
            stats.stored(page.status, page.size, page.state)
        if verdict.cause:
            stats.errors[verdict.cause] += 1

    def _tell(self, row: Row, cause: str) -> None:
        """What became of a visit, for the trace and the log: never what a site wrote."""
        visit = tracing.current()
        if visit is not None and visit.stages is not None:
            visit.facts.update({"url.full": row.href, "gregor.state": row.state})
            visit.facts.update({"http.response.status_code": row.status} if row.status else {})
            visit.facts.update({"error": cause} if cause else {})
        _LOG.debug("visited", url=row.href, state=row.state, status=row.status, cause=cause, visits=row.visits)


def _conditions(stored: Page | None) -> tuple[tuple[str, str], ...]:
    """The validators of a stored version (RFC 9110 section 13)."""
    if stored is None:
        return ()
    stated = (("If-None-Match", stored.etag), ("If-Modified-Since", stored.last_modified))
    return tuple((name, value) for name, value in stated if value)

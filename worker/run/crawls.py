"""How the crawl of a partition is put together, from what all partitions of a worker share."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.crawl import PartitionCrawl
from gregor.worker.examine import Examiner
from gregor.worker.extract.crawled import NOTHING, Extraction
from gregor.worker.fetch.address_gate import AddressGate
from gregor.worker.fetch.cookie_file import GivenCookie
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.names import AT_LEAST, NameLookups
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.intake import Intake
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.revisit_share import RevisitShare, WaitingPages
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.frontier.sent import RecentlySent, SentByDepth
from gregor.worker.links.ordering.fetch_order import FetchOrder
from gregor.worker.links.scope import Scope
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.tracing import Tracer
from gregor.worker.observe.visits import Visits
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness.budgets import HostBudgets
from gregor.worker.politeness.host_records import HostRecords
from gregor.worker.politeness.spacing import Spacing
from gregor.worker.politeness.turns import Turns
from gregor.worker.read.configured import configured
from gregor.worker.read.processors import installed
from gregor.worker.robots.announce import Announcer
from gregor.worker.robots.cache import RobotsCache
from gregor.worker.robots.rulings import RobotsRulings
from gregor.worker.robots.shared import SharedAnswers
from gregor.worker.robots.walk import RobotsFetch
from gregor.worker.settle.comebacks import Comebacks
from gregor.worker.settle.drops import Drops
from gregor.worker.settle.news import News
from gregor.worker.settle.page_writer import PageWriter
from gregor.worker.settle.settling import settling_of
from gregor.worker.settle.verdicts import Policy
from gregor.worker.web.urls import Urls


class Crawls:
    """Makes the crawls of a worker's partitions."""

    def __init__(
        self,
        config: Config,
        services: Services,
        clock: Clock,
        *,
        urls: Urls,
        scope: Callable[[], Scope],
        chance: random.Random,
        name: str,
        stats: Stats,
        authorizations: Mapping[str, str],
        cookies: Sequence[GivenCookie],
        tracer: Tracer | None,
        orders: OrdersInForce,
        schedule: HostSchedule,
        domain_pages: DomainPages,
        extraction: Extraction = NOTHING,
    ) -> None:
        """``scope`` gives the one by which links are measured now; ``authorizations``: credentials by origin."""
        self._config = config
        self._services = services
        self._clock = clock
        self._urls = urls
        self._scope = scope
        self._chance = chance
        self._name = name
        self._stats = stats
        self._orders = orders
        self._extraction = extraction
        self._schedule = schedule
        self._spacing = Spacing(config, orders)
        self._budgets = HostBudgets(config, orders, domain_pages)
        self._policy = msgspec.structs.replace(Policy.of(config), ranks=extraction.judges.ranks)
        self._visits = Visits(
            stats,
            tracer,
            partitions=config.partitions,
            wanted=services.coordinator.wanted,
            monotonic=clock.monotonic,
            relevant_from=config.topic_threshold,
        )
        gate = AddressGate(config, services.addresses, asyncio.get_running_loop().time)  # permits ask it on any thread
        names = NameLookups(services.resolver, max(AT_LEAST, 2 * config.concurrency), clock.monotonic)
        self.fetcher = Fetcher(config, services.transport, names, gate, urls, authorizations, cookies)
        sent = RecentlySent if config.max_depth is None else SentByDepth
        in_partition = partial(partition_of, partitions=config.partitions)
        self._sent, self._traps = sent(config.recently_sent), Traps(partition_of=in_partition)
        policy = extraction.judges.policy
        self.order = (
            None if policy is None else FetchOrder(policy, in_partition, config.ordering_memory, stats.promotions)
        )
        if policy is not None and policy.compares_hosts:
            schedule.worth = lambda host: host.queue.best
        self._revisit_share = RevisitShare.of(config.revisit_share, clock.monotonic)
        self._robots = RobotsCache(config.robots_memory, stats)
        self._shared = SharedAnswers()
        self._examiner = Examiner(
            config,
            urls=urls,
            scope=scope,
            now=services.coordinator.now,
            stats=stats,
            processors=configured(extraction.processors or installed(), config),
            sent=self._sent,
            traps=self._traps,
            extraction=extraction,
            order=self.order,
        )

    def of(self, partition: Partition, effects: Effects, capacity: int) -> PartitionCrawl:
        """The crawl of a partition; ``capacity``: its share of memory, in tickets."""
        config, services, stats, monotonic = self._config, self._services, self._stats, self._clock.monotonic
        partition.fields.forget_unless(self._extraction.tells_of)
        partition.judge, names = self._traps.judge, self._traps.refused_names
        names.recall(partition.refused())
        partition.refused = partial(names.kept, partition.id)
        if self._revisit_share is not None:
            partition.pages = WaitingPages(self._revisit_share)
        if self.order is not None:
            partition.standings = self.order.standings(partition.id, capacity / config.memory_urls)
            self.order.policy.recall(partition.topic())
            partition.topic = partial(self.order.kept, partition.id)
        intake = Intake(
            partition,
            config=config,
            services=services,
            effects=effects,
            schedule=self._schedule,
            monotonic=monotonic,
            chance=self._chance,
            stats=stats,
            capacity=capacity,
        )
        store, now = services.store, services.coordinator.now
        records = HostRecords(
            partition,
            config=config,
            spacing=self._spacing,
            budgets=self._budgets,
            store=store,
            effects=effects,
            traps=self._traps,
            now=now,
            chance=self._chance,
        )
        turns = Turns(
            partition,
            records=records,
            spacing=self._spacing,
            budgets=self._budgets,
            schedule=self._schedule,
            now=now,
            monotonic=monotonic,
            stats=stats,
        )
        pages = PageWriter(
            partition,
            store=store,
            seen=services.seen,
            effects=effects,
            traps=self._traps,
            stats=stats,
            near_duplicate_share=config.near_duplicate_share,
        )
        news = News(
            partition,
            intake.waiting,
            policy=self._policy,
            log=services.log,
            store=store,
            effects=effects,
            orders=self._orders,
            urls=self._urls,
            sent=self._sent,
            now=now,
            stats=stats,
            drops=Drops(
                partition,
                after=config.stale_after,
                visits_again=config.revisit is not None,
                services=services,
                effects=effects,
                sent=self._sent,
                stats=stats,
            ),
        )
        comebacks = Comebacks(
            intake.waiting,
            traps=self._traps,
            records=records,
            store=store,
            log=services.log,
            effects=effects,
            now=now,
            stats=stats,
        )
        return PartitionCrawl(
            partition=partition,
            intake=intake,
            turns=turns,
            rulings=self._rulings(partition, effects),
            fetcher=self.fetcher,
            examiner=self._examiner,
            pages=pages,
            settling=settling_of(services, effects),
            news=news,
            comebacks=comebacks,
            budgets=self._budgets,
            visits=self._visits,
            policy=self._policy,
            services=services,
            effects=effects,
            orders=self._orders,
            schedule=self._schedule,
            urls=self._urls,
            sent=self._sent,
            chance=self._chance,
            name=self._name,
        )

    def _rulings(self, partition: Partition, effects: Effects) -> RobotsRulings:
        """What asks and obeys the robots.txt files of a partition's origins."""
        config, services, monotonic = self._config, self._services, self._clock.monotonic
        store, log, now = services.store, services.log, services.coordinator.now
        fetch = RobotsFetch(
            partition,
            config=config,
            log=log,
            store=store,
            effects=effects,
            urls=self._urls,
            now=now,
            monotonic=monotonic,
            fetcher=self.fetcher,
            shared=self._shared,
            stats=self._stats,
        )
        announcer = Announcer(
            config=config, log=log, effects=effects, urls=self._urls, scope=self._scope, now=now, sent=self._sent
        )
        return RobotsRulings(
            self._robots,
            fetch,
            announcer,
            config=config,
            store=store,
            effects=effects,
            orders=self._orders,
            now=now,
            monotonic=monotonic,
            stats=self._stats,
        )

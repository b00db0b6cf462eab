"""The standing orders as one worker obeys them: which turns they hold back, and which come sooner when they ease."""

import asyncio
from collections.abc import Mapping
from functools import partial

from gregor.worker.borders.effects import Retries
from gregor.worker.borders.store import PageStore
from gregor.worker.frontier.domain_budget import DomainPages
from gregor.worker.frontier.host import Host
from gregor.worker.frontier.schedule import HostSchedule
from gregor.worker.observe.logging import Log
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import CRAWL, OrderKind, Orders
from gregor.worker.politeness.throttle import Shared, Throttle
from gregor.worker.run.ownership import TICK, Owned

_LOG = Log("steering")
_LOOK_AGAIN = 10 * TICK  # seconds: a host that an order holds back is looked at so often
_RECOUNT = 3.0  # seconds between two looks at what all workers stored of a domain


class OrderGate:
    """Asked by the runtime before each turn. Politeness is not its matter: it only ever makes a turn later."""

    def __init__(
        self,
        orders: OrdersInForce,
        owned: Mapping[int, Owned],
        *,
        name: str,
        partitions: int,
        schedule: HostSchedule,
        domain_pages: DomainPages,
        store: PageStore,
        retries: Retries,
    ) -> None:
        """``name``: the worker's; ``partitions``: the crawl's, of which those ``owned`` are a share."""
        self._in_force = orders
        self._owned = owned
        self._name = name
        self._partitions = partitions
        self._schedule = schedule
        self._domain_pages = domain_pages
        self._store = store
        self._retries = retries
        self._throttle = Throttle()
        self._orders = Orders()
        self._slowed = False

    def hear(self, now: float) -> None:
        """Obey orders that are new."""
        orders, before = self._in_force.latest, self._orders
        if orders is before:
            return
        self._orders = orders
        if orders.unread.keys() - before.unread.keys():
            _LOG.warning("orders cannot be read", orders=sorted(orders.unread))
        if _differ(before, orders, "rate") or _differ(before, orders, "concurrency"):
            for host in self._throttle.forget(partial(self._domains, "concurrency")):
                self._look_at(host, now)
        changed = _differ(before, orders, "rate") | _differ(before, orders, "delay")
        if changed:
            self._hasten(changed)

    def lets(self, now: float) -> bool:
        """Whether a turn may begin: the crawl is not paused, and its rate has room."""
        if self._orders.paused:
            return False
        self._slowed = self._throttle.due(now) > now
        return not self._slowed

    def due(self, now: float) -> float:
        """When the rate of the crawl has room."""
        return self._throttle.due(now)

    def holds_back(self, owned: Owned, host: Host, now: float) -> bool:
        """Whether an order keeps the host's turn, which is due, from beginning now; its next turn is set then."""
        if not self._orders.by_name:
            return False
        if self._in_force.blocks(host.name):
            host.next_turn = now + _LOOK_AGAIN
            return True
        later = host.last_start + self._in_force.delay(host.name)
        if later > now:
            host.next_turn = later
            return True
        if self._throttle.full(host, self._domains("concurrency", host), self._share):
            host.next_turn = now + _LOOK_AGAIN
            return True
        slot = self._throttle.slot(host, self._domains("rate", host), self._share, now)
        if slot > now:
            host.next_turn = slot
            return True
        return False

    def begins(self, host: Host, now: float) -> None:
        """A turn of the host begins."""
        self._throttle.enter(host, self._domains("concurrency", host))
        self._throttle.spend(self._in_force.crawl("rate"), self._share, now)

    def ends(self, host: Host, now: float) -> None:
        """A turn of the host has ended."""
        for other in self._throttle.leave(host):
            self._look_at(other, now)

    @property
    def _share(self) -> float:
        """The part of the crawl that the worker owns."""
        return len(self._owned) / self._partitions

    @property
    def limit(self) -> str:
        """The order that keeps the worker from more, for people; empty when none does."""
        if self._orders.drains(self._name):
            return "an order to drain this worker"
        return "an order: the rate of the crawl" if self._slowed else ""

    async def count(self) -> None:
        """For ever: know what all workers have stored of the domains that have a budget."""
        while True:
            await self.recount()
            await asyncio.sleep(_RECOUNT)

    async def recount(self) -> None:
        """Know it as it is now; what was stored before this worker began counts, too."""
        read, retry = self._store.partition, self._retries.retry_until_available
        budgets = self._in_force.table("budget")
        self._domain_pages.forget(budgets)
        if any(target.startswith("*.") for target in budgets):
            own = self._domain_pages.own.copy()
            records = await asyncio.gather(*(retry(partial(read, number)) for number in range(self._partitions)))
            self._domain_pages.recounted(own, [record.domains for record in records])

    def _domains(self, kind: OrderKind, host: Host) -> Shared:
        if not self._orders.by_name:
            return ()
        return [one for one in self._in_force.shared(kind, host.name) if one[0] != CRAWL]

    def _look_at(self, host: Host, now: float) -> None:
        """A turn that was held back was due: it may begin now, as far as the host is concerned."""
        owned = self._owned.get(host.partition)
        if owned is not None and host.alive and not host.busy:
            host.next_turn = now
            self._schedule.see(owned.crawl.partition, host)

    def _hasten(self, changed: set[str]) -> None:
        """Delays were changed: what is due sooner by those in force now is done sooner."""
        everywhere = any(target == CRAWL or target.startswith("*.") for target in changed)
        for owned in self._owned.values():
            hosts = owned.crawl.partition.hosts
            names = hosts.keys() if everywhere else changed & hosts.keys()
            for host in [hosts[name] for name in names]:  # a turn may bring that others are forgotten
                if owned.crawl.turns.sooner(host):
                    self._schedule.see(owned.crawl.partition, host)


def _differ(before: Orders, after: Orders, kind: OrderKind) -> set[str]:
    """The targets of which something else was ordered."""
    return {target for target, _ in before.of(kind).items() ^ after.of(kind).items()}

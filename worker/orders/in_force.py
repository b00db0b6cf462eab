"""What the standing orders mean for a host, answered from tables that are made once for each version of them. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from gregor.schemas.messages import Ticket
from gregor.worker.orders.model import CRAWL, OrderKind, Orders

_FOR_HOSTS: Final[tuple[OrderKind, ...]] = ("block", "optout", "delay", "rate", "concurrency", "priority", "budget")


class OrdersInForce:
    """Orders by kind and target. Of several that hold for a host, the tables say which counts."""

    def __init__(self, latest: Callable[[], Orders]) -> None:
        """``latest`` gives the orders that stand now; the same object as long as they are the same."""
        self._latest = latest
        self._read(latest())

    @property
    def latest(self) -> Orders:
        """The orders that stand now."""
        return self._latest()

    def blocks(self, host: str) -> bool:
        """Whether no request is sent to a host."""
        self._see()
        return bool(self.covering("block", host))

    def opted_out(self, host: str) -> bool:
        """Whether nothing of a host is asked for or stored."""
        self._see()
        return bool(self.covering("optout", host))

    def table(self, kind: OrderKind) -> Mapping[str, float]:
        """The values that were ordered of a kind, by target."""
        self._see()
        return self._values[kind]

    def delay(self, host: str) -> float:
        """The least delay that was ordered for a host; 0 when none was. A rate of the host alone is a delay too."""
        self._see()
        delays, rate = self._values["delay"], self._values["rate"].get(host)
        least = 1.0 / rate if rate else 0.0
        return max([least, *(delays[target] for target in self.covering("delay", host))]) if delays else least

    def priority(self, host: str) -> int | None:
        """The priority of what is found of a host from now on; that of the host itself, or of the nearest domain."""
        self._see()
        covering = self.covering("priority", host)
        return int(self._values["priority"][covering[0]]) if covering else None

    def budget(self, host: str) -> int | None:
        """The pages that may be stored of a host by an order of its own."""
        self._see()
        pages = self._values["budget"].get(host)
        return None if pages is None else int(pages)

    def domain_budgets(self, host: str) -> list[tuple[str, int]]:
        """The domains of a host that have a budget, and how many pages."""
        self._see()
        found = self._values["budget"]
        return [(one, int(found[one])) for one in self.covering("budget", host) if one not in (host, CRAWL)]

    def crawl(self, kind: OrderKind) -> float | None:
        """What is ordered of the crawl as a whole."""
        self._see()
        return self._values[kind].get(CRAWL)

    def shared(self, kind: OrderKind, host: str) -> list[tuple[str, float]]:
        """The domains of a host, and the crawl, that have an order which their hosts share; the narrowest first."""
        self._see()
        found = self._values[kind]
        return [(one, found[one]) for one in self.covering(kind, host) if one != host] if found else []

    def covering(self, kind: OrderKind, host: str) -> Sequence[str]:
        """The targets of a kind that cover a host: itself, its domains from the nearest up, the crawl."""
        ordered = self._values[kind]
        if not ordered:
            return ()
        return [
            target for target in (host, *(_domains(host) if kind in self._domains else ()), CRAWL) if target in ordered
        ]

    def concurrency(self, configured: int, share: float) -> int:
        """How many visits may run at once on a worker: by order, of which it has a ``share``, or as configured."""
        ordered = self.crawl("concurrency")
        return configured if ordered is None else places_of(ordered, share)

    def ranked(self, tickets: Sequence[Ticket]) -> list[Ticket]:
        """Tickets of links with the priorities that were ordered."""
        if not self.table("priority"):
            return list(tickets)
        wanted = ((ticket, self.priority(ticket.host)) for ticket in tickets)
        return [ticket if rank is None else msgspec.structs.replace(ticket, priority=rank) for ticket, rank in wanted]

    def _see(self) -> None:
        if (orders := self._latest()) is not self._orders:
            self._read(orders)

    def _read(self, orders: Orders) -> None:
        self._orders = orders
        self._values = {kind: orders.of(kind) for kind in _FOR_HOSTS}
        self._domains = {
            kind for kind, by_target in self._values.items() if any(target.startswith("*.") for target in by_target)
        }


def _domains(host: str) -> list[str]:
    labels = host.partition(":")[0].split(".")
    return [f"*.{'.'.join(labels[start:])}" for start in range(len(labels))]


def places_of(ordered: float, share: float) -> int:
    """What a worker has of a concurrency that was ordered for all of them: one at least."""
    return max(1, int(ordered * share))

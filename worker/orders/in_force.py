"""What the standing orders mean for a host, answered from tables that are made once for each version of them. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from gregor.worker.orders.model import CRAWL, Kind, Orders

_FOR_HOSTS: Final[tuple[Kind, ...]] = ("block", "optout", "delay", "rate", "concurrency", "priority", "budget")


class OrdersInForce:
    """Orders by kind and target. Of several that hold for a host, the tables say which counts."""

    def __init__(self) -> None:
        self._read(Orders())

    def blocks(self, orders: Orders, host: str) -> bool:
        """Whether no request is sent to a host."""
        self._see(orders)
        return bool(self.covering("block", host))

    def opted_out(self, orders: Orders, host: str) -> bool:
        """Whether nothing of a host is asked for or stored."""
        self._see(orders)
        return bool(self.covering("optout", host))

    def table(self, orders: Orders, kind: Kind) -> Mapping[str, float]:
        """The values that were ordered of a kind, by target."""
        self._see(orders)
        return self._found[kind]

    def delay(self, orders: Orders, host: str) -> float:
        """The least delay that was ordered for a host; 0 when none was. A rate of the host alone is a delay too."""
        self._see(orders)
        delays, rate = self._found["delay"], self._found["rate"].get(host)
        least = 1.0 / rate if rate else 0.0
        return max([least, *(delays[one] for one in self.covering("delay", host))]) if delays else least

    def priority(self, orders: Orders, host: str) -> int | None:
        """The priority of what is found of a host from now on; that of the host itself, or of the nearest domain."""
        self._see(orders)
        covering = self.covering("priority", host)
        return int(self._found["priority"][covering[0]]) if covering else None

    def budget(self, orders: Orders, host: str) -> int | None:
        """The pages that may be stored of a host by an order of its own."""
        self._see(orders)
        pages = self._found["budget"].get(host)
        return None if pages is None else int(pages)

    def domain_budgets(self, orders: Orders, host: str) -> list[tuple[str, int]]:
        """The domains of a host that have a budget, and how many pages."""
        self._see(orders)
        found = self._found["budget"]
        return [(one, int(found[one])) for one in self.covering("budget", host) if one not in (host, CRAWL)]

    def crawl(self, orders: Orders, kind: Kind) -> float | None:
        """What is ordered of the crawl as a whole."""
        self._see(orders)
        return self._found[kind].get(CRAWL)

    def shared(self, orders: Orders, kind: Kind, host: str) -> list[tuple[str, float]]:
        """The domains of a host, and the crawl, that have an order which their hosts share; the narrowest first."""
        self._see(orders)
        found = self._found[kind]
        return [(one, found[one]) for one in self.covering(kind, host) if one != host] if found else []

    def covering(self, kind: Kind, host: str) -> Sequence[str]:
        """The targets of a kind that cover a host: itself, its domains from the nearest up, the crawl."""
        found = self._found[kind]
        if not found:
            return ()
        return [one for one in (host, *(_domains(host) if kind in self._domains else ()), CRAWL) if one in found]

    def _see(self, orders: Orders) -> None:
        if orders is not self._orders:
            self._read(orders)

    def _read(self, orders: Orders) -> None:
        self._orders = orders
        self._found = {kind: orders.of(kind) for kind in _FOR_HOSTS}
        self._domains = {kind for kind, found in self._found.items() if any(one.startswith("*.") for one in found)}


def _domains(host: str) -> list[str]:
    labels = host.partition(":")[0].split(".")
    return [f"*.{'.'.join(labels[start:])}" for start in range(len(labels))]


def places_of(ordered: float, share: float) -> int:
    """What a worker has of a concurrency that was ordered for all of them: one at least."""
    return max(1, int(ordered * share))

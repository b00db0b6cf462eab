"""The operator's orders: giving them, taking them back, listing them, and what they mean for a host. Pure.

A host is written as the crawl writes it: lower-case ASCII, with its port when it is neither 80 nor 443. "*.example.org"
is example.org and every host below it, whatever the port.
"""

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from gregor.worker.borders import Note, Orders
from gregor.worker.errors import BadInput
from gregor.worker.urls import Urls

Kind = Literal["pause", "block", "delay"]
MOST: Final = 5000
"""Orders of one kind: all of them travel in one message, which ZooKeeper bounds to a megabyte."""
LONGEST_DELAY: Final = 86400.0
_LONGEST_NOTE: Final = 200
_URLS: Final = Urls()


class Order(msgspec.Struct, frozen=True):
    """One standing order. ``seconds`` is that of a delay; ``at``: unix seconds, 0 when nobody left a note."""

    kind: Kind
    host: str = ""
    seconds: float | None = None
    who: str = ""
    at: float = 0.0
    why: str = ""


def name_of(kind: Kind, host: str) -> str:
    """The order's name in `Orders.notes`."""
    return f"{kind} {host}".rstrip()


def host_of(text: str) -> str:
    """The host or "*.domain" that a person means, by its name or by a URL of it. Raises `BadInput`."""
    domain, bare = text.startswith("*."), text.removeprefix("*.")
    url = _URLS.parse(bare if "://" in bare else f"http://{bare}/")
    written_wrongly = not bare.isprintable() or (set("/?#@\\ ") & set(bare) and (domain or "://" not in bare))
    if url is None or written_wrongly or (domain and ":" in url.host):
        raise BadInput("not a host: write www.example.org, www.example.org:8080, or *.example.org for a domain")
    return f"*.{url.host}" if domain else url.host


def give(orders: Orders, order: Order) -> Orders:
    """With an order; giving it again replaces it. Raises `BadInput`."""
    blocked, delays = orders.blocked_hosts, orders.delays
    match order.kind:
        case "pause":
            orders = msgspec.structs.replace(orders, paused=True)
        case "block":
            blocked = tuple(sorted({*blocked, order.host}))
            orders = msgspec.structs.replace(orders, blocked_hosts=blocked)
        case "delay":
            if order.seconds is None or not 0.0 <= order.seconds <= LONGEST_DELAY:
                raise BadInput(f"a delay is a number of seconds from 0 to {LONGEST_DELAY:g}")
            delays = {**delays, order.host: order.seconds}
            orders = msgspec.structs.replace(orders, delays=delays)
    if max(len(blocked), len(delays)) > MOST:
        raise BadInput(f"at most {MOST} orders of a kind can stand: take some back, or put them into the config file")
    notes = dict(orders.notes)
    if order.at:
        notes[name_of(order.kind, order.host)] = Note(order.who[:_LONGEST_NOTE], order.at, order.why[:_LONGEST_NOTE])
    return msgspec.structs.replace(orders, notes=notes)


def take_back(orders: Orders, kind: Kind, host: str = "") -> Orders:
    """Without an order; one that does not stand changes nothing."""
    notes = {name: note for name, note in orders.notes.items() if name != name_of(kind, host)}
    match kind:
        case "pause":
            return msgspec.structs.replace(orders, paused=False, notes=notes)
        case "block":
            blocked = tuple(one for one in orders.blocked_hosts if one != host)
            return msgspec.structs.replace(orders, blocked_hosts=blocked, notes=notes)
        case "delay":
            delays = {one: seconds for one, seconds in orders.delays.items() if one != host}
            return msgspec.structs.replace(orders, delays=delays, notes=notes)


def listed(orders: Orders) -> Iterator[Order]:
    """Every order that stands."""
    if orders.paused:
        yield _noted(orders, Order("pause"))
    for host in orders.blocked_hosts:
        yield _noted(orders, Order("block", host))
    for host, seconds in sorted(orders.delays.items()):
        yield _noted(orders, Order("delay", host, seconds))


def _noted(orders: Orders, order: Order) -> Order:
    note = orders.notes.get(name_of(order.kind, order.host))
    return order if note is None else msgspec.structs.replace(order, who=note.who, at=note.at, why=note.why)


class Standing:
    """What orders mean for a host, answered from tables that are made once for each version of the orders."""

    def __init__(self) -> None:
        self._read(Orders())

    def blocks(self, orders: Orders, host: str) -> bool:
        """Whether no request is sent to a host."""
        if orders is not self._orders:
            self._read(orders)
        if host in self._blocked:
            return True
        return bool(self._blocked_domains) and any(one in self._blocked_domains for one in _domains(host))

    def delay(self, orders: Orders, host: str) -> float:
        """The least delay that was ordered for a host; 0 when none was."""
        if orders is not self._orders:
            self._read(orders)
        least = self._delays.get(host, 0.0)
        if not self._delayed_domains:
            return least
        return max(least, *(self._delays.get(one, 0.0) for one in _domains(host)))

    def _read(self, orders: Orders) -> None:
        self._orders = orders
        self._blocked = frozenset(orders.blocked_hosts)
        self._blocked_domains = frozenset(host for host in self._blocked if host.startswith("*."))
        self._delays = orders.delays
        self._delayed_domains = any(host.startswith("*.") for host in orders.delays)


def _domains(host: str) -> list[str]:
    labels = host.partition(":")[0].split(".")
    return [f"*.{'.'.join(labels[start:])}" for start in range(len(labels))]

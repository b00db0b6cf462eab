"""The operator's orders: what can be ordered, of what, and how orders are given, taken back and put on record. Pure.

A target is a host as the crawl writes it (lower-case ASCII, with its port when it is neither 80 nor 443); for
example.org and every host below it, whatever the port, "*.example.org"; "*" for the whole crawl; the name of a worker.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

import msgspec
import xxhash

from gregor.worker.base.errors import BadInput

OrderKind = Literal["pause", "block", "optout", "delay", "rate", "concurrency", "priority", "budget", "drain"]
Scale = Literal["crawl", "domain", "host", "worker"]
CRAWL: Final = "*"
"""The target that is the whole crawl."""
MOST: Final = 5000
"""Orders of one kind: all of them travel in one message, which ZooKeeper bounds to a megabyte."""
REMEMBERED: Final = 128
"""So many changes at least stand in the orders themselves: as long a key is known again."""
NEWEST: Final = 2**53
"""Beyond the number of every change; every language's JSON and every store hold it exactly."""
LONGEST_KEY: Final = 100
_LONGEST: Final = 200
_LONGEST_WORKER: Final = 300


class OrderRule(NamedTuple):
    """Of what an order may be; the bounds of its value, whether that is a whole number, and what it counts."""

    of: tuple[Scale, ...]
    least: float = 0.0
    most: float = 0.0
    integral: bool = False
    unit: str = ""


RULES: Final[dict[OrderKind, OrderRule]] = {
    "pause": OrderRule(("crawl",)),
    "block": OrderRule(("domain", "host")),
    "optout": OrderRule(("domain", "host")),
    "delay": OrderRule(("crawl", "domain", "host"), 0.0, 86400.0, unit="seconds"),
    "rate": OrderRule(("crawl", "domain", "host"), 0.00001, 100000.0, unit="requests a second"),
    "concurrency": OrderRule(("crawl", "domain"), 1, 10000, integral=True, unit="requests at once"),
    "priority": OrderRule(("domain", "host"), 1, 4, integral=True, unit="as priority (1 is the highest)"),
    "budget": OrderRule(("crawl", "domain", "host"), 0, 10**12, integral=True, unit="pages"),
    "drain": OrderRule(("worker",)),
}
KINDS: Final[tuple[OrderKind, ...]] = get_args(OrderKind)


class KeyReused(BadInput):
    """A key that names one change came with another."""


class Order(msgspec.Struct, frozen=True):
    """One standing order, with who gave it, when (unix seconds) and why. A pause of the crawl has no target."""

    kind: OrderKind
    target: str = ""
    value: float | None = None
    who: str = ""
    at: float = 0.0
    why: str = ""

    @property
    def name(self) -> str:
        """What one order replaces another by."""
        return name_of(self.kind, self.target)


class By(NamedTuple):
    """Who changes something, when, why and from where.

    A ``key`` makes one effect of a change that is asked for twice; ``asked`` tells apart what is asked under one key.
    """

    who: str
    at: float
    why: str = ""
    where: str = ""
    key: str = ""
    asked: int = 0


class Change(msgspec.Struct, frozen=True):
    """One entry of the record of changes. ``number``: the version of the orders then; ``count``: what it moved."""

    number: int
    at: float
    who: str
    where: str
    what: str
    why: str = ""
    count: int = 0
    key: str = ""
    asked: int = 0


class Orders(msgspec.Struct, frozen=True):
    """What stands, by name, and the last changes, oldest first. ``unread``: what a later version wrote, kept so."""

    version: int = 0
    by_name: dict[str, Order] = {}
    changes: tuple[Change, ...] = ()
    unread: dict[str, bytes] = {}

    @property
    def paused(self) -> bool:
        """Whether no new requests are made."""
        return "pause" in self.by_name

    def of(self, kind: OrderKind) -> dict[str, float]:
        """The values of the orders of a kind, by target; 0 where there is none."""
        return {one.target: one.value or 0.0 for one in self.by_name.values() if one.kind == kind}

    def drains(self, worker: str) -> bool:
        """Whether a worker is to hand everything over."""
        return name_of("drain", worker) in self.by_name


def name_of(kind: OrderKind, target: str) -> str:
    """The name of an order."""
    return f"{kind} {target}".rstrip()


def check(order: Order) -> None:
    """Raises `BadInput` for an order that cannot be."""
    rule = RULES[order.kind]
    if order.kind == "pause":
        if order.target:
            raise BadInput("a pause is of the whole crawl: block a host or domain")
    elif (scale := _scale(order)) not in rule.of:
        raise BadInput(_REFUSED.get((order.kind, scale), f"{order.kind} is not ordered of a {scale}"))
    if order.kind == "drain" and not (0 < len(order.target) <= _LONGEST_WORKER and order.target.isprintable()):
        raise BadInput("not the name of a worker: `gregor status` tells their names")
    if not rule.unit:
        if order.value is not None:
            raise BadInput(f"{order.kind} has no value")
    elif order.value is None or not rule.least <= order.value <= rule.most or (rule.integral and order.value % 1):
        kind = "whole number" if rule.integral else "number"
        raise BadInput(f"a {order.kind} is a {kind} from {rule.least:g} to {rule.most:.0f} {rule.unit}")


_REFUSED: Final[dict[tuple[OrderKind, Scale], str]] = {
    ("optout", "crawl"): "a host or a domain opts out, not the whole crawl",
    ("block", "crawl"): "the whole crawl is not blocked but paused",
    ("concurrency", "host"): "one host gets one request at a time, always: order a delay or a rate",
    ("priority", "crawl"): "a priority is one against others: give it to a host or a domain",
}


def _scale(order: Order) -> Scale:
    if order.kind == "drain":
        return "worker"
    if order.target == CRAWL:
        return "crawl"
    return "domain" if order.target.startswith("*.") else "host"


def give(orders: Orders, order: Order, by: By) -> Orders:
    """With an order; giving it again replaces it. Raises `BadInput`."""
    order = msgspec.structs.replace(order, who=by.who[:_LONGEST], at=by.at, why=by.why[:_LONGEST])
    check(order)
    value = "" if order.value is None else f" {order.value:g}"
    what = f"{order.name}{value}"
    if made_before(orders, by) is not None:
        return orders
    by_name = {**orders.by_name, order.name: order}
    if sum(other.kind == order.kind for other in by_name.values()) > MOST:
        raise BadInput(f"at most {MOST} orders of a kind can stand: take some back, or put them into the config file")
    return record(msgspec.structs.replace(orders, by_name=by_name), what, by)


def take_back(orders: Orders, name: str, by: By) -> Orders:
    """Without an order, readable or not; one that does not stand changes nothing. Raises `KeyReused`."""
    if made_before(orders, by) is not None or (name not in orders.by_name and name not in orders.unread):
        return orders
    by_name = {other: order for other, order in orders.by_name.items() if other != name}
    unread = {other: order for other, order in orders.unread.items() if other != name}
    return record(msgspec.structs.replace(orders, by_name=by_name, unread=unread), f"took back {name}", by)


def record(orders: Orders, what: str, by: By, count: int = 0) -> Orders:
    """With one change more on record."""
    number = orders.version + 1
    change = Change(
        number,
        by.at,
        by.who[:_LONGEST],
        by.where[:_LONGEST],
        what[: 2 * _LONGEST],
        by.why[:_LONGEST],
        count,
        by.key,
        by.asked,
    )
    return msgspec.structs.replace(orders, version=number, changes=(*orders.changes, change))


def made_before(orders: Orders, by: By) -> Change | None:
    """The change that was made under the same key. Raises `KeyReused` when something else was asked under it."""
    if not by.key:
        return None
    before = next((change for change in reversed(orders.changes) if change.key == by.key), None)
    if before is not None and before.asked != by.asked:
        raise KeyReused("this key named another change before: a new change needs a new key")
    return before


def request_digest(*parts: bytes | str) -> int:
    """What tells apart what is asked, in 64 bits."""
    texts = [part.encode() if isinstance(part, str) else part for part in parts]
    return xxhash.xxh3_64_intdigest(b"\0".join(texts))


def listed(orders: Orders, after: str = "") -> Iterator[Order]:
    """Every order that stands, by kind and target: all, or those behind a name, whether that stands or not."""
    behind = _place(after) if after else None
    for order in sorted(orders.by_name.values(), key=lambda other: _place(other.name)):
        if behind is None or _place(order.name) > behind:
            yield order


def _place(name: str) -> tuple[int, str]:
    kind, _, target = name.partition(" ")
    return next((number for number, one in enumerate(KINDS) if one == kind), len(KINDS)), target


def archived(orders: Orders) -> tuple[Orders, tuple[Change, ...]]:
    """The orders as they are kept, and changes that are to be put aside first, for they have become too many."""
    if len(orders.changes) <= 2 * REMEMBERED:
        return orders, ()
    older, newer = orders.changes[:-REMEMBERED], orders.changes[-REMEMBERED:]
    return msgspec.structs.replace(orders, changes=newer), older


def continue_numbering(orders: Orders, newest: Sequence[Change]) -> Orders:
    """Orders that begin at version 0, as they do where nobody can read what stood there, with numbers behind those of
    the record. ``newest``: the last change that was put aside, if any was."""
    return msgspec.structs.replace(orders, version=max((one.number for one in newest), default=orders.version))

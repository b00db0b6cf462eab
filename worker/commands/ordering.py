"""The commands that give one order or take it back, as a table; what they share with others that order.

They speak to the API where one runs, else to what coordinates the crawl.
"""

import argparse
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.base.spans import seconds
from gregor.worker.commands import FAILED, FINISHED, api_client
from gregor.worker.commands.common import settings
from gregor.worker.orders.model import KINDS, RULES, Order, OrderKind, check, give, listed, name_of, take_back
from gregor.worker.orders.targets import target_of

_PAGE: Final = 500


class OrderCommand(NamedTuple):
    """A command by its order. ``value``: what it is called in the help of an order that has one."""

    kind: OrderKind
    value: str = ""
    takes_back: bool = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Of what, how much, why, and whom to ask."""
        scales = RULES[self.kind].of
        api_client.add_arguments(parser, host="host" in scales or "domain" in scales, why=True)
        if "worker" in scales:
            parser.add_argument("worker", metavar="WORKER", help="its name, as `gregor status` has it")
        if self.value:
            unit = RULES[self.kind].unit
            parser.add_argument("value", metavar=self.value, help=f"{unit}, or none to take the order back")

    def run(self, arguments: argparse.Namespace) -> int:
        """Give the order, or take it back."""
        target = getattr(arguments, "worker", "") or getattr(arguments, "host", "")
        if self.takes_back or (self.value and arguments.value == "none"):
            return taken_back(arguments, self.kind, target)
        if self.kind == "drain" and not _runs(arguments):
            return FAILED
        ordered(arguments, self.kind, target, self._value(arguments) if self.value else None)
        return FINISHED

    def _value(self, arguments: argparse.Namespace) -> float:
        span = seconds(arguments.value) if self.kind == "delay" else None
        try:
            return float(arguments.value) if span is None else span
        except ValueError:
            text, unit = one_line(arguments.value, 80), RULES[self.kind].unit
            raise BadInput(f"{text!r} must be a number ({unit}) or none") from None


BY_NAME: Final = {
    "pause": OrderCommand("pause"),  # no new requests; what runs is finished
    "resume": OrderCommand("pause", takes_back=True),
    "block": OrderCommand("block"),  # also a domain, with all below it
    "unblock": OrderCommand("block", takes_back=True),
    "delay": OrderCommand("delay", "SECONDS"),  # a longer one that settings or a robots.txt ask for stays
    "rate": OrderCommand("rate", "N"),
    "concurrency": OrderCommand("concurrency", "N"),  # one host gets one request at a time, always
    "priority": OrderCommand("priority", "N"),  # of what is found from now on
    "budget": OrderCommand("budget", "PAGES"),
    "drain": OrderCommand("drain"),  # hand all partitions over, and stand by
    "undrain": OrderCommand("drain", takes_back=True),
}
"""The commands of this module, by name."""


def ordered(arguments: argparse.Namespace, kind: OrderKind, target: str = "", value: float | None = None) -> None:
    """Give an order. Raises `BadInput` and what reaching the coordinator raises."""
    order = Order(kind, target_of(kind, target), value)
    check(order)  # what cannot be is said before anybody is asked
    who = api_client.by(arguments)
    body: dict[str, Any] = {"who": who.who, "why": who.why}
    if value is not None:
        body["value"] = value
    if api_client.by_api(arguments, "PUT", _path(kind, order.target), body) is None:
        _directly(arguments, partial(give, order=order, by=who))


def taken_back(arguments: argparse.Namespace, kind: OrderKind, target: str = "") -> int:
    """Take an order back; the exit code, which says whether it stood."""
    target = target_of(kind, target)
    return _take_back(arguments, name_of(kind, target), _path(kind, target))


def taken_back_by_name(arguments: argparse.Namespace, name: str) -> int:
    """Take an order back by its name in the list, readable or not; the exit code, which says whether it stood."""
    kind, _, target = name.partition(" ")
    known_kind = next((other for other in KINDS if other == kind), None)
    unread = f"/api/v1/orders/unread/{api_client.quoted(name)}"
    return _take_back(arguments, name, unread if known_kind is None else _path(known_kind, target))


def in_force(arguments: argparse.Namespace) -> tuple[list[Order], list[str]]:
    """The orders that stand, and the names of those that cannot be read."""
    answered: list[Order] = []
    after, path = "", f"/api/v1/orders?limit={_PAGE}"
    while (answer := api_client.by_api(arguments, "GET", path + after)) is not None:
        answered += msgspec.convert(answer["orders"], list[Order])
        if not answer["next"]:
            return answered, answer["unread"]
        after = f"&after={api_client.quoted(answer['next'])}"
    from gregor.worker.compose.engine import engine_of

    orders = engine_of(settings(arguments).config).orders()
    return list(listed(orders)), sorted(orders.unread)


def _take_back(arguments: argparse.Namespace, name: str, path: str) -> int:
    orders, unread = in_force(arguments)
    if name not in {*(order.name for order in orders), *unread}:
        complain(f"no order {one_line(name, 200)!r} stands: `gregor orders` lists those that do")
        return FAILED
    who = api_client.by(arguments)
    if api_client.by_api(arguments, "DELETE", path, {"who": who.who, "why": who.why}) is None:
        _directly(arguments, partial(take_back, name=name, by=who))
    return FINISHED


def _directly(arguments: argparse.Namespace, change: Any) -> None:
    from gregor.worker.compose.engine import engine_of

    engine_of(settings(arguments).config).change_orders(change)
    complain("no API answers: the order was left for the crawl, which obeys it as soon as it runs")


def _path(kind: OrderKind, target: str) -> str:
    return f"/api/v1/orders/{kind}" + (f"/{api_client.quoted(target)}" if target else "")


def _runs(arguments: argparse.Namespace) -> bool:
    """Whether the worker runs, as far as anybody can say; who runs is told, when it does not."""
    crawl = api_client.by_api(arguments, "GET", "/api/v1/workers")
    if crawl is not None:
        names_of_all = {worker["name"] for worker in crawl["workers"]}
    else:
        from gregor.worker.compose.engine import engine_of

        workers = engine_of(settings(arguments).config).workers()
        if workers is None:
            return True
        names_of_all = workers
    if arguments.worker in names_of_all:
        return True
    names = ", ".join(sorted(names_of_all)) or "none"
    complain(f"no worker {one_line(arguments.worker, 200)!r} runs; there are: {one_line(names, 500)}")
    return False

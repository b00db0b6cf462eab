"""The commands that give one order or take it back, as a table; what they share with others that order.

They speak to the API where one runs, else to what coordinates the crawl.
"""

import argparse
from functools import partial
from typing import Any, Final, NamedTuple

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED, api_client
from gregor.worker.commands.common import settings
from gregor.worker.orders.model import KINDS, RULES, Kind, Order, check, give, name_of, take_back
from gregor.worker.orders.targets import target_of


class OrderCommand(NamedTuple):
    """A command by its order. ``value``: what it is called in the help of an order that has one."""

    kind: Kind
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
            taken_back(arguments, self.kind, target)
            return FINISHED
        ordered(arguments, self.kind, target, self._value(arguments) if self.value else None)
        if self.kind == "drain":
            _say_if_nobody(arguments)
        return FINISHED

    def _value(self, arguments: argparse.Namespace) -> float:
        try:
            return float(arguments.value)
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


def ordered(arguments: argparse.Namespace, kind: Kind, target: str = "", value: float | None = None) -> None:
    """Give an order. Raises `BadInput` and what reaching the coordinator raises."""
    order = Order(kind, target_of(kind, target), value)
    check(order)  # what cannot be is said before anybody is asked
    who = api_client.by(arguments)
    body: dict[str, Any] = {"who": who.who, "why": who.why}
    if value is not None:
        body["value"] = value
    if api_client.by_api(arguments, "PUT", _path(kind, order.target), body) is None:
        _directly(arguments, partial(give, order=order, by=who))


def taken_back(arguments: argparse.Namespace, kind: Kind, target: str = "") -> None:
    """Take an order back; nothing when it does not stand."""
    target = target_of(kind, target)
    _take_back(arguments, name_of(kind, target), _path(kind, target))


def taken_back_by_name(arguments: argparse.Namespace, name: str) -> None:
    """Take an order back by its name in the list, readable or not."""
    kind, _, target = name.partition(" ")
    known = next((known for known in KINDS if known == kind), None)
    unread = f"/api/v1/orders/unread/{api_client.quoted(name)}"
    _take_back(arguments, name, unread if known is None else _path(known, target))


def _take_back(arguments: argparse.Namespace, name: str, path: str) -> None:
    who = api_client.by(arguments)
    if api_client.by_api(arguments, "DELETE", path, {"who": who.who, "why": who.why}) is None:
        _directly(arguments, partial(take_back, name=name, by=who))


def _directly(arguments: argparse.Namespace, change: Any) -> None:
    from gregor.worker.compose.engine import engine_of

    engine_of(settings(arguments).config).change_orders(change)
    complain("no API answers: the order was left for the crawl, which obeys it as soon as it runs")


def _path(kind: Kind, target: str) -> str:
    return f"/api/v1/orders/{kind}" + (f"/{api_client.quoted(target)}" if target else "")


def _say_if_nobody(arguments: argparse.Namespace) -> None:
    crawl = api_client.by_api(arguments, "GET", "/api/v1/workers")
    if crawl is not None and arguments.worker not in {worker["name"] for worker in crawl["workers"]}:
        complain("no worker of this name runs now: the order stands for one that comes, until `gregor undrain`")

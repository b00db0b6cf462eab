"""`gregor orders`: the orders that stand, with who gave them, when and why."""

import argparse
import sys

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker import records
from gregor.worker.commands import FINISHED, ordering
from gregor.worker.commands.common import settings
from gregor.worker.orders import Order, listed
from gregor.worker.text import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How they are printed, and whom to ask."""
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    ordering.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them."""
    found = _found(arguments)
    for one in found:
        if arguments.json:
            sys.stdout.buffer.write(records.encode(_public(one)) + b"\n")
        else:
            what = one.host if one.seconds is None else f"{one.host} {one.seconds:g} s"
            when = rfc3339(one.at) if one.at else ""
            print(f"{one.kind:<6} {one_line(what, 80):<40} {when:<24} {one_line(f'{one.who} {one.why}', 200)}".rstrip())
    if not found and not arguments.json:
        print("no orders stand")
    return FINISHED


def _found(arguments: argparse.Namespace) -> list[Order]:
    config = settings(arguments).config
    try:
        answer = ordering.ask(arguments, config, "GET", "/api/v1/orders")
    except ordering.NotThere:
        from gregor.worker import composition

        return list(listed(composition.standing_orders(config)))
    return msgspec.convert(answer["orders"], list[Order])


def _public(one: Order) -> dict[str, object]:
    return {**msgspec.structs.asdict(one), "at": rfc3339(one.at) if one.at else None}

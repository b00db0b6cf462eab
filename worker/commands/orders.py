"""`gregor orders`: the orders that stand, with who gave them, when and why; `--audit`: all changes that were made.

Visits that searches asked for within a day are listed after them: these stand for nothing more, and are not taken back.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker.base.printable import one_line
from gregor.worker.commands import FINISHED, api_client, ordering
from gregor.worker.commands.common import not_negative, settings
from gregor.worker.commands.thin_answers import WHO
from gregor.worker.inspect import url_record
from gregor.worker.orders.model import NEWEST, Change

_PAGE = 500
_RECENT: Final = 24 * 3600.0
"""Seconds for which visits that searches asked for are listed."""
_RECRAWL: Final = "recrawl "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is listed and how, what is taken back, and whom to ask."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--audit", action="store_true", help="every change by order, the newest first")
    what.add_argument("--take-back", metavar="NAME", help='an order by its name in the list, such as "block a.example"')
    parser.add_argument("--limit", type=not_negative, default=100, metavar="N", help="so many changes; 0: all")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    api_client.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """List them, or take one back."""
    if arguments.take_back is not None:
        return ordering.taken_back_by_name(arguments, arguments.take_back)
    if arguments.audit:
        _print_changes(arguments)
    else:
        _print_orders(arguments)
    return FINISHED


def _print_orders(arguments: argparse.Namespace) -> None:
    orders, unread = ordering.in_force(arguments)
    for order in orders:
        if arguments.json:
            _write({**msgspec.structs.asdict(order), "name": order.name, "at": rfc3339(order.at) if order.at else None})
            continue
        what = order.target if order.value is None else f"{order.target} {order.value:g}"
        when = rfc3339(order.at) if order.at else ""
        said = one_line(f"{order.who} {order.why}", 400)
        print(f"{order.kind:<11} {one_line(what, 400):<40} {when:<24} {said}".rstrip())
    for name in unread:
        if arguments.json:
            _write({"name": name, "kind": "unreadable"})
        else:
            print(f"unreadable  {one_line(name, 400)}")
    if not orders and not unread and not arguments.json:
        print("no orders stand")
    for change in _visits(arguments):
        if arguments.json:
            fields = {"kind": "recrawl", "target": change.what.removeprefix(_RECRAWL), "value": None, "who": change.who}
            _write({**fields, "at": rfc3339(change.at), "why": change.why, "name": change.what, "count": change.count})
        else:
            said = one_line(f"{change.who} {change.why}", 400)
            what = one_line(change.what.removeprefix(_RECRAWL), 400)
            print(f"{'recrawl':<11} {what:<40} {rfc3339(change.at):<24} {said}".rstrip())


def _visits(arguments: argparse.Namespace) -> list[Change]:
    """The visits, the newest first, as far as the last changes tell of them."""
    since = time.time() - _RECENT
    changes = _some_changes(arguments, NEWEST)
    return [each for each in changes if each.who == WHO and each.what.startswith(_RECRAWL) and each.at >= since]


def _print_changes(arguments: argparse.Namespace) -> None:
    for number, change in enumerate(_changes(arguments), start=1):
        if arguments.json:
            _write({**msgspec.structs.asdict(change), "at": rfc3339(change.at)})
        else:
            said = one_line(f"by {change.who}, {change.where}" + (f": {change.why}" if change.why else ""), 700)
            counted = f" ({change.count})" if change.count else ""
            print(f"{change.number:>6} {rfc3339(change.at)} {one_line(change.what, 500)}{counted} {said}")
        if number == arguments.limit:
            return


def _changes(arguments: argparse.Namespace) -> Iterator[Change]:
    before: int = NEWEST
    while found := _some_changes(arguments, before):
        yield from found
        before = found[-1].number


def _some_changes(arguments: argparse.Namespace, before: int) -> list[Change]:
    bound = "" if before == NEWEST else f"&before={before}"
    answer = api_client.by_api(arguments, "GET", f"/api/v1/changes?limit={_PAGE}{bound}")
    if answer is not None:
        return msgspec.convert(answer["changes"], list[Change])
    from gregor.worker.compose.engine import engine_of

    return engine_of(settings(arguments).config).changes(before, _PAGE)


def _write(line: dict[str, object]) -> None:
    sys.stdout.buffer.write(url_record.encode(line) + b"\n")

"""`gregor hosts`: what a crawl has of each host: URLs, pages, bytes, errors, time; for people or as JSON lines."""

import argparse
import heapq
import sys
from operator import itemgetter
from typing import Any, Final

from gregor.worker.base.amounts import count, duration, size
from gregor.worker.base.printable import one_line
from gregor.worker.borders.reader import WHOLE
from gregor.worker.commands.common import add_settings, given_host, not_negative, reading, run_reading, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.table_files import JsonLines
from gregor.worker.inspect.tables import TABLES, RowValues

_USUAL: Final = 50
_SORTS: Final = {"time": "seconds", **{name: name for name in ("pages", "bytes", "errors", "urls", "waiting")}}
_HEAD: Final = f"{'PAGES':>9} {'URLS':>9} {'WAITING':>9} {'BYTES':>10} {'ERRORS':>8} {'TIME':>12}  HOST"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Order, number and form."""
    parser.add_argument("--host", help="only this host, with its port if not the usual one")
    text = "by what the first ones are chosen; default: pages"
    parser.add_argument("--sort", choices=(*_SORTS, "host"), default="pages", help=text)
    text = f"at most so many; default: {_USUAL}, with --json all"
    parser.add_argument("--limit", type=not_negative, metavar="N", help=text)
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them."""
    return run_reading(_list(arguments, settings(arguments).config))


async def _list(arguments: argparse.Namespace, config: Config) -> int:
    table = TABLES["hosts"]
    names = [column.name for column in table.columns]
    limit = sys.maxsize if arguments.json and arguments.limit is None else arguments.limit
    limit = _USUAL if limit is None else limit
    async with reading(config) as crawl:
        rows = table.rows(crawl.reader, Selection(given_host(arguments.host)), WHOLE)
        chosen, total = await _chosen(rows, names, arguments.sort, limit)
        if arguments.json:
            writer = JsonLines(table, sys.stdout.buffer)
            for values in chosen:
                writer.put(values)
            writer.close()
        else:
            print(_HEAD)
            for values in chosen:
                print(_line(dict(zip(names, values, strict=True))))
            if total > len(chosen):
                print(f"and {count(total - len(chosen), 'host')} more: --limit {total} lists all")
        return crawl.code


async def _chosen(rows: Any, names: list[str], sort: str, limit: int) -> tuple[list[RowValues], int]:
    """The first hosts in this order, and how many there are."""
    total = 0
    first: list[RowValues] = []
    if sort == "host" or limit == sys.maxsize:  # they come by name
        async for values in rows:
            total += 1
            if len(first) < limit:
                first.append(values)
        if sort != "host":
            first.sort(key=itemgetter(names.index(_SORTS[sort])), reverse=True)
        return first, total
    place = names.index(_SORTS[sort])
    heap: list[tuple[float, int, RowValues]] = []
    async for values in rows:
        total += 1
        heapq.heappush(heap, (values[place], -total, values))
        if len(heap) > limit:
            heapq.heappop(heap)
    return [values for _, _, values in sorted(heap, reverse=True)], total


def _line(host: dict[str, Any]) -> str:
    time = duration(host["seconds"])
    return (
        f"{host['pages']:>9} {host['urls']:>9} {host['waiting']:>9} {size(host['bytes']):>10} {host['errors']:>8} "
        f"{time:>12}  {one_line(host['host'], 200)}"
    )

"""`gregor duplicates`: pages that are the same or nearly the same, in clusters, each with its best page."""

import argparse
import sys

import msgspec

from gregor.worker.base.errors import complain
from gregor.worker.base.printable import one_line
from gregor.worker.commands.common import add_settings, given_host, not_negative, reading, run_reading, settings, within
from gregor.worker.config.settings import Config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which, and in what form."""
    text = (
        "the least share of their texts that pages of a cluster have in common, 0.5 to 1; default: near_duplicate_share"
    )
    parser.add_argument("--near", type=within(0.5, 1.0, "share"), metavar="SHARE", help=text)
    parser.add_argument("--host", help="only clusters with a page of this host")
    parser.add_argument("--limit", type=not_negative, metavar="N", help="at most so many clusters")
    parser.add_argument("--json", "--jsonl", action="store_true", dest="json", help="one JSON object a line")
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """List them, the largest first."""
    return run_reading(_list(arguments, settings(arguments).config))


async def _list(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.inspect.duplicates import clusters, lines

    least = config.near_duplicate_share if arguments.near is None else arguments.near
    left = sys.maxsize if arguments.limit is None else arguments.limit
    count = 0
    async with reading(config) as crawl:
        async for cluster in clusters(crawl.reader, crawl.urls, least, given_host(arguments.host)):
            if count >= left:
                break
            count += 1
            if arguments.json:
                print(msgspec.json.encode(cluster).decode())
            else:
                print("\n".join(map(one_line, lines(cluster))))
        complain(f"{count} {'cluster' if count == 1 else 'clusters'}", "info")
        return crawl.code

"""`gregor optout HOST`: ask nothing more of a host or domain, and delete what was stored of it.

The order comes first and is durable: whatever happens to the deleting, nothing more is asked for. Deleting goes on
until a pass that began after all workers have heard of the order finds nothing.
"""

import argparse
import asyncio
import sys
import time
from typing import Final

import msgspec

from gregor.worker.base.errors import complain
from gregor.worker.base.extras import advice
from gregor.worker.commands import FAILED, FINISHED, api_client, ordering
from gregor.worker.commands.common import Damages, settings, show_count, show_state, span
from gregor.worker.config.settings import Config
from gregor.worker.inspect import url_record
from gregor.worker.operate.erase import Erased, until_nothing_is_left
from gregor.worker.orders.targets import target_of

_INDEX_WAIT: Final = 30.0
"""Seconds that who writes the index has at least to take in what was deleted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Who opts out, why, and whom to ask."""
    api_client.add_arguments(parser, host=True, why=True)
    text = "how long workers may take to hear of it; default: 10; 0 if none runs"
    parser.add_argument("--wait", type=span, default=10.0, metavar="SECONDS", help=text)
    parser.add_argument("--undo", action="store_true", help="let it be crawled again; what was deleted stays deleted")
    parser.add_argument("--json", action="store_true", help="what was deleted, as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Order it, then delete."""
    if arguments.undo:
        return ordering.taken_back(arguments, "optout", arguments.host)
    target, config = target_of("optout", arguments.host), settings(arguments).config
    ordering.ordered(arguments, "optout", target)
    try:
        erased = asyncio.run(_erase(config, target, arguments.wait))
        unfollowed = asyncio.run(_left_in_index(config, target, arguments.wait))
    finally:
        show_state("")
    counts = msgspec.structs.asdict(erased)
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(counts) + b"\n")
    else:
        print(
            f"deleted of {target}: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
        )
    if unfollowed:
        complain(f"{unfollowed}: it is found there until `gregor index` has taken in what was deleted")
    elif _has_index(config):
        complain("its words stay in the index's files until these are merged: `gregor index --rebuild` ends it", "info")
    return FAILED if unfollowed else FINISHED


def _has_index(config: Config) -> bool:
    from gregor.worker.compose import search

    return bool(config.opensearch) or search.index_folder(config).is_dir()


async def _left_in_index(config: Config, target: str, wait: float) -> str:
    """Wait until the indexes, if there are any, have heard of it; why they have not, "" if they have."""
    if not config.on_one_machine and not config.opensearch:
        return ""
    from gregor.search.borders import Unusable
    from gregor.worker.compose import records, search

    seconds = max(wait, _INDEX_WAIT)
    show_state("waiting until the index has taken it in")
    try:
        index_knows = await search.forgotten(config, Damages(), seconds)
        index_knows &= await records.forgotten(config, target, Damages(), seconds)
    except (Unusable, ModuleNotFoundError) as error:
        missing = advice(error) if isinstance(error, ModuleNotFoundError) else None
        return f"the index cannot be opened ({missing or error})"
    return "" if index_knows else "who writes the index did not come so far in time"


async def _erase(config: Config, target: str, wait: float) -> Erased:
    from gregor.worker.compose.engine import engine_of

    async def erase() -> Erased:
        erased = await engine_of(config).erase(target, lambda what, count: show_count(f"looking at {what}", count))
        show_state("waiting until workers have heard of it")
        return erased

    return await until_nothing_is_left(erase, wait, time.monotonic, asyncio.sleep)

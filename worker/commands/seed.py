"""`gregor seed URL…`: publish seeds, by the API of a worker where one answers, else for workers that run later."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gregor.worker.base.errors import BadInput
from gregor.worker.commands import FINISHED, api_client
from gregor.worker.commands.common import settings
from gregor.worker.inspect.live import Progress
from gregor.worker.orders.model import By

if TYPE_CHECKING:
    from gregor.worker.operate.seeds_input import Seeds

_BATCH, _LONGEST = 500, 300_000  # seeds, and characters of their URLs and labels, in one request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Seeds, why, and whom to ask."""
    parser.add_argument("seed", nargs="*", metavar="SEED", help="URL to start from, - for standard input")
    text = "more seeds, - for standard input: lines of URLs, or of JSON with url, label, depth, priority"
    parser.add_argument("--seeds", metavar="FILE", help=text)
    api_client.add_arguments(parser, why=True)


def run(arguments: argparse.Namespace) -> int:
    """Publish them; durable when it returns."""
    from gregor.worker.compose import beside
    from gregor.worker.links.configured import urls_of
    from gregor.worker.operate.seeds_input import open_seeds

    config, by = settings(arguments).config, api_client.by(arguments)
    watched = Progress(config, time.monotonic, sys.stderr).over
    seeds = open_seeds(arguments.seed, arguments.seeds, sys.stdin.buffer, urls_of(config), watched)
    try:
        if not seeds.count:
            raise BadInput("no seed is given: name URLs, or a file with --seeds")
        count = _by_api(arguments, seeds, by)
        if count is None:
            count = asyncio.run(beside.seed(config, seeds, by))
    finally:
        seeds.close()
    print(f"{count} seed{'' if count == 1 else 's'} published")
    return FINISHED


def _by_api(arguments: argparse.Namespace, seeds: "Seeds", by: By) -> int | None:
    """How many; None when no API answers."""
    count = 0
    for batch in _batches(seeds):
        body = {"seeds": batch, "who": by.who, "why": by.why}
        answer = api_client.by_api(arguments, "POST", "/api/v1/seeds", body)
        if answer is None:
            if count:
                raise BadInput(f"the API went away after {count} seeds: give all of them again")
            return None
        count += answer["count"]
    return count


def _batches(seeds: "Seeds") -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for seed in seeds:
        line = {"url": seed.url.href, "label": seed.label, "depth": seed.depth, "priority": seed.priority}
        size += len(seed.url.href) + len(seed.label)
        if batch and (len(batch) == _BATCH or size > _LONGEST):
            yield batch
            batch, size = [], len(seed.url.href) + len(seed.label)
        batch.append(line)
    yield batch

"""`gregor forecast`: how many pages a crawl will have and when, what the end waits for, what would change it."""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Final

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.capacity import inputs
from gregor.worker.commands import FAILED, FINISHED, INTERRUPTED
from gregor.worker.commands.common import SCOPE, Flag, add_settings, not_negative, reading, run_reading, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import forecast_data, forecast_text, url_record

if TYPE_CHECKING:
    from gregor.worker.inspect.forecast_data import SoFar
    from gregor.worker.operate.seeds_input import Seeds

_USUAL: Final = 20
_LONGEST: Final = 300.0
"""Seconds that a look at robots.txt files and sitemaps takes at most, where `max_time` says nothing."""
_FLAGS: Final = (
    *SCOPE,
    Flag("--delay", "delay", "SECONDS"),
    Flag("--concurrency", "concurrency", "N"),
    Flag("--max-pages", "max_pages", "N"),
    Flag("--max-time", "max_time", "SECONDS"),
    Flag("--ca-file", "ca_file", "FILE"),
    Flag("--host-table", "host_table", "FILE"),
    Flag("--allow-network", "allow_networks", "CIDR", item=True),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is looked at, number of hosts, form, settings."""
    parser.add_argument("seed", nargs="*", metavar="SEED", help="with --dry-run: URL that a crawl would start from")
    text = "with --dry-run: more seeds, - for standard input, as `gregor crawl` takes them"
    parser.add_argument("--seeds", metavar="FILE", help=text)
    text = "for a crawl that was not begun: ask the seeds, their robots.txt files and sitemaps; nothing is kept"
    parser.add_argument("--dry-run", action="store_true", help=text)
    text = f"hosts that end last, at most so many; default: {_USUAL}"
    parser.add_argument("--limit", type=not_negative, metavar="N", default=_USUAL, help=text)
    text = "workers that crawl, for what processors bear; default: 1"
    parser.add_argument("--workers", type=not_negative, metavar="N", default=1, help=text)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_settings(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Read what is there, or look at what would be, and compute it."""
    if not arguments.workers:
        raise BadInput("--workers wants 1 at least")
    config = settings(arguments).config
    if arguments.dry_run:
        return _dry(arguments, config)
    if arguments.seed or arguments.seeds:
        raise BadInput("seeds are for --dry-run; without it the crawl of --data is forecast")
    return run_reading(_forecast(arguments, config))


async def _forecast(arguments: argparse.Namespace, config: Config) -> int:
    async with reading(config) as crawl:
        with await forecast_data.read(crawl.reader, config) as so_far:
            _say(so_far, arguments, config)
        return crawl.code


def _say(so_far: "SoFar", arguments: argparse.Namespace, config: Config) -> None:
    costs = inputs.read().costs
    by_cpu = arguments.workers * 1000.0 / (costs.worker_cpu + costs.tls_cpu)
    expected = so_far.forecast(arguments.limit, by_cpu, arguments.workers)
    if arguments.json:
        sys.stdout.buffer.write(url_record.encode(expected) + b"\n")
    else:
        print("\n".join(forecast_text.lines(expected, again=config.revisit is not None)))


def _dry(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.links.configured import urls_of
    from gregor.worker.operate.seeds_input import open_seeds, unwatched

    authorizations: dict[str, str] = {}
    seeds = open_seeds(arguments.seed, arguments.seeds, sys.stdin.buffer, urls_of(config), unwatched, authorizations)
    try:
        if not seeds.count:
            raise BadInput("--dry-run wants a seed")
        return asyncio.run(_look(arguments, config, seeds))
    finally:
        seeds.close()


async def _look(arguments: argparse.Namespace, config: Config, seeds: "Seeds") -> int:
    """Look at the seeds and sitemaps as a crawl does, with all its politeness, into a folder that goes afterwards."""
    from gregor.worker.compose.census import census
    from gregor.worker.run.signals import stopping

    longest = min(_LONGEST, config.max_time) if config.max_time is not None else _LONGEST

    def stop() -> None:
        looking.cancel()

    with forecast_data.SoFar(config) as so_far:
        looking = asyncio.create_task(census(config, seeds, so_far, longest, seeds.authorizations or {}))
        with stopping(stop, lambda: None, INTERRUPTED):
            try:
                bare, failure = await looking
            except asyncio.CancelledError:
                return INTERRUPTED
        if failure:
            complain(failure, "error")
            return FAILED
        _say(so_far, arguments, config)
    if bare and not arguments.json:
        print(forecast_text.without_sitemaps(bare))
    return FINISHED

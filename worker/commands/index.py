"""`gregor index`: make what was crawled searchable, while the crawl runs or after it."""

import argparse
import asyncio
from contextlib import nullcontext

from gregor.worker.base.errors import complain
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import Damages, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.inspect import report
from gregor.worker.run.signals import stopping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How far, and whether anew."""
    text = "take in what is stored, then end; default: follow the crawl until a signal"
    parser.add_argument("--once", action="store_true", help=text)
    text = "make a new index beside the one in use, which is searched until the new one has caught up"
    parser.add_argument("--rebuild", action="store_true", help=text)
    # How `gregor crawl --index` begins it: its standard input says when the crawl is over.
    parser.add_argument("--beside", action="store_true", help=argparse.SUPPRESS)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Follow it; what was done goes to standard error."""
    return asyncio.run(_index(arguments, settings(arguments).config))


async def _index(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.compose import following, search

    stop, enough, damages = asyncio.Event(), asyncio.Event(), Damages()
    if arguments.once:
        enough.set()
    beside = following.Word(enough.set, stop.set) if arguments.beside else nullcontext()
    with stopping(stop.set, lambda: None, FINISHED), beside:
        done = await search.index(config, stop, enough, damages, rebuild=arguments.rebuild)
    counts = f"{report.count(done.documents, 'document')} written, {done.removed} removed"
    complain(f"{report.count(done.changes, 'change')} taken in: {counts}", "info")
    damages.advise()
    return FAILED if damages.count else FINISHED

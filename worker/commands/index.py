"""`gregor index`: make what was crawled searchable, while the crawl runs or after it."""

import argparse
import asyncio
from contextlib import nullcontext
from pathlib import Path

from gregor.worker.base import amounts
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.commands import FAILED, FINISHED
from gregor.worker.commands.common import Damages, add_settings, settings
from gregor.worker.config.settings import Config
from gregor.worker.observe import logging
from gregor.worker.run.signals import stopping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How far, and whether anew."""
    text = "take in what is stored, then end; default: follow the crawl until a signal"
    parser.add_argument("--once", action="store_true", help=text)
    text = "make a new index beside the one in use, which is searched until the new one has caught up"
    parser.add_argument("--rebuild", action="store_true", help=text)
    text = "index what happens instead (URLs, those given up), for `gregor search --in`"
    parser.add_argument("--records", action="store_true", help=text)
    text = "with --records: lines of this log, in JSON; may be repeated; default: log_file, where log_format is json"
    parser.add_argument("--log", action="append", type=Path, default=[], metavar="FILE", help=text)
    text = "serve the metrics of this process there, at /metrics"
    parser.add_argument("--metrics", metavar="ADDRESS:PORT", help=text)
    # How `gregor crawl --index` begins it: its standard input says when the crawl is over.
    parser.add_argument("--beside", action="store_true", help=argparse.SUPPRESS)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Follow it; what was done goes to standard error."""
    config = settings(arguments).config
    logging.configure(config.log_level, config.log_format, config.log_file)
    return asyncio.run(_index(arguments, config))


def _files(arguments: argparse.Namespace, config: Config) -> list[Path]:
    """The files of the log."""
    own = [Path(config.log_file)] if config.log_file and config.log_format == "json" else []
    return arguments.log or own


async def _index(arguments: argparse.Namespace, config: Config) -> int:
    from gregor.worker.compose import following, index_metrics, records, search

    if arguments.records and arguments.rebuild:
        raise BadInput("--records takes in what is new: there is nothing to rebuild")
    if arguments.log and not arguments.records:
        raise BadInput("--log is for --records")
    stop, enough, damages = asyncio.Event(), asyncio.Event(), Damages()
    if arguments.once:
        enough.set()
    beside = following.Word(enough.set, stop.set) if arguments.beside else nullcontext()
    with stopping(stop.set, lambda: None, FINISHED), beside:
        if arguments.records:
            recorded = await records.record(config, _files(arguments, config), stop, enough, damages)
            counts = f"{amounts.count(recorded.records, 'record')}, {amounts.count(recorded.lines, 'line')} of the log"
            complain(f"{counts} taken in", "info")
            return FAILED if damages.count else FINISHED
        async with index_metrics.serving(config, arguments.metrics, stop) as stats:
            how = {"rebuild": arguments.rebuild, "beside": arguments.beside}
            done = await search.index(config, stop, enough, damages, stats, **how)
    counts = f"{amounts.count(done.documents, 'document')} written, {done.removed} removed"
    complain(f"{amounts.count(done.changes, 'change')} taken in: {counts}", "info")
    damages.advise()
    return FAILED if damages.count else FINISHED

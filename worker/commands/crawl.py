"""`gregor crawl SEED…`: the main job, from the first seed to the report; the same command goes on after any stop."""

import argparse
import asyncio
import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Final

import msgspec

from gregor.worker.base.crawl_folder import holds_crawl
from gregor.worker.base.errors import BadInput, complain, why
from gregor.worker.base.machine import processors
from gregor.worker.base.printable import one_line
from gregor.worker.base.terminal import SHOW_CURSOR, redraws
from gregor.worker.base.typed import as_typed
from gregor.worker.commands import FAILED, FINISHED, INTERRUPTED, last_words
from gregor.worker.commands.common import SCOPE, Flag, add_settings, run_crawling, settings
from gregor.worker.config import credentials, kept
from gregor.worker.config.check import warnings
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import KEPT, Settings
from gregor.worker.inspect import report, url_record
from gregor.worker.inspect.live import Progress, watch
from gregor.worker.observe import logging
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending
from gregor.worker.run.signals import stopping

if TYPE_CHECKING:
    from gregor.worker.compose import worker as composition
    from gregor.worker.compose.following import Follower
    from gregor.worker.operate.seeds_input import Seeds

FLAGS = (
    *SCOPE,
    Flag("--max-pages", "max_pages", "N"),
    Flag("--max-depth", "max_depth", "N"),
    Flag("--max-time", "max_time", "SECONDS"),
    Flag("--delay", "delay", "SECONDS"),
    Flag("--concurrency", "concurrency", "N"),
    Flag("--processes", "processes", "N|auto"),
    Flag("--user-agent", "user_agent", "TEXT"),
    Flag("--ca-file", "ca_file", "FILE"),
    Flag("--resolver", "resolver", "ADDRESS:PORT"),
    Flag("--allow-network", "allow_networks", "CIDR", item=True),
    Flag("--allow-port", "allow_ports", "PORT", item=True),
    Flag("--cookies", "cookies_file", "FILE"),
    Flag("--host-table", "host_table", "FILE"),
    Flag("--console", "listen", "ADDRESS:PORT"),
    Flag("--rules", "rules", "FILE", item=True),
    Flag("--plugin", "plugins", "FILE.py:CLASS", item=True),
)


_LOOK: Final = 5.0
"""Seconds between two looks at all hosts in memory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Seeds, report, settings."""
    parser.add_argument(
        "seed",
        nargs="*",
        metavar="SEED",
        help="URL to start from, - for standard input; none to go on with what is there",
    )
    text = "more seeds, - for standard input: lines of URLs, or of JSON with url, label, depth, priority"
    parser.add_argument("--seeds", metavar="FILE", help=text)
    parser.add_argument("--json", action="store_true", help="the report as one JSON object on standard output")
    text = "index what is stored while it is crawled, in a process beside this one (on one machine)"
    parser.add_argument("--index", action="store_true", help=text)
    text = "stay, and visit all again whenever that is due: an interval (6h, 1d) or a cron expression; on one machine"
    parser.add_argument("--every", metavar="TIME", help=text)
    add_settings(parser, FLAGS)
    parser.set_defaults(joins=False)


def run(arguments: argparse.Namespace) -> int:
    """Crawl to the end, a budget or a signal; with --every again and again."""
    if getattr(arguments, "every", None) is None:
        return _once(arguments)
    from gregor.worker.commands import scheduled  # heavy: only who stays needs it

    return scheduled.run(arguments, _once)


def _once(arguments: argparse.Namespace) -> int:
    """One crawl, and its report."""
    from gregor.worker.links.configured import urls_of
    from gregor.worker.operate.seeds_input import open_seeds

    in_force = settings(arguments)
    config = in_force.config
    if in_force.kept is not None:
        kept.refuse_missing(in_force.kept, in_force.sources)
    logging.configure(config.log_level, config.log_format, config.log_file)
    watched = Progress(config, time.monotonic, sys.stderr).over
    # Other workers would not have them. Those of the first of several runs hold for the next ones.
    authorizations = getattr(arguments, "authorizations", dict[str, str]()) if config.on_one_machine else None
    seeds = open_seeds(arguments.seed, arguments.seeds, sys.stdin.buffer, urls_of(config), watched, authorizations)
    try:
        if authorizations:
            _tell_of_credentials(config, authorizations)
        summary = run_crawling(_crawl(in_force, seeds, arguments))
    finally:
        seeds.close()
    if summary is None:
        return INTERRUPTED
    arguments.left = summary.reason == "budget"
    try:
        if arguments.json:
            sys.stdout.buffer.write(url_record.encode(summary) + b"\n")
        else:
            print(as_typed(report.as_text(summary)))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"the crawl is kept in {one_line(summary.data)}, but its report cannot be written: {why(error)}")
        return FAILED
    return summary.exit_code


def _tell_of_credentials(config: Config, authorizations: dict[str, str]) -> None:
    """Say where the credentials of seeds are used, and where instead of others. Raises `ConfigError`."""
    places = one_line(", ".join(sorted(authorizations)), 300)
    complain(
        f"user name and password of a seed are used in this run alone, for {places}, and kept nowhere: "
        "username_env and password_env of a [[host]] table hold for each run"
    )
    configured = credentials.authorizations(config, os.environ)
    replaced = sorted(origin for origin, value in authorizations.items() if configured.get(origin, value) != value)
    if replaced:
        places = one_line(", ".join(replaced), 300)
        complain(f"those of the seed are used instead of those of a [[host]] table, in this run, for {places}")


async def _crawl(in_force: Settings, seeds: "Seeds", arguments: argparse.Namespace) -> report.Report | None:
    """The report; None when it was stopped before it began. ``joins``: the crawl is there, and has its seeds."""
    from gregor.worker.compose import worker as composition
    from gregor.worker.compose.engine import engine_of

    config, joins = in_force.config, arguments.joins
    if not seeds.count and not joins:
        await _refuse_nothing(config)
    run = _Run(in_force, _follower(config, arguments) if getattr(arguments, "index", False) else None)
    authorizations = arguments.authorizations = seeds.authorizations or {}
    with stopping(run.stop, run.farewell, INTERRUPTED):
        try:
            ending = await composition.crawl(config, seeds, run.started, in_force, authorized=authorizations)
        except asyncio.CancelledError:
            return None
        finally:
            arguments.asked_to_stop = run.asked_to_stop
            await run.watched()
    await run.indexed()
    if isinstance(ending, composition.Finished):
        for text in _changes(in_force):
            complain(text)
        run.stats.before = await engine_of(config).counted()
        ending = Ending("finished")
    failure = "" if joins else await last_words.nothing_came(ending, run.stats, config, seeds)
    if failure:
        complain(failure, "error")
        ending = msgspec.structs.replace(ending, detail=ending.detail or failure)
    code = INTERRUPTED if ending.reason == "stopped" else FAILED if failure else FINISHED
    place = engine_of(config).place
    seconds, drift = time.monotonic() - run.begun, await last_words.fallen_away(config)
    alone = config.on_one_machine and config.processes == 1
    advice = report.of_processor(seconds, time.process_time() - run.cpu, processors()) if alone else ""
    return report.report(
        ending, run.stats, place.name, seconds, code, counted_before=place.counted, drift=drift, advice=advice
    )


def _follower(config: Config, arguments: argparse.Namespace) -> "Follower":
    """What indexes the crawl meanwhile. Raises `BadInput`, `ModuleNotFoundError`."""
    from gregor.worker.compose.following import Follower, can_be_followed

    can_be_followed(config)
    return Follower.of(config, arguments.config, complain)


def _of_the_crawl(in_force: Settings) -> list[str]:
    """What is to be said of the settings that the crawl was made with."""
    same = kept.in_use(in_force.kept, in_force.sources, KEPT) if in_force.kept is not None else ()
    going_on = [f"going on with the settings of this crawl: {', '.join(same)}"] if same else []
    return going_on + _changes(in_force)


def _changes(in_force: Settings) -> list[str]:
    """What is to be said of settings that differ from those that the crawl was made with: they are kept from now on."""
    if in_force.kept is None:
        return []
    differing = kept.changed(in_force.kept, in_force.config, in_force.sources).values()
    return [f"settings of this crawl change: {'; '.join(differing)}"] if differing else []


class _Run:
    """One run of the crawl: what shows it and what stops it."""

    def __init__(self, in_force: Settings, follower: "Follower | None" = None) -> None:
        self.begun = self._looked = time.monotonic()
        self.cpu = time.process_time()
        self.stats = Stats()
        self._in_force, self._config = in_force, in_force.config
        self._crawling: composition.Crawling | None = None
        self._watch: asyncio.Task[None] | None = None
        self._task = asyncio.current_task()
        self._follower = follower
        self.asked_to_stop = False  # also when it had come to its end already

    def started(self, crawling: "composition.Crawling") -> None:
        """The crawl begins."""
        self._crawling, self.stats = crawling, crawling.stats
        for text in (*_of_the_crawl(self._in_force), *warnings(self._config)):
            complain(text)
        if self._follower is not None:
            self._follower.begin()
        self._watch = asyncio.create_task(watch(self.stats, self._config, time.monotonic, sys.stderr, self._refresh))

    def _refresh(self) -> None:
        from gregor.worker.inspect import outlook, worker_state
        from gregor.worker.run.runtime import Runtime

        if (crawling := self._crawling) is None:
            return
        now = time.monotonic()
        crawling.gauge()
        if isinstance(crawling, Runtime):
            worker_state.host_states(crawling, now)
            if now >= self._looked + _LOOK:
                self._looked, self.stats.slowest = now, outlook.slowest(crawling)

    def stop(self) -> None:
        """Cleanly; seeds that are not published yet are given again by the same command."""
        self.asked_to_stop = True
        if self._crawling is not None:
            self._crawling.stop()
        elif self._task is not None:
            self._task.cancel()

    def farewell(self) -> None:
        """The live view hides the cursor."""
        if redraws(sys.stderr):
            sys.stderr.write(f"{SHOW_CURSOR}\n")
            sys.stderr.flush()

    async def indexed(self) -> None:
        """Until the index has taken in all that is stored."""
        if self._follower is not None and holds_crawl(self._config.data):
            self._follower.begin()
            await self._follower.end()

    async def watched(self) -> None:
        """End the view. That nobody listens any more, or there is no room for it, is no fault of the crawl."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self._watch


async def _refuse_nothing(config: Config) -> None:
    """Without a seed there must be a crawl to go on with."""
    from gregor.worker.compose.engine import engine_of

    try:
        reader, _ = await engine_of(config).read()
    except BadInput as error:
        raise BadInput(f"no seed is given, and {error}: name URLs, or a file with --seeds") from None
    await reader.close()

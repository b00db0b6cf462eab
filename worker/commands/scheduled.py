"""`gregor crawl --every`: the crawl stays, and visits all that it knows again whenever that is due.

What a round did lies in the data folder: one that was cut short goes on where it stopped, and of those that were missed
while the process was away one is made.
"""

import argparse
import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker.base.crawl_folder import holds_crawl
from gregor.worker.base.errors import BadInput, Occupied, complain
from gregor.worker.base.replaced import replaced
from gregor.worker.base.tasks import until
from gregor.worker.commands import INTERRUPTED, recrawl
from gregor.worker.commands.common import settings
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Given
from gregor.worker.operate.timetable import Timetable
from gregor.worker.orders.model import By
from gregor.worker.run.signals import stopping

_FILE: Final = "rounds.json"
_LOOK: Final = 60.0
"""Seconds between two looks at the clock: a machine that was suspended, or set right, is not late by more."""


class Round(msgspec.Struct, frozen=True):
    """The last round. ``begun``: unix seconds; ``asked``: every URL was asked to be visited again; ``left``: its budget
    was spent before all were, so that the next one goes on with those."""

    begun: float
    asked: bool = False
    left: bool = False


def run(arguments: argparse.Namespace, once: Callable[[argparse.Namespace], int]) -> int:
    """Crawl round after round, each by ``once``, until a signal or an order to stop. Raises `BadInput`."""
    timetable = Timetable.parse(arguments.every)
    config = settings(arguments).config
    _refuse_unfit(config)
    if config.max_pages is not None:  # of a run, since one of the crawl would be spent for ever
        of_run = [Given("max_pages", "none", "--every"), Given("max_pages_per_run", str(config.max_pages), "--every")]
        arguments = argparse.Namespace(**{**vars(arguments), "settings": [*(arguments.settings or ()), *of_run]})
    while True:
        try:
            due = _round(arguments, config, timetable, once)
        except Occupied as error:
            complain(f"{error}; this run waits for it")
            due = time.time() + _LOOK
        if due is None or asyncio.run(_wait(settings(arguments).config, due)):
            return INTERRUPTED
        if holds_crawl(config.data):  # which has its seeds
            arguments = argparse.Namespace(**{**vars(arguments), "seed": [], "seeds": None, "joins": True})


def _refuse_unfit(config: Config) -> None:
    if not config.on_one_machine:
        raise BadInput("--every is for one machine: on servers let a timer run `gregor recrawl --all`")
    if config.max_bytes is not None:
        raise BadInput(
            "--every goes without max_bytes: once it is spent nothing is visited again; max_pages (of each run), "
            "max_pages_per_host, max_depth and the scope bound a crawl, too"
        )


def _round(
    arguments: argparse.Namespace, config: Config, timetable: Timetable, once: Callable[[argparse.Namespace], int]
) -> float | None:
    """One run; when the next one is due, unix seconds, or None when it was stopped. Raises `Occupied`."""
    now = time.time()
    last = _last(config, now)
    if last is not None and timetable.after(last.begun) <= now:
        last = _keep(config, Round(now, asked=last.left))
    if last is not None and not last.asked:
        asyncio.run(recrawl.everything(config, By("schedule", now, f"--every {arguments.every}")))
        last = _keep(config, Round(last.begun, asked=True))
    if once(arguments) == INTERRUPTED or arguments.asked_to_stop:
        return None
    if last is None:  # the first round, or the first of a crawl that was there
        last = Round(now, asked=True)
    last = _keep(config, msgspec.structs.replace(last, left=getattr(arguments, "left", False)))
    due = timetable.after(last.begun)
    complain(f"the next run is due at {rfc3339(due)[:19]}Z", "info")
    return due


def _last(config: Config, now: float) -> Round | None:
    """The last round; one of a clock that was ahead began now."""
    try:
        last = msgspec.json.decode(Path(config.data, _FILE).read_bytes(), type=Round)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return msgspec.structs.replace(last, begun=min(last.begun, now))


def _keep(config: Config, round: Round) -> Round:
    with replaced(Path(config.data, _FILE)) as file:
        file.write(msgspec.json.encode(round))
    return round


async def _wait(config: Config, due: float) -> bool:
    """Until then, with the console open if there is to be one; whether it was stopped before."""
    from gregor.worker.compose import console

    over, stopped = asyncio.Event(), asyncio.Event()

    def stop() -> None:
        stopped.set()
        over.set()

    with stopping(stop, lambda: None, INTERRUPTED):
        waiting = asyncio.create_task(_set_at(due, over))
        try:
            if config.listen:
                await console.console(config, over, lambda line: complain(line, "info"))
            else:
                await over.wait()
        finally:
            waiting.cancel()
    return stopped.is_set() or time.time() < due


async def _set_at(due: float, over: asyncio.Event) -> None:
    while (left := due - time.time()) > 0:
        await until(over, min(left, _LOOK))
    over.set()

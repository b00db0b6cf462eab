"""`gregor rebuild-seen`: what Cassandra knows is marked in Redis again; may run beside workers.

It is cut into shares. What is interrupted goes on where it was, as long as Redis has kept what was marked until then.
"""

import argparse
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gregor.worker.base import amounts
from gregor.worker.base.errors import complain
from gregor.worker.borders.reader import WHOLE, Part
from gregor.worker.commands import FINISHED
from gregor.worker.commands.common import add_settings, part_of, positive, settings

if TYPE_CHECKING:
    from gregor.worker.adapters.cluster.rebuild import Rebuilt

_TOLD_EVERY = 5.0  # seconds
_MOST_PROCESSES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much of it, by how many."""
    cores = min(_MOST_PROCESSES, os.cpu_count() or 1)
    text = f"processes that share the work on this machine; default: {cores}, as many as it has cores, four at most"
    parser.add_argument("--processes", type=positive, default=cores, metavar="N", help=text)
    text = "only the I-th of N parts: the others are for as many machines; each has --processes of its own"
    parser.add_argument("--part", type=part_of, default=WHOLE, metavar="I/N", help=text)
    text = "begin again, whatever an earlier run has done: after the loss of one of several nodes of a Redis Cluster"
    parser.add_argument("--anew", action="store_true", help=text)
    add_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    """Mark all of it, and say how much that was."""
    from gregor.worker.compose.engine import engine_of

    began = time.monotonic()
    config = settings(arguments).config
    did = engine_of(config).rebuild_seen(arguments.part, arguments.processes, tell, anew=arguments.anew)
    before = sum(share.before for share in did)
    if before:
        complain(f"{before} of {sum(share.shares for share in did)} shares had been done before")
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{_urls(did)} marked as seen, owners set of {_contents(did)}, in {took}")
    return FINISHED


_times = [time.monotonic(), time.monotonic()]  # when this process began, and when it was told of last


def tell(part: Part, how_far: "Rebuilt") -> None:
    """How far a process is, every few seconds."""
    now = time.monotonic()
    if now - _times[1] >= _TOLD_EVERY:
        _times[1] = now
        rate = (how_far.urls + how_far.contents) / (now - _times[0])
        which = f"part {part.number + 1} of {part.parts}: " if part.parts > 1 else ""
        shares = f"{how_far.before + how_far.done} of {how_far.shares} shares done"
        complain(f"{which}{shares}, {_urls([how_far])} and {_contents([how_far])}, {rate:.0f} a second")


def _urls(did: Sequence["Rebuilt"]) -> str:
    return amounts.count(sum(share.urls for share in did), "URL")


def _contents(did: Sequence["Rebuilt"]) -> str:
    return amounts.count(sum(share.contents for share in did), "content")

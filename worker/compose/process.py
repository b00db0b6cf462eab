"""What a process has of its own, whichever engine remembers the crawl: its clocks, its name, its tokens."""

import asyncio
import os
import time
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from gregor.worker.api import opening
from gregor.worker.base.cycles import look_seldom
from gregor.worker.base.errors import speaks_json
from gregor.worker.config.api import token
from gregor.worker.config.settings import Config

T = TypeVar("T")


class SystemClock:
    """The machine's clocks."""

    # See `Clock.monotonic`: it goes on while the machine is suspended. Asked fifty times a page.
    monotonic = staticmethod(partial(time.clock_gettime, time.CLOCK_BOOTTIME))

    def wall(self) -> float:
        """See `Clock.wall`."""
        return time.time()


def crawl_in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what crawls for hours or days.

    Almost nothing that a page makes is cyclic, so the collector of cycles looks seldom, and never at what the start
    made: that would be 3 % of the processor time.
    """
    make_loop = None
    with suppress(ImportError):  # it comes with the clients of servers: on one machine it is no quicker
        import uvloop

        make_loop = uvloop.new_event_loop
    look_seldom()
    with asyncio.Runner(loop_factory=make_loop) as runner:
        return runner.run(coroutine)


def worker_name() -> str:
    """A name for this process that says where it runs."""
    return f"{os.uname().nodename}-{os.getpid()}"


def tokens_are_there(config: Config) -> None:
    """Before anything is waited for. Raises `BadInput` naming the setting."""
    for role in ("viewer", "operator") if config.listen else ():
        token(config, role, os.environ)


def console_line(config: Config, url: str) -> str:
    """Where the console is, for the person who started the process: with what opens it, if that is theirs."""
    key = "" if speaks_json() else opening.key(config)
    known = key or config.anonymous_read or opening.has_tokens(config)
    return f"the console is at {url}{key}" + ("" if known else ", but nobody can open it: set operator_token_file")

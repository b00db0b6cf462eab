"""Where the command begins and ends: what ends it before its modules are loaded ends it in silence, and what comes once
it is done changes its exit code no more.

A signal in these tenths of a second would else be the traceback of an import. Nothing is under way that has to end.
"""

import atexit
import os
import signal
from collections.abc import Callable
from types import FrameType

_INTERRUPTED = 3
Handler = Callable[[int, FrameType | None], None] | signal.Handlers


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)


def _hear(handler: Handler) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored, or a shell for its background
            signal.signal(number, handler)


def main() -> int:
    """Run the command that is on the command line; returns its exit code."""
    _hear(_leave)
    atexit.register(_hear, signal.SIG_IGN)  # the last that is called: then the interpreter itself would die of them
    from gregor.worker.commands import cli

    code = cli.main()
    _hear(lambda *_: os._exit(code))  # while threads are waited for
    return code

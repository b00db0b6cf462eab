"""Where the command begins: what ends it before its modules are loaded ends it in silence.

A signal in these tenths of a second would else be the traceback of an import. Nothing is under way that has to end.
"""

import os
import signal
from types import FrameType

_INTERRUPTED = 3


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)


def main() -> int:
    """Run the command that is on the command line; returns its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored, or a shell for its background
            signal.signal(number, _leave)
    from gregor.worker.commands import cli

    return cli.main()

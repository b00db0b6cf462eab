"""Stopping: the first SIGINT, SIGTERM or SIGHUP asks for a clean stop, the second one ends the process at once.

That is safe at any moment: what is not yet durable is done again, as after a power failure.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_lost = threading.Event()
"""A signal came that may have had no effect: raised in a callback of the interpreter's, as while a module is loaded,
KeyboardInterrupt is printed and forgotten."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    _lost.set()
    raise KeyboardInterrupt


def interrupting() -> None:
    """Until `stopping` holds, each of them raises KeyboardInterrupt: nothing is under way that would have to end.

    Only the main thread hears signals, and may say what they do.
    """
    if threading.current_thread() is threading.main_thread():
        _lost.clear()
        for number in _wanted():
            signal.signal(number, _interrupt)


def _wanted() -> list[signal.Signals]:
    # nohup and shells that put a job into the background have a signal ignored: then it stays so.
    return [one for one in SIGNALS if signal.getsignal(one) != signal.SIG_IGN]


@contextmanager
def stopping(stop: Callable[[], None], farewell: Callable[[], None], exit_code: int) -> Iterator[None]:
    """While this holds, the first signal calls ``stop`` on the running loop. The second calls ``farewell``, which may
    restore a terminal but must not wait, and leaves with ``exit_code``. Raises KeyboardInterrupt if one came before."""
    import asyncio  # heavy: commands that run no loop do without

    loop = asyncio.get_running_loop()
    asked = False

    def received() -> None:
        nonlocal asked
        if asked:
            try:
                farewell()
            finally:
                os._exit(exit_code)
        asked = True
        stop()

    wanted = _wanted()
    for number in wanted:
        loop.add_signal_handler(number, received)
    try:
        if _lost.is_set():
            raise KeyboardInterrupt
        yield
    finally:
        for number in wanted:
            loop.remove_signal_handler(number)
        interrupting()  # what is left to do may be interrupted: else SIGTERM would end the process without a word

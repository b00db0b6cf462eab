"""Servers of tests, in threads of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import Final

_LOOK: Final = 0.05
"""Seconds between two looks whether it is to end."""


@contextmanager
def running(server: BaseServer) -> Iterator[None]:
    """It serves for as long as the block runs, whatever ends that: a thread that went on would keep the process of a
    test that failed."""
    thread = threading.Thread(target=server.serve_forever, args=(_LOOK,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()

"""A loopback server in a process of its own: it reports where it listens and ends with the one that started it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gregor.worker.base import children

STOP_SECONDS = 10.0


class ServerFailed(RuntimeError):
    """The server ended before it was ready; its own message is on standard error."""


@contextmanager
def child(module: str, arguments: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Runs `python -m module …`, yields the JSON object of its first output line, and stops it at the end.

    The server ends when its standard input closes, so it can't outlive this process however that dies. Ctrl-C in a
    terminal reaches this process only, which may then stop its crawl while it is still served.
    """
    process = subprocess.Popen(
        children.python(module, arguments),
        env=children.environment(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise ServerFailed(f"{module} ended with status {process.wait(STOP_SECONDS)} before it served anything")
        yield json.loads(line)
    finally:
        process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def ready(report: dict[str, Any]) -> None:
    """Called by the server when it listens: the line that `child` waits for."""
    print(json.dumps(report), flush=True)


async def parent_gone() -> None:
    """Returns when standard input closes. A thread-free read: the descriptor is watched by the loop."""
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin.fileno())
            closed.set()

    loop.add_reader(sys.stdin.fileno(), readable)
    await closed.wait()

"""What reading a document that means harm costs, in a process of its own.

A `Reader` is a process that has loaded all that is loaded once, and makes a copy of itself (fork) for each document.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TextIO

from gregor.worker.read.native import Core
from tests.web.hostile import reading
from tests.web.hostile.document import CODING, HEADER, HTML, ROBOTS, SITEMAP, XHTML, Hostile

MOST_SECONDS: Final = 1.0
"""Processor time that one may take."""
MOST_MEMORY: Final = 150
"""MB by which it may raise the peak of resident memory, its own bytes among them."""
TRIES: Final = 4
LONGEST: Final = 120
"""Seconds after which a document is given up."""
_SELF: Final = Path("/proc/self")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one document took: seconds of processor time, and MB of memory at its peak."""

    seconds: float
    memory: float
    said: str
    """What was read of it, in a few words."""

    @property
    def within(self) -> bool:
        """Whether that is no more than the bound."""
        return self.seconds <= MOST_SECONDS and self.memory <= MOST_MEMORY


class Reader:
    """A process that reads documents by their names."""

    def __init__(self, *, native: bool = False) -> None:
        """``native``: what can be is read by the native core, which is installed."""
        command = [sys.executable, "-m", "tests.web.hostile", "--serve", *(["--native"] if native else [])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def cost(self, hostile: Hostile) -> Cost:
        """The least that a document took, of a few tries if the first ones took more than the bound, since whoever
        shares the processor's cores makes each second of its time do less. Raises ValueError if a process dies."""
        best = self._once(hostile)
        for _ in range(TRIES - 1):
            if best.within:
                break
            best = min(best, self._once(hostile), key=lambda took: took.seconds)
        return best

    def _once(self, hostile: Hostile) -> Cost:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(hostile.name, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer.startswith("{"):
            raise ValueError(f"reading {hostile.name!r} ended its process: {answer.strip()}")
        return Cost(**json.loads(answer))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def serve(documents: Iterable[Hostile], names: TextIO, answers: TextIO, core: Core | None) -> None:
    """Read a document for each name that comes in, and give its cost as a line of JSON."""
    by_name = {each.name: each for each in documents}
    for kind in (HTML, XHTML, SITEMAP, ROBOTS, f"{HEADER}Link", f"{CODING}gzip"):
        reading.read(b"<p>some <a href='x'>words</a></p>" * 20, kind, core)
    for name in names:
        process = os.fork()
        if not process:
            signal.alarm(LONGEST)
            print(json.dumps(asdict(_measured(by_name[name.strip()], core))), file=answers, flush=True)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        if status:
            print(f"status {status}", file=answers, flush=True)


def _measured(hostile: Hostile, core: Core | None) -> Cost:
    before, body = _resident("VmRSS"), hostile.body()
    with suppress(PermissionError):  # its making is no part of the peak; where it must be, that is only larger
        (_SELF / "clear_refs").write_text("5")
    started = time.process_time()
    said = reading.read(body, hostile.kind, core)
    return Cost(round(time.process_time() - started, 3), round(_resident("VmHWM") - before, 1), said)


def _resident(which: str) -> float:
    """Resident memory of this process, or its peak (VmHWM), MB."""
    return int((_SELF / "status").read_text().partition(f"{which}:")[2].split()[0]) / 1024

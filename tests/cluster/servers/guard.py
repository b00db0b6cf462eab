"""Ends the servers of a test run that was killed: run as a script, it reads the group ids and waits for end of file.

Lines on standard input are "+ID" and "-ID" (a process group started, ended). The pipe closes with the test run,
however that ends; then every group that is left gets SIGKILL and the folder given as argument is removed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path


class Guard:
    """The test run's end of the pipe."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__, str(folder)], stdin=subprocess.PIPE, start_new_session=True
        )

    def add(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def drop(self, group: int) -> None:
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """End what is left, and remove the folder."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()


def _main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        if line[0] == "+":
            groups.add(int(line[1:]))
        else:
            groups.discard(int(line[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    _main()

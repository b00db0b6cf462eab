"""A shell in which the commands of a page are typed one after another, as a person would."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import environ, killpg
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Final, NamedTuple

_PATIENCE: Final = 180.0
_LASTING: Final = ("gregor crawl", "gregor worker", "gregor console")
"""Commands that run until they are stopped: a terminal of their own for a person, the background for us."""


class Said(NamedTuple):
    """What a command said, standard error too."""

    code: int
    text: str


class Shell:
    """A bash that keeps its folder and its environment from one command to the next."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._folder = folder
        self._count = 0
        path = f"{Path(sys.executable).parent}:{environ['PATH']}"
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env={**environ, "PATH": path, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, command: str) -> Said:
        """Type a command and wait for its end; one that lasts goes to the background."""
        if command.startswith(_LASTING):
            self._count += 1
            command = f"{command} > log-{self._count} 2>&1 < /dev/null &"
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        watchdog = threading.Timer(_PATIENCE, killpg, (self._bash.pid, SIGKILL))
        watchdog.start()
        try:
            self._bash.stdin.write(f'{command}\necho "@@ $?"\n')
            self._bash.stdin.flush()
            lines: list[str] = []
            for line in self._bash.stdout:
                if found := re.fullmatch(r"@@ (\d+)\n", line):
                    return Said(int(found[1]), "".join(lines))
                lines.append(line)
        finally:
            watchdog.cancel()
        raise AssertionError(f"{command}: no end within {_PATIENCE:g} s; {self.logs()}")

    def logs(self) -> str:
        """What the commands in the background said."""
        return "\n".join(path.read_text()[-2000:] for path in sorted(self._folder.glob("log-*")))

    def close(self) -> None:
        """End the shell and all that it started."""
        try:
            killpg(self._bash.pid, SIGTERM)
            self._bash.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            killpg(self._bash.pid, SIGKILL)
            self._bash.communicate()
        except ProcessLookupError:
            self._bash.communicate()


@contextmanager
def shell(folder: Path, variables: Mapping[str, str]) -> Iterator[Shell]:
    """A shell for the block."""
    found = Shell(folder, variables)
    try:
        yield found
    finally:
        found.close()


def commands(page: str) -> Iterator[str]:
    """The commands of a page: its indented lines, continued ones whole."""
    lines = "\n".join(line[4:] for line in page.splitlines() if line.startswith("    "))
    yield from lines.replace("\\\n", " ").splitlines()

"""A server as a process of this machine, in a process group of its own."""

import contextlib
import os
import random
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cluster.servers.guard import Guard

_STOP_TIMEOUT: Final = 30.0
_TAIL: Final = 4000


class Process:
    """A `Node`. Its output goes to ``<name>.log`` in its folder. Without a guard it outlives this process."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, guard: Guard | None) -> None:
        self.name = name
        self.command = list(command)
        self.folder = folder
        self._guard = guard
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def group(self) -> int:
        """The id of the process group, which is its leader's; the process must have been started."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        if self.running:
            return
        self._ended()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if self._guard is not None:
            self._guard.add(self.group)

    def stop(self) -> None:
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_TIMEOUT)
        self.kill()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._ended()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def tail(self) -> str:
        return self._log.read_bytes()[-_TAIL:].decode(errors="replace") if self._log.exists() else ""

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def _signal(self, number: signal.Signals) -> None:
        # The leader is not reaped before `_ended`, so that the id can't have become another's.
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.group, number)

    def _ended(self) -> None:
        if self._process is not None:
            self._process.wait()
            if self._guard is not None:
                self._guard.drop(self.group)
            self._process = None


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, below the range that the kernel gives to outgoing connections.

    A server that restarts on its port would otherwise find it taken by some client.
    """
    found: list[int] = []
    for port in random.sample(range(15000, 32000), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise OSError("no free ports on 127.0.0.1")


def listens(address: str) -> bool:
    """Whether something accepts connections at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True

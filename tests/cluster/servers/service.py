"""What a test sees of a server: where it listens, and the handles to stop it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

import msgspec

# A cold JVM on a busy machine of two cores; a healthy start takes 0.4 to 8 s.
START_TIMEOUT: Final = 180.0
_PAUSE: Final = 0.05


class Missing(Exception):
    """There is no way to get this server here; the text says why."""


class ServerFailed(Exception):
    """A server did not come up, or ended by itself; the text has the end of its log."""


class Node(Protocol):
    """One server process or container. It keeps its port and its data over a stop. Methods block: use a thread."""

    @property
    def running(self) -> bool: ...

    def start(self) -> None:
        """Start it, without waiting until it answers; nothing if it runs."""

    def stop(self) -> None:
        """Let it end in order."""

    def kill(self) -> None:
        """End it with SIGKILL."""

    def pause(self) -> None:
        """Stop it with SIGSTOP, its connections open."""

    def resume(self) -> None:
        """Let it go on."""

    def tail(self) -> str:
        """The end of its log."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """Servers of one kind that belong together. ``nodes`` is empty when they are not ours to stop.

    ``addresses``: host:port of each, clients' ports. ``answers`` says whether all of them serve now.
    """

    name: str
    addresses: tuple[str, ...]
    nodes: tuple[Node, ...] = ()
    answers: Callable[[], bool]

    @property
    def address(self) -> str:
        """All addresses in one text, as Kafka's bootstrap servers and ZooKeeper's connection string are written."""
        return ",".join(self.addresses)

    def start(self) -> None:
        """Start whatever does not run and wait until all answer; raises `ServerFailed`."""
        for node in self.nodes:
            node.start()
        self.ready()

    def stop(self) -> None:
        """End all in order, at once: the last broker of a quorum could not say goodbye to anyone."""
        if self.nodes:
            with ThreadPoolExecutor(len(self.nodes)) as pool:
                list(pool.map(lambda node: node.stop(), self.nodes))

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()

    def restart(self, *, kill: bool = False) -> None:
        """End all and start them again on the same ports, with their data."""
        if kill:
            self.kill()
        else:
            self.stop()
        self.start()

    def ready(self) -> None:
        """Wait until all answer; raises `ServerFailed` when one ends or `START_TIMEOUT` is over."""
        deadline = time.monotonic() + START_TIMEOUT
        while not self.answers():
            for node in self.nodes:
                if not node.running:
                    raise ServerFailed(f"{self.name} ended:\n{node.tail()}")
            if time.monotonic() > deadline:
                logs = "\n".join(node.tail() for node in self.nodes)
                raise ServerFailed(f"{self.name} did not answer within {START_TIMEOUT:.0f} s\n{logs}")
            time.sleep(_PAUSE)

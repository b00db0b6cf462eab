"""Starts play.py, the server side of reported cases, and reads its log."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.web.crawler import bare

ADDRESS = "127.0.0.80"
"""Where the player listens: a loopback address that no case uses as a target."""

DNS_PORT = 5353
STOP_SECONDS = 10.0


class PlayerFailed(RuntimeError):
    """The player ended before it served anything; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Player:
    """A running player: its log, and its CA if it speaks TLS."""

    log: Path
    ca: Path | None


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was logged: time (Unix, seconds), host without default port, raw target, headers."""

    at: float
    host: str
    target: str
    headers: tuple[tuple[str, str], ...]

    @property
    def address(self) -> str:
        return self.host + self.target


@dataclass(frozen=True, slots=True)
class Sent:
    """How many bytes of an answer the player got rid of."""

    address: str
    size: int


@contextmanager
def playing(play: Path, case: Path, address: str, log: Path, ports: tuple[int, ...] = (80, 8081)) -> Iterator[Player]:
    """Plays the case on an address while the block runs, with TLS on 443 and a resolver. Raises PlayerFailed."""
    line = [sys.executable, str(play), str(case), "--bind", address, "--answer", ADDRESS, "--log", str(log)]
    for port in ports:
        line += ["--port", str(port)]
    if 8081 in ports:
        line += ["--tls-port", "443", "--dns-port", str(DNS_PORT)]
    with log.with_suffix(".err").open("wb") as errors:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    try:
        ca = None
        for said in process.stdout:
            if "test CA " in said:
                ca = Path(said.rsplit("test CA ", 1)[1].strip())
            if " http on " in said:
                break
        else:
            raise PlayerFailed(log.with_suffix(".err").read_text())
        yield Player(log, ca)
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)
        process.stdout.close()


def read(log: Path) -> tuple[list[Request], list[Sent]]:
    """The requests and the ends of answers in a player's log, in the order of time."""
    requests, ends = [], []
    asked: dict[tuple[str, str], str] = {}
    for line in log.read_text(encoding="utf-8").split("\n"):
        event: dict[str, Any] = json.loads(line) if line else {"ev": ""}
        if event["ev"] == "req":
            headers = tuple((name, value) for name, value in event["headers"])
            request = Request(event["t"], bare(event["host"]), event["target"], headers)
            requests.append(request)
            asked[event["conn"], event["target"]] = request.host
        elif event["ev"] == "end":
            ends.append(Sent(asked[event["conn"], event["target"]] + event["target"], event["sent"]))
    return requests, ends

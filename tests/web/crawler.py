"""Runs the crawler as a user does: a process with options, output in files, and its own reading commands afterwards."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

GREGOR = Path(sys.executable).with_name("gregor")
READ_SECONDS = 120.0
POLL_SECONDS = 0.05

FLAGS = {
    name: f"--{name.replace('_', '-')}"
    for name in ("scope", "delay", "max_pages", "max_depth", "max_time", "concurrency", "user_agent")
} | {"include": "--include", "exclude": "--exclude"}
"""Neutral option names that have a flag of their own; all others are named as the configuration field."""

CREDENTIALS = "credentials"
"""The neutral option that needs a config file: tables of hosts, with secrets named in the environment."""


def config_file(options: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The config file (TOML) of the credentials in the options, and the environment that it names."""
    lines: list[str] = []
    secrets: dict[str, str] = {}
    for number, given in enumerate(options.get(CREDENTIALS, ())):
        user, password = f"CASE_USER_{number}", f"CASE_PASSWORD_{number}"
        secrets |= {user: given["user"], password: given["password"]}
        lines += ["[[host]]", f"host = {json.dumps(bare(urlsplit(given['origin']).netloc))}"]
        lines += [f"origins = {json.dumps([given['origin']])}"]
        lines += [f'username_env = "{user}"', f'password_env = "{password}"']
    return "\n".join(lines) + "\n", secrets


def bare(host: str) -> str:
    """A Host header in lower case, without the default port of its scheme, which logs don't tell."""
    return host.lower().removesuffix(":80").removesuffix(":443")


def arguments(options: Mapping[str, Any]) -> list[str]:
    """The command line of neutral options (cases/README.md); a list repeats its flag."""
    line: list[str] = []
    for name, value in options.items():
        if name in FLAGS:
            for one in value if isinstance(value, list) else [value]:
                line += [FLAGS[name], str(one)]
        elif name != CREDENTIALS:
            line += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return line


@dataclass(frozen=True, slots=True)
class Ended:
    """How a crawl ended: `status` is its exit code, None if it had to be killed at its limit; memory is the peak
    resident size of all its processes together, in MiB."""

    status: int | None
    seconds: float
    rss_mb: float
    output: Path
    errors: Path

    def said(self) -> str:
        """Its standard output and error, as text."""
        return "\n".join(path.read_bytes().decode(errors="replace") for path in (self.output, self.errors))


def crawl(line: Sequence[str], data: Path, limit: float, secrets: Mapping[str, str] | None = None) -> Ended:
    """Runs `gregor crawl … --data DATA` to its end, or kills it with its children after `limit` seconds.

    Standard output and error go to files beside the data folder; `secrets` are added to the environment.
    """
    output, errors = data.with_suffix(".out"), data.with_suffix(".err")
    started = time.monotonic()
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [GREGOR, "crawl", *line, "--data", data],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(secrets or {})},
            start_new_session=True,
        )
        peak = 0.0
        while time.monotonic() - started < limit:
            peak = max(peak, sum(_high_water_mb(pid) for pid in _family(process.pid)))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
                return Ended(process.returncode, time.monotonic() - started, peak, output, errors)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Ended(None, time.monotonic() - started, peak, output, errors)


def _family(pid: int) -> Iterator[int]:
    """The process and all below it; processes that end meanwhile are left out."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _high_water_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


class ReadingFailed(RuntimeError):
    """A reading command ended with an error; the message is what it said."""


def pages(data: Path) -> Iterator[bytes]:
    """The lines of `gregor pages --jsonl`, one record each, as they come. Raises ReadingFailed."""
    with subprocess.Popen(
        [GREGOR, "pages", "--data", data, "--jsonl"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode:
        raise ReadingFailed(f"gregor pages ended with status {process.returncode}")


def record(url: str, data: Path) -> dict[str, Any]:
    """What the crawler says of a URL: `show`, or `explain` for one that has no record; {} if it knows neither."""
    for command in ("show", "explain"):
        done = subprocess.run(
            [GREGOR, command, url, "--data", data, "--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=READ_SECONDS,
            check=False,
        )
        if done.returncode == 0 and done.stdout.strip():
            found = json.loads(done.stdout)
            if not isinstance(found, dict):
                raise ReadingFailed(f"gregor {command} --json gave no object")
            return found
    return {}

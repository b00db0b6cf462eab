"""Servers for a developer: `python -m tests.cluster.servers up [--index] [NAME...]`, `… down`.

What was started stands in build/servers.json, its data and logs in build/servers/; the config on standard output
reaches it.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from tests.cluster.servers import docker
from tests.cluster.servers.process import Process
from tests.cluster.servers.service import Missing, ServerFailed, Service
from tests.cluster.servers.session import ANSWERS, find

_BUILD: Final = Path("build").resolve()
_STATE: Final = _BUILD / "servers.json"
_NAMES: Final = ("kafka", "zookeeper", "redis", "cassandra")
_INDEX: Final = "opensearch"
_STOP_TIMEOUT: Final = 30.0


class _Started(msgspec.Struct):
    """A process group by its id and its leader's start (clock ticks since boot), with what starts it again; or a
    container by its id. ``server``: its name."""

    group: int = 0
    born: str = ""
    container: str = ""
    server: str = ""
    log: str = ""
    command: list[str] = []
    folder: str = ""


class _State(msgspec.Struct):
    addresses: dict[str, tuple[str, ...]] = {}
    started: list[_Started] = []


def _up(names: list[str]) -> int:
    state = _read()
    docker.keep()
    for name in names:
        try:
            if name in state.addresses:
                _revive(name, state)
            else:
                service = find(name, _BUILD / "servers", None)
                state.addresses[name] = service.addresses
                state.started += _started(name, service)
        except (Missing, ServerFailed) as error:
            print(f"{name} is not up: {error}", file=sys.stderr)
            return 1
        finally:
            _BUILD.mkdir(exist_ok=True)
            _STATE.write_bytes(msgspec.json.format(msgspec.json.encode(state)))
    print(config(state.addresses))
    return 0


def _revive(name: str, state: _State) -> None:
    """Start what has died of a server, with its ports and data, and wait until it answers."""
    nodes = []
    for started in state.started:
        if started.server == name and started.container:
            subprocess.run(["docker", "start", started.container], check=True, stdout=subprocess.DEVNULL)
        elif started.server == name and _born(started.group) != started.born:
            print(f"{name} had died: starting it again", file=sys.stderr)
            process = Process(started.log, started.command, Path(started.folder), None)
            process.start()
            started.group, started.born = process.group, _born(process.group)
            nodes.append(process)
    addresses = state.addresses[name]
    Service(name=name, addresses=addresses, nodes=tuple(nodes), answers=lambda: ANSWERS[name](addresses)).ready()


def _down() -> int:
    for started in reversed(_read().started):
        if started.container:
            subprocess.run(["docker", "rm", "-f", "-v", started.container], check=True, stdout=subprocess.DEVNULL)
        elif _born(started.group) == started.born:
            _end(started)
    _STATE.unlink(missing_ok=True)
    shutil.rmtree(_BUILD / "servers", ignore_errors=True)
    return 0


def config(addresses: dict[str, tuple[str, ...]], replication: int = 1) -> str:
    """The config file that reaches them: Redis by its primary."""
    values = {name: found[:1] if name == "redis" else found for name, found in addresses.items()}
    lines = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in values.items()]
    alone = [f"{_INDEX}_replicas = 0"] if len(addresses.get(_INDEX, ())) == 1 else []  # a copy has no node to be on
    replications = (f"{name}_replication = {replication}" for name in ("kafka", "cassandra"))
    return "\n".join(['engine = "cluster"', *lines, *replications, *alone])


def _read() -> _State:
    return msgspec.json.decode(_STATE.read_bytes(), type=_State) if _STATE.exists() else _State()


def _started(name: str, service: Service) -> list[_Started]:
    found = []
    for node in service.nodes:
        if isinstance(node, Process):
            found.append(_Started(node.group, _born(node.group), "", name, node.name, node.command, str(node.folder)))
        elif isinstance(node, docker.Container):
            found.append(_Started(container=node.id, server=name))
    return found


def _born(process: int) -> str:
    """When a process began; empty when it is gone. Tells it from a later one of the same id."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def _end(started: _Started) -> None:
    deadline = time.monotonic() + _STOP_TIMEOUT
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.group, signal.SIGTERM)
        while _born(started.group) == started.born and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(started.group, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.servers")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser(
        "up", help="start what does not run, also what has died, and print the config that reaches it"
    )
    names = ", ".join((*_NAMES, _INDEX))
    up.add_argument("names", nargs="*", metavar="NAME", help=f"of {names}; default: all but the last")
    up.add_argument("--index", action="store_true", help="the last too, in which a crawl is searched")
    commands.add_parser("down", help="end what was started, and remove its data")
    arguments = parser.parse_args()
    if arguments.command == "down":
        return _down()
    if unknown := set(arguments.names).difference((*_NAMES, _INDEX)):
        parser.error(f"no server {', '.join(unknown)}")
    return _up(list(dict.fromkeys([*(arguments.names or _NAMES), *([_INDEX] if arguments.index else [])])))


if __name__ == "__main__":
    sys.exit(main())

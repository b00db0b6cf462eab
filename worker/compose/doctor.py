"""What could keep a crawl from going well on this machine: one finding for each thing that was looked at."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.base.errors import BadInput, why
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.resolver import DnsFailure
from gregor.worker.compose import network
from gregor.worker.compose.beside import standing_orders
from gregor.worker.compose.engines import SystemClock
from gregor.worker.compose.servers import ask_server
from gregor.worker.config.api import address, token
from gregor.worker.config.check import warnings
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.servers import SERVERS, password
from gregor.worker.config.settings import Config, replace
from gregor.worker.inspect import machine
from gregor.worker.inspect.report import size
from gregor.worker.links.configured import scope_rules
from gregor.worker.observe.stats import Stats

_PATIENCE: Final = 5.0
_SPARE_FILES: Final = 256  # for stores, log, API and kept connections
_LITTLE_DISK: Final = 0.1
_NO_DISK: Final = 512 * 1024 * 1024


class Finding(Struct, frozen=True):
    """``fail``: a crawl cannot go well like that; ``warn``: it may not."""

    level: Literal["ok", "warn", "fail"]
    what: str
    text: str


async def examine(config: Config, name: str, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Look at everything; ``name`` is a host name to look up."""
    for finding in (*_settings(config, environ), _clock(), *_limits(config)):
        yield finding
    if config.engine == "embedded":
        yield _folder(config)
        yield _disk(Path(config.data))
    yield await _dns(config, name)
    if config.listen:
        yield await _listen(config)
    if config.engine == "cluster":
        for server in SERVERS:
            reached = [await _reach(server, where) for where in getattr(config, server)]
            for finding in reached:
                yield finding
            if all(finding.level == "ok" for finding in reached):
                yield await _ask(config, server, environ)


def _settings(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What a crawl reads before it begins."""
    found = [Finding("warn", "config", text) for text in warnings(config)]
    try:
        authorizations(config, environ)
        scope_rules(config)
        network.host_table(config)
        for role in ("viewer", "operator"):
            token(config, role, environ)
        for server in SERVERS if config.engine == "cluster" else ():
            password(config, server, environ)
    except BadInput as error:
        found.append(Finding("fail", "config", str(error)))
    yield from found or [Finding("ok", "config", "every setting can hold")]


def _clock() -> Finding:
    kept = machine.clock_is_kept()
    if kept:
        return Finding("ok", "clock", "a time service keeps it right")
    text = "nothing keeps it right" if kept is False else "the system does not say whether anything keeps it right"
    return Finding("warn", "clock", f"{text}: Retry-After dates and stored times may be off; run an NTP client")


def _limits(config: Config) -> Iterator[Finding]:
    files, needed = machine.open_files(), 2 * config.concurrency + _SPARE_FILES
    if files >= needed:
        yield Finding("ok", "open files", f"{files} are allowed, {needed} may be needed")
    else:
        text = f"{files} are allowed, {needed} may be needed: raise the limit (ulimit -n {needed}) or lower concurrency"
        yield Finding("fail", "open files", text)
    memory, most = machine.memory(), config.concurrency * config.max_body
    if most <= memory:
        yield Finding("ok", "memory", f"{size(memory)}, running answers may take {size(most)}")
    else:
        text = f"{size(memory)}, but {config.concurrency} answers of {size(config.max_body)} may be held at once"
        yield Finding("warn", "memory", f"{text}: lower concurrency or max_body")


def _folder(config: Config) -> Finding:
    path = Path(config.data)
    if not path.exists():
        parent = next(one for one in path.absolute().parents if one.exists())
        if os.access(parent, os.W_OK | os.X_OK):
            return Finding("ok", "data folder", f"{path} will be made")
        return Finding("fail", "data folder", f"{path} cannot be made: {parent} cannot be written")
    if not os.access(path, os.W_OK | os.X_OK):
        return Finding("fail", "data folder", f"{path} cannot be written")
    if not any(path.iterdir()):
        return Finding("ok", "data folder", f"{path} is empty")
    try:
        standing_orders(config)
    except BadInput as error:
        return Finding("fail", "data folder", str(error))
    return Finding("ok", "data folder", f"{path} holds a crawl")


def _disk(path: Path) -> Finding:
    free, whole = machine.disk(path)
    text = f"{size(free)} of {size(whole)} are free"
    if free < _NO_DISK:
        return Finding("fail", "disk", f"{text}: a crawl stops when the disk is full")
    return Finding("warn" if free < _LITTLE_DISK * whole else "ok", "disk", text)


async def _dns(config: Config, name: str) -> Finding:
    if config.proxy:
        return Finding("ok", "DNS", "the proxy looks names up")
    try:
        resolver = network.resolver(config, network.host_table(config), SystemClock().monotonic, Stats())
        answer = await resolver.resolve(name, 80)
    except BadInput as error:
        return Finding("fail", "DNS", str(error))
    if not isinstance(answer, DnsFailure):
        return Finding("ok", "DNS", f"{name} has {len(answer.endpoints)} addresses")
    if answer.kind == "nxdomain":
        return Finding("warn", "DNS", f"a resolver answers, but {name} has no address")
    return Finding("fail", "DNS", f"{name}: {answer.detail}; see resolver and /etc/resolv.conf")


async def _listen(config: Config) -> Finding:
    host, port = address(config)
    try:
        server = await asyncio.start_server(lambda _, writer: writer.close(), host, port, reuse_address=True)
    except OSError as error:
        if await _connects(host, port) == "":
            return Finding("ok", "listen", f"{config.listen} is served, by a worker if all is well")
        return Finding("fail", "listen", f"{config.listen}: {why(error)}")
    server.close()
    await server.wait_closed()
    return Finding("ok", "listen", f"{config.listen} is free")


async def _reach(server: str, where: str) -> Finding:
    host, _, port = where.rpartition(":")
    if not port.isdecimal():
        return Finding("fail", server, f"{where} must be HOST:PORT")
    problem = await _connects(host.strip("[]"), int(port))
    return Finding("fail" if problem else "ok", server, f"{where} {problem or 'accepts connections'}")


async def _ask(config: Config, server: str, environ: Mapping[str, str]) -> Finding:
    """Whether it answers a worker's own client, which has a name and a password, and speaks TLS or not."""
    patient = replace(config, server_timeout=min(config.server_timeout, _PATIENCE))
    try:
        await ask_server(patient, server, environ)
    except (BadInput, Unavailable) as error:
        return Finding("fail", server, str(error))
    return Finding("ok", server, "answers as it is configured")


async def _connects(host: str, port: int) -> str:
    """Why no connection can be made; empty when one can."""
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return f"gives no answer within {_PATIENCE:g} s"
    except OSError as error:
        return f"cannot be reached: {why(error)}"
    writer.close()
    return ""

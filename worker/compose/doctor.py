"""What could keep a crawl from going well on this machine: one finding for each thing that was looked at."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from gregor.worker.base.amounts import size
from gregor.worker.base.errors import BadInput, why
from gregor.worker.borders.resolver import DnsFailure
from gregor.worker.compose import network, stored_findings
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.compose.findings import Finding, no_connection
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.api import address, token
from gregor.worker.config.check import warnings
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.settings import Config
from gregor.worker.inspect import machine
from gregor.worker.links.configured import scope_rules
from gregor.worker.observe.stats import Stats
from gregor.worker.read import native

_SPARE_FILES: Final = 256  # for stores, log, API and kept connections


async def examine(config: Config, name: str, environ: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Look at everything; ``name`` is a host name to look up."""
    for finding in (*_settings(config, environ), _clock(), *_limits(config), _reading(config)):
        yield finding
    yield await _dns(config, name)
    if config.listen:
        yield await _listen(config)
    is_there = True
    async for finding in engine_of(config).examine(environ):
        is_there = is_there and finding.level != "fail"
        yield finding
    if is_there:
        async for finding in stored_findings.examine(config):
            yield finding


def _settings(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What a crawl reads before it begins."""
    findings = [Finding("warn", "config", text) for text in warnings(config)]
    try:
        authorizations(config, environ)
        scope_rules(config)
        extraction_of(config)
        network.host_table(config)
        for role in ("viewer", "operator"):
            token(config, role, environ)
        engine_of(config).check(environ)
    except BadInput as error:
        findings.append(Finding("fail", "config", str(error)))
    yield from findings or [Finding("ok", "config", "every setting can hold")]


def _reading(config: Config) -> Finding:
    """Which way pages are read."""
    reason = native.why_not() if config.native else "native is off"
    return Finding("ok", "reading", f"by Python alone: {reason}" if reason else "natively where that is possible")


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
        if await no_connection(host, port) == "":
            return Finding("ok", "listen", f"{config.listen} is served, by a worker if all is well")
        return Finding("fail", "listen", f"{config.listen}: {why(error)}")
    server.close()
    await server.wait_closed()
    return Finding("ok", "listen", f"{config.listen} is free")

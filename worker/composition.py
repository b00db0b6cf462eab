"""The composition root: which engine, transport and resolver make a worker. The only place that asks for the engine."""

import ipaddress
import os
import random
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from gregor.worker import deadletters, seeding
from gregor.worker.adapters.embedded import open_engine, open_reader
from gregor.worker.adapters.embedded.folder import connect_reading
from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.adapters.transport.lenient import LenientTransport
from gregor.worker.adapters.transport.requests_transport import RequestsTransport
from gregor.worker.addresses import AddressPolicy
from gregor.worker.borders import Reader
from gregor.worker.canonical import CanonicalRules
from gregor.worker.config import Config, ConfigError, replace
from gregor.worker.credentials import authorizations
from gregor.worker.dns import DnsCache
from gregor.worker.ending import Ending, has_ended
from gregor.worker.host_table import HostTable
from gregor.worker.runtime import Runtime
from gregor.worker.scope import Scope, ScopeRules
from gregor.worker.seeding import Seed
from gregor.worker.tools import Services
from gregor.worker.transport import Endpoint, Transport
from gregor.worker.urls import Urls


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """See `Clock.monotonic`: it goes on while the machine is suspended."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wall(self) -> float:
        """See `Clock.wall`."""
        return time.time()


@dataclass(frozen=True)
class Finished:
    """The crawl in the data folder had ended before, and nothing new was seeded."""


def canonical_rules(config: Config) -> CanonicalRules:
    """The optional operations on keys."""
    return CanonicalRules(**dict.fromkeys(config.canonical, True))


def urls_of(config: Config) -> Urls:
    """How the crawl parses URLs."""
    return Urls(canonical_rules(config), max_length=config.max_url_length)


def scope_rules(config: Config) -> ScopeRules:
    """The scope as configured; raises `ConfigError` for a pattern that cannot hold."""
    rules = ScopeRules(config.scope, config.domains, config.prefixes, config.include, config.exclude)
    try:
        Scope(rules)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return rules


def _host_table(config: Config) -> HostTable:
    if not config.host_table:
        return HostTable()
    try:
        return HostTable.parse(Path(config.host_table).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"host_table {config.host_table}: {error}") from None


def _transport(config: Config, table: HostTable) -> Transport:
    policy = AddressPolicy([ipaddress.ip_network(n) for n in config.allow_networks], table.endpoints)
    ca_file = Path(config.ca_file) if config.ca_file else None
    if ca_file is not None and not ca_file.is_file():
        raise ConfigError(f"ca_file {ca_file} cannot be read")
    tolerant = RequestsTransport(policy, ca_file=ca_file)
    if config.transport == "requests":
        return tolerant
    return LenientTransport(CurlTransport(policy, ca_file=ca_file, http2=config.http2), tolerant)


def _resolver(config: Config, table: HostTable, clock: SystemClock) -> DnsResolver:
    server = None
    if config.resolver:
        address, _, port = config.resolver.rpartition(":")
        if not port.isdecimal():
            raise ConfigError(f"resolver {config.resolver!r} must be ADDRESS:PORT")
        server = Endpoint(address.strip("[]"), int(port))
    cache = DnsCache(
        size=config.dns_memory,
        min_ttl=config.dns_ttl_min,
        max_ttl=config.dns_ttl_max,
        failure_ttl=config.failure_ttl or config.retry_pause,
        max_negative_ttl=max(config.dns_negative_ttl, config.failure_ttl or config.retry_pause),
    )
    return DnsResolver(
        cache=cache, host_table=table, server=server, timeout=config.connect_timeout, clock=clock.monotonic
    )


async def _counts(config: Config) -> dict[str, int]:
    """What the data folder holds already."""
    reader = await open_reader(Path(config.data))
    try:
        return await reader.settled()
    finally:
        await reader.close()


async def crawl(config: Config, seeds: Iterable[Seed], started: Callable[[Runtime], None]) -> Ending | Finished:
    """Seed and crawl on the embedded engine until it ends; `started` gets the worker that `stop` ends.

    Raises `ConfigError`, and what opening the data folder raises.
    """
    clock, table, rules = SystemClock(), _host_table(config), scope_rules(config)
    secrets = authorizations(config, os.environ)
    async with AsyncExitStack() as stack:
        transport = _transport(config, table)
        stack.push_async_callback(transport.close)
        fingerprint = canonical_rules(config).fingerprint()
        engine = await open_engine(Path(config.data), config.partitions, fingerprint, clock, config.bucket_width)
        stack.push_async_callback(engine.close)
        ended = await has_ended(engine.log, engine.store, config.partitions)
        fresh = [seed for seed in seeds if not (await engine.store.rows([seed.url.key]))[0]] if ended else seeds
        published = await seeding.publish(engine.log, engine.store, fresh)
        before = await _counts(config)
        if ended and not published and before:
            return Finished()
        runtime = Runtime(
            config,
            Services(
                engine.log,
                engine.seen,
                engine.store,
                engine.coordinator,
                transport,
                _resolver(config, table, clock),
            ),
            clock,
            urls=urls_of(config),
            scope=Scope(rules, await engine.store.seed_hosts()),
            random=random.Random(),
            name=f"{os.uname().nodename}-{os.getpid()}",
            authorizations=secrets,
        )
        runtime.stats.before = before
        started(runtime)
        return await runtime.run()


def _made_for(config: Config) -> tuple[Config, CanonicalRules]:
    """The configuration with what the data folder was made for, and the canonical form of its URLs."""
    connection, made_for = connect_reading(Path(config.data))
    connection.close()
    partitions, width = int(made_for["partitions"]), float(made_for["bucket_width"])
    rules = CanonicalRules.of_fingerprint(made_for["canonical"])
    return replace(config, partitions=partitions, bucket_width=width), rules


async def open_crawl(config: Config) -> tuple[Reader, Urls]:
    """What the crawl of the data folder remembers, beside its worker or after it, and how its URLs are written."""
    _, rules = _made_for(config)
    return await open_reader(Path(config.data)), Urls(rules, max_length=config.max_url_length)


async def retry_dead(config: Config, cause: str | None) -> int:
    """Give the URLs that were given up, all or those of one cause, another visit; how many they are."""
    config, rules = _made_for(config)
    async with AsyncExitStack() as stack:
        engine = await open_engine(
            Path(config.data), config.partitions, rules.fingerprint(), SystemClock(), config.bucket_width
        )
        stack.push_async_callback(engine.close)
        reader = await open_reader(Path(config.data))
        stack.push_async_callback(reader.close)
        return await deadletters.retry(reader, engine.store, engine.coordinator, config, cause)

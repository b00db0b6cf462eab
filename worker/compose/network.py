"""What a worker reaches the network with, made of the configuration: host table, resolver, transport, tracer."""

import ipaddress
import ssl
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gregor.worker.adapters.resolver import DnsResolver
from gregor.worker.adapters.transport.curl import CurlTransport
from gregor.worker.adapters.transport.lenient import LenientTransport
from gregor.worker.base.errors import why
from gregor.worker.base.printable import one_line
from gregor.worker.borders.transport import Transport
from gregor.worker.config.settings import Config, ConfigError
from gregor.worker.fetch import cookie_file
from gregor.worker.fetch.address_policy import AddressPolicy
from gregor.worker.fetch.cookie_file import GivenCookie
from gregor.worker.fetch.dns import DnsCache
from gregor.worker.fetch.host_table import HostTable, endpoint_of
from gregor.worker.observe.stats import Stats

if TYPE_CHECKING:
    from gregor.worker.adapters.tracing import OpenTelemetry


def host_table(config: Config) -> HostTable:
    """The static host table; empty when none is named. Raises `ConfigError`."""
    if not config.host_table:
        return HostTable()
    try:
        return HostTable.parse(Path(config.host_table).read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"host_table {config.host_table} cannot be read: {why(error)}") from None


def cookies(config: Config, tell: Callable[[str], None]) -> list[GivenCookie]:
    """Those of the file that is named, [] without one; ``tell`` hears of one that others can read.

    Raises `ConfigError`.
    """
    if not config.cookies_file:
        return []
    path = Path(config.cookies_file)
    try:
        cookies_of_file = cookie_file.parse(path.read_text("utf-8-sig"))
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise ConfigError(f"cookies_file {one_line(config.cookies_file)} cannot be used: {why(error)}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        tell(f"others can read {one_line(config.cookies_file)}, whose cookies are secrets: chmod 600")
    return cookies_of_file


def transport(config: Config, table: HostTable, stats: Stats) -> Transport:
    """What fetches: curl, with requests for answers that curl cannot read, or requests alone. Raises `ConfigError`."""
    policy = AddressPolicy([ipaddress.ip_network(n) for n in config.allow_networks], table.endpoints)
    ca_file = Path(config.ca_file) if config.ca_file else None
    if ca_file is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ca_file)
        except OSError as error:
            raise ConfigError(f"ca_file {ca_file} cannot be read: {why(error)}") from None

    def tolerant() -> Transport:
        # Heavy, and few crawls meet a host that needs it.
        from gregor.worker.adapters.transport.requests_transport import RequestsTransport

        return RequestsTransport(policy, ca_file=ca_file, legacy_tls=config.legacy_tls)

    if config.transport == "requests":
        return tolerant()
    return LenientTransport(
        CurlTransport(policy, ca_file=ca_file, http2=config.http2, cpu_time=stats.cpu_time),
        tolerant,
        legacy_tls=config.legacy_tls,
    )


def resolver(config: Config, table: HostTable, monotonic: Callable[[], float], stats: Stats) -> DnsResolver:
    """What looks names up. Raises `ConfigError`."""
    server = None
    if config.resolver:
        try:
            server = endpoint_of(config.resolver)
        except ValueError as error:
            raise ConfigError(f"resolver must be ADDRESS:PORT: {one_line(str(error))}") from None
    failure_ttl = config.failure_ttl or config.retry_pause
    cache = DnsCache(
        size=config.dns_memory,
        min_ttl=config.dns_ttl_min,
        max_ttl=config.dns_ttl_max,
        failure_ttl=failure_ttl,
        max_negative_ttl=max(config.dns_negative_ttl, failure_ttl),
        counts=stats.cached,
    )
    return DnsResolver(cache=cache, host_table=table, server=server, timeout=config.connect_timeout, clock=monotonic)


def tracer(config: Config, worker: str) -> "OpenTelemetry | None":
    """What sends traces of visits; None unless it is wanted. Raises `ConfigError` when its libraries are missing."""
    if not config.trace_endpoint:
        return None
    try:
        from gregor.worker.adapters.tracing import OpenTelemetry  # heavy: only whoever traces loads it
    except ImportError:
        raise ConfigError("trace_endpoint needs what `pip install 'gregor-crawler[tracing]'` installs") from None
    return OpenTelemetry.to(config.trace_endpoint, config.trace_share, config.crawl, worker)

"""The static host table: where connections to a host go instead of its addresses, as curl's --connect-to does.

A line is `host[:port] address:port`; `*` is any host, IPv6 stands in brackets, `#` begins a comment. Only the
connection moves: Host header, SNI, politeness key and robots origin stay those of the URL.
"""

import ipaddress
from collections.abc import Mapping

from gregor.worker.borders.transport import SocketAddress

_Key = tuple[str, int | None]


class HostTable:
    """Look-ups in a parsed table. Several lines for one host are several addresses, in their order."""

    def __init__(self, entries: Mapping[_Key, tuple[SocketAddress, ...]] | None = None) -> None:
        self._entries = dict(entries or {})

    @classmethod
    def parse(cls, text: str) -> "HostTable":
        """Read a table's text. ValueError names the line that is wrong."""
        entries: dict[_Key, tuple[SocketAddress, ...]] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            fields = line.partition("#")[0].split()
            if not fields:
                continue
            try:
                key, endpoint = _parse_line(fields)
            except ValueError as fault:
                raise ValueError(f"line {number}: {fault}") from None
            if endpoint not in entries.get(key, ()):
                entries[key] = (*entries.get(key, ()), endpoint)
        return cls(entries)

    def lookup(self, hostname: str, port: int) -> tuple[SocketAddress, ...]:
        """Where connections to `hostname` (brackets optional) at `port` go; empty if the table doesn't say.

        A host's own lines win over those of `*`, and a line with the port over one without.
        """
        host = _normal(hostname)
        for key in ((host, port), (host, None), ("*", port), ("*", None)):
            if endpoints := self._entries.get(key):
                return endpoints
        return ()

    @property
    def endpoints(self) -> frozenset[SocketAddress]:
        """Every endpoint that the table names: what the address policy may allow beyond global addresses."""
        return frozenset(endpoint for endpoints in self._entries.values() for endpoint in endpoints)


def _parse_line(fields: list[str]) -> tuple[_Key, SocketAddress]:
    if len(fields) != 2:
        raise ValueError("expected `host[:port] address:port`")
    host, port = _split_port(fields[0])
    if not host:
        raise ValueError("no host")
    if not host.isascii():
        raise ValueError(f"write {host} in its xn-- form")
    if host != "*" and set(host) & set("*/@"):
        raise ValueError(f"{host} is no host; `*` alone is any")
    return (_normal(host), port), endpoint_of(fields[1])


def endpoint_of(text: str) -> SocketAddress:
    """An IP address with a port, `address:port` or `[v6]:port`. ValueError says what is wrong with it."""
    address, port = _split_port(text)
    if port is None:
        raise ValueError(f"{text} has no port")
    try:
        return SocketAddress(str(ipaddress.ip_address(address)), port)
    except ValueError:
        raise ValueError(f"{address} is not an IP address") from None


def _split_port(text: str) -> tuple[str, int | None]:
    """Host or address without brackets, and the port if there is one."""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise ValueError(f"{text} is not `[IPv6]` or `[IPv6]:port`")
        port = rest[1:] if rest else None
        host = str(ipaddress.IPv6Address(host))
    else:
        host, colon, tail = text.partition(":")
        if ":" in tail:
            raise ValueError(f"{text}: an IPv6 address stands in brackets")
        port = tail if colon else None
    if port is None:
        return host, None
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{port or 'nothing'} is not a port")
    return host, int(port)


def _normal(hostname: str) -> str:
    return hostname.strip("[]").removesuffix(".").lower()

"""What a name look-up can give, how long it holds, and the order in which addresses are tried. Pure."""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterable
from itertools import chain, zip_longest
from typing import Literal, TypeAlias

import msgspec

MAX_ADDRESSES = 16


class ResolvedName(msgspec.Struct, frozen=True):
    """Addresses of a name in order of preference, and how long they hold, in seconds."""

    addresses: tuple[str, ...]
    ttl: float


class NotFound(msgspec.Struct, frozen=True):
    """Why a look-up gave no address; `ttl` is None where the answer names none."""

    kind: Literal["nxdomain", "timeout", "servfail", "local"]
    detail: str
    ttl: float | None = None


Lookup: TypeAlias = ResolvedName | NotFound


class DnsCache:
    """Look-ups by name, the least recently used forgotten first. Times in seconds.

    The time to live of addresses is kept between `min_ttl` and `max_ttl`; that of an NXDOMAIN (RFC 2308 section 5)
    between `failure_ttl` and `max_negative_ttl`; a resolver's failure holds for `failure_ttl`. `counts` counts hits and
    misses.
    """

    def __init__(
        self,
        *,
        size: int = 100_000,
        min_ttl: float = 30.0,
        max_ttl: float = 3600.0,
        failure_ttl: float = 30.0,
        max_negative_ttl: float = 900.0,
        counts: Counter[tuple[str, str]] | None = None,
    ) -> None:
        self._size = size
        self._min_ttl = min_ttl
        self._max_ttl = max(min_ttl, max_ttl)
        self._failure_ttl = failure_ttl
        self._max_negative_ttl = max(failure_ttl, max_negative_ttl)
        self._entries: OrderedDict[str, tuple[Lookup, float]] = OrderedDict()
        self._counts = Counter() if counts is None else counts

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: str, now: float) -> tuple[Lookup, float] | None:
        """The look-up that still holds for `name`, and when it expires."""
        entry = self._entries.get(name)
        cached = entry is not None and entry[1] > now
        self._counts["dns", "hit" if cached else "miss"] += 1
        if entry is None:
            return None
        if not cached:
            del self._entries[name]
            return None
        self._entries.move_to_end(name)
        return entry

    def put(self, name: str, lookup: Lookup, now: float) -> float:
        """Remember a look-up made at `now`; gives the time at which it expires."""
        expires = now + self._time_to_live(lookup)
        self._entries[name] = (lookup, expires)
        self._entries.move_to_end(name)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return expires

    def _time_to_live(self, lookup: Lookup) -> float:
        if isinstance(lookup, ResolvedName):
            return min(max(lookup.ttl, self._min_ttl), self._max_ttl)
        if lookup.kind == "nxdomain" and lookup.ttl is not None:
            return min(max(lookup.ttl, self._failure_ttl), self._max_negative_ttl)
        return self._failure_ttl


def literal_address(hostname: str) -> str | None:
    """The address if `hostname` is an IP literal (brackets optional), else None."""
    bare = hostname.removeprefix("[").removesuffix("]")
    if ":" not in bare and not bare[-1:].isdigit():
        return None  # the usual case, without an exception
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None


def interleave(six: Iterable[str], four: Iterable[str]) -> tuple[str, ...]:
    """IPv6 and IPv4 addresses in turn, IPv6 first (RFC 8305 section 4), each once."""
    mixed = chain.from_iterable(zip_longest(six, four))
    return tuple(dict.fromkeys(address for address in mixed if address is not None))[:MAX_ADDRESSES]


def parse_hosts(text: str) -> dict[str, tuple[str, ...]]:
    """Addresses by lower-case name of a hosts file (hosts(5)); lines that make no sense are skipped."""
    by_name: dict[str, tuple[list[str], list[str]]] = {}
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        literal = literal_address(address) if address else None
        if literal is None:
            continue
        for name in names:
            six, four = by_name.setdefault(name.lower(), ([], []))
            (six if ":" in literal else four).append(literal)
    return {name: interleave(six, four) for name, (six, four) in by_name.items()}

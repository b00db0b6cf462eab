"""What a run did by host: pages, bytes, failures and time, for its report. Bounded, whatever the number of hosts."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

MOST: Final = 10_000
"""Hosts that are told apart: whatever comes after them is summed up as one."""


class HostSum(Struct):
    """``errors``: visits that failed. ``seconds``: what its requests took, all together."""

    host: str
    pages: int = 0
    bytes: int = 0
    errors: int = 0
    seconds: float = 0.0


class HostSums:
    """The sums of a run."""

    def __init__(self) -> None:
        self._sums: dict[str, HostSum] = {}
        self._others = HostSum("")

    def add(self, host: str, size: int | None, seconds: float, *, failed: bool) -> None:
        """A visit of a host; ``size``: of the page that it brought, if it did."""
        host_sum = self._of(host)
        if size is not None:
            host_sum.pages += 1
            host_sum.bytes += size
        host_sum.errors += failed
        host_sum.seconds += seconds

    def put(self, more: HostSum) -> None:
        """Another worker did this of a host."""
        host_sum = self._of(more.host) if more.host else self._others
        host_sum.pages += more.pages
        host_sum.bytes += more.bytes
        host_sum.errors += more.errors
        host_sum.seconds += more.seconds

    def _of(self, host: str) -> HostSum:
        host_sum = self._sums.get(host)
        if host_sum is None:
            host_sum = self._others
            if len(self._sums) < MOST:
                host_sum = self._sums[host] = HostSum(host)
        return host_sum

    def __len__(self) -> int:
        return len(self._sums)

    def __iter__(self) -> Iterator[HostSum]:
        """Those with most pages first; what is not told apart, host "", at the end."""
        yield from sorted(self._sums.values(), key=lambda host_sum: (-host_sum.pages, host_sum.host))
        if self._others != HostSum(""):
            yield self._others

"""Hosts in memory as people see them. Read on the worker's event loop; changes nothing."""

import heapq
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar, get_args

from msgspec import Struct

from gregor.worker.frontier.host import Host
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.run.ownership import Owned
from gregor.worker.run.runtime import Runtime

T = TypeVar("T")
HostState = Literal["active", "waiting", "backing_off", "robots", "blocked", "idle"]
HostSort = Literal["turn", "host", "queued", "failures", "delay", "state", "cause"]
HOST_STATES: Final[tuple[HostState, ...]] = get_args(HostState)
"""robots: it waits because its robots.txt cannot be read; blocked: by an order."""


class HostView(Struct, frozen=True):
    """A host in memory. ``due``: seconds until its next turn, at least 0; ``cause``: its last failure."""

    host: str
    state: HostState
    queued: int
    due: float
    delay: float
    failures: int
    cause: str


def state_of(host: Host, orders: OrdersInForce, now: float) -> HostState:
    """What a host does at ``now``, the coordinator's time."""
    if orders.blocks(host.name):
        return "blocked"
    if host.busy:
        return "active"
    if host.queue and host.waits_for_robots:
        return "robots"
    if host.record.not_before > now:
        return "backing_off"
    return "waiting" if host.queue else "idle"


def hosts(
    runtime: Runtime,
    monotonic: float,
    limit: int,
    *,
    state: str = "",
    after: str = "",
    search: str = "",
    sort: HostSort = "turn",
    reverse: bool = False,
) -> list[HostView]:
    """Hosts in memory, ``limit`` at most: by name those ``after`` a name, or else those that are first by ``sort``, or
    last with ``reverse``.

    ``search``: a part of the name.
    """
    orders, now = runtime.orders, runtime.services.coordinator.now()
    matching = (
        (host, owned)
        for owned in runtime.owned.values()
        for host in owned.crawl.partition.hosts.values()
        if host.name > after and search in host.name and (not state or state_of(host, orders, now) == state)
    )
    place = _PLACES["host" if after else sort]
    if sort == "state" and not after:
        place = lambda host, _: HOST_STATES.index(state_of(host, orders, now))  # noqa: E731 - it needs what is here
    chosen = first(matching, limit, lambda entry: (place(*entry), entry[0].name), reverse=reverse and not after)
    return [_view(host, owned, state_of(host, orders, now), monotonic) for host, owned in chosen]


def first(found: Iterable[T], limit: int, place: Callable[[T], Any], *, reverse: bool) -> list[T]:
    """The first by their place, or the last, the last one first."""
    return (heapq.nlargest if reverse else heapq.nsmallest)(limit, found, key=place)


_PLACES: Final[dict[HostSort, Callable[[Host, Owned], Any]]] = {
    "turn": lambda host, _: host.next_turn if host.queue or host.busy else math.inf,  # what has nothing to do, last
    "cause": lambda host, _: (not host.cause, host.cause),
    "host": lambda _, __: 0.0,
    "queued": lambda host, _: -len(host.queue),
    "failures": lambda host, _: -host.record.failures,
    "delay": lambda host, owned: -owned.crawl.turns.spacing.delay(host),
}


def _view(host: Host, owned: Owned, state: HostState, monotonic: float) -> HostView:
    return HostView(
        host.name,
        state,
        len(host.queue),
        round(max(0.0, host.next_turn - monotonic), 3),
        round(owned.crawl.turns.spacing.delay(host), 3),
        host.record.failures,
        host.cause,
    )

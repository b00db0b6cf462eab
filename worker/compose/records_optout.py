"""Hosts that opted out, in the indexes of what happened: nothing of them is taken in, and what was is taken out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, TypeVar

from gregor.search.borders import FARTHEST, Index
from gregor.search.query import ParsedQuery, QueryFilter
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Orders

R = TypeVar("R")
_LOOK: Final = 0.2
_DOMAIN: Final = "*."


class OptedOut:
    """Who opted out, as the orders stood when they were looked at last."""

    def __init__(self, orders: Callable[[], Orders]) -> None:
        self._read_orders = orders
        self._orders = orders()
        self._in_force = OrdersInForce(lambda: self._orders)

    @property
    def targets(self) -> frozenset[str]:
        """Hosts and domains."""
        return frozenset(self._in_force.table("optout"))

    def look(self) -> frozenset[str]:
        """Look at the orders again; those that opted out since the last time."""
        before, self._orders = self.targets, self._read_orders()
        return self.targets - before

    def covers(self, host: str) -> bool:
        """Whether nothing of a host is to be found."""
        return bool(host) and self._in_force.opted_out(host)

    async def without(self, records: AsyncIterator[R], host_of: Callable[[R], str]) -> AsyncIterator[R]:
        """The records that are not of one of them."""
        async for record in records:
            if not self.covers(host_of(record)):
                yield record


def of_target(target: str) -> ParsedQuery:
    """The query for what is of the target of an order."""
    is_domain = target.startswith(_DOMAIN)
    name, value = ("site", target.removeprefix(_DOMAIN)) if is_domain else ("host", target)
    return ParsedQuery(filters=(QueryFilter(name, (value,)),))


def take_out(index: Index, target: str) -> None:
    """Take out what is of a target, durably."""
    while hits := index.search(of_target(target), FARTHEST).hits:
        index.remove([hit.id for hit in hits])
        index.commit(index.position() + 1)


async def until_forgotten(
    indexes: Mapping[str, Callable[[], Index]], target: str, wait: float, monotonic: Callable[[], float]
) -> bool:
    """Whether none of the indexes has anything of a target any more, within so many seconds."""
    deadline, query = monotonic() + wait, of_target(target)

    def is_there() -> bool:
        return any(_total(opened, query) for opened in indexes.values())

    while await asyncio.to_thread(is_there):
        if monotonic() >= deadline:
            return False
        await asyncio.sleep(_LOOK)
    return True


def _total(opened: Callable[[], Any], query: ParsedQuery) -> int:
    index = opened()
    try:
        total: int = index.search(query, 1).total
        return total
    finally:
        index.close()

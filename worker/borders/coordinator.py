"""The border to the coordinator: who owns which partition, the operator's orders, the crawl's time."""

from collections.abc import Callable
from typing import Protocol

from gregor.worker.orders.model import Change, Orders


class Lease(Protocol):
    """The permission to own a partition, until a moment that may move; a session's end ends all its leases.

    No method waits, or raises.
    """

    @property
    def partition(self) -> int:
        """Its number, from 0 on."""

    @property
    def epoch(self) -> int:
        """Greater than that of every earlier owner of the partition."""

    @property
    def taken_at(self) -> float:
        """The coordinator's time of the takeover, unix seconds."""

    def holds(self) -> bool:
        """Whether it certainly holds now, by the worker's own clock, without asking anyone.

        It may hold again after False, when the coordinator was only late to answer; never once it was released.
        """


class OrderBook(Protocol):
    """The operator's orders, and the record of changes. What waits may raise `Unavailable`."""

    def now(self) -> float:
        """Unix seconds: the coordinator's stamp plus own elapsed monotonic time. Never jumps, waits or raises."""

    def orders(self) -> Orders:
        """The orders that stand, as they were last heard; none before any was given. The same object until they change.

        What could not be read is in `Orders.unread`.
        """

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        """Replace the standing orders by what ``change`` makes of them, as one step; the orders from then on.

        ``change`` may be called more than once, on another thread, and changes nothing else; what it raises is raised.
        After `Unavailable` the change may have been made: it is named by its key, so that again has no second effect.
        """

    async def changes(self, before: int, limit: int) -> list[Change]:
        """The record of changes: at most ``limit`` with a number below ``before``, the newest first; [] if none is."""


class Coordinator(OrderBook, Protocol):
    """Who owns which partition, and what was ordered.

    Beside `Unavailable`, `join` and `changed` raise what ended the watch over the session: then nothing is heard.
    """

    async def join(self) -> None:
        """Become a live member; nothing if it is one. To be called again after a lost session."""

    def wanted(self) -> frozenset[int]:
        """The partitions that this worker should own now, as last heard; none before `join` and after `leave`."""

    async def changed(self) -> None:
        """Return when `wanted`, the orders or the validity of a lease may have changed since the last return.

        Maybe for nothing; changes that come together are one. One caller at a time.
        """

    async def acquire(self, partition: int, above: int) -> Lease | None:
        """Take a partition that nobody owns, with an epoch greater than ``above``; None while anybody holds it.

        After `Unavailable` nothing is owned that was not returned: what was taken unknown to the caller is given up.
        """

    async def release(self, lease: Lease) -> None:
        """Let a partition go: the lease holds no more when this is called, and others may take it when it returns.

        Nothing for a lease that is over.
        """

    async def leave(self) -> None:
        """Stop being a member; nothing if it is none. Releases nothing that was not released."""

    async def close(self) -> None:
        """End the session and all its leases. Nothing else may be called afterwards, but this again."""


async def listen(coordinator: Coordinator) -> None:
    """For ever, so that what ends the coordinator is raised: without one that lives no order is heard."""
    while True:
        await coordinator.changed()

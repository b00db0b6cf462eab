"""The border to the coordinator: who owns which partition, the operator's orders, the crawl's time."""

from collections.abc import Callable
from typing import Protocol

from gregor.worker.orders.model import Change, Orders


class Lease(Protocol):
    """The permission to own a partition, until a moment that may move; a session's end ends all its leases."""

    @property
    def partition(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def taken_at(self) -> float:
        """The coordinator's time of the takeover."""

    def holds(self) -> bool:
        """Whether it certainly holds now, by the worker's own clock, without asking anyone."""


class OrderBook(Protocol):
    """The operator's orders, and the record of changes."""

    def now(self) -> float:
        """Unix seconds: the coordinator's stamp plus own elapsed monotonic time. Never jumps."""

    def orders(self) -> Orders: ...

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        """Replace the standing orders by what ``change`` makes of them, as one step; the orders from then on.

        ``change`` may be called more than once, on another thread, and changes nothing else; what it raises is raised.
        """

    async def changes(self, before: int, limit: int) -> list[Change]:
        """The record of changes: at most ``limit`` with a number below ``before``, the newest first."""


class Coordinator(OrderBook, Protocol):
    """Who owns which partition, and what was ordered."""

    async def join(self) -> None:
        """Become a live member; again after a lost session."""

    def wanted(self) -> frozenset[int]:
        """The partitions that this worker should own now."""

    async def changed(self) -> None:
        """Return when wanted(), the orders or the validity of a lease may have changed."""

    async def acquire(self, partition: int, above: int) -> Lease | None:
        """Take a partition that nobody owns, with an epoch greater than ``above``; None while another holds it."""

    async def release(self, lease: Lease) -> None: ...

    async def leave(self) -> None:
        """Stop being a member; releases nothing that was not released."""

    async def close(self) -> None: ...

"""The coordinator of a data folder: a process that holds it has all partitions, or those of its place among several."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from gregor.schemas.messages import PartitionRecord, decode
from gregor.worker.adapters.embedded.crew import ProcessPlace
from gregor.worker.adapters.embedded.database import Database
from gregor.worker.adapters.embedded.folder import FolderError, connect_reading, connect_writable
from gregor.worker.adapters.embedded.queries import has_table, keep_time, read_time
from gregor.worker.adapters.embedded.schema import CHANGES
from gregor.worker.adapters.embedded.slices import damage_told
from gregor.worker.base.crawl_folder import DATABASE
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.errors import DiskFull, Unavailable
from gregor.worker.orders import codec as orders_codec
from gregor.worker.orders.model import NEWEST, Change, Orders, archived, continue_numbering

# How soon an order that another process gave is heard.
_LOOK_SECONDS: Final = 1.0
# How much of the coordinator's time a crash may take back when the wall clock went back as well.
_STAMP_SECONDS: Final = 60.0


class EmbeddedLease:
    """`Lease`: holds until it is released, or until the engine ends."""

    def __init__(self, database: Database, partition: int, epoch: int, taken_at: float) -> None:
        self.partition = partition
        self.epoch = epoch
        self.taken_at = taken_at
        self._database = database
        self._released = False

    def holds(self) -> bool:
        return not self._released and self._database.alive

    def end(self) -> None:
        """It never holds again."""
        self._released = True


class EmbeddedCoordinator:
    """`Coordinator`. `open` it."""

    def __init__(
        self,
        database: Database,
        partitions: int,
        clock: Clock,
        stamp: float,
        orders: Orders,
        place: ProcessPlace | None = None,
    ) -> None:
        self._database = database
        self._wanted = frozenset(number for number in range(partitions) if place is None or place.has(number))
        self._clock = clock
        self._origin = max(clock.wall(), stamp) - clock.monotonic() if place is None else place.origin
        self._orders = orders
        self._member = False
        self._leases: dict[int, EmbeddedLease] = {}
        self._change = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self.run_beside(self._look())

    @classmethod
    async def open(
        cls, database: Database, partitions: int, clock: Clock, place: ProcessPlace | None = None
    ) -> "EmbeddedCoordinator":
        """Go on where the last run stopped: time never goes back by more than a minute, whatever the wall clock did.

        Processes that have a ``place`` have the time of the one that began them.
        """
        stamp = database.read(read_time)
        coordinator = cls(database, partitions, clock, stamp, database.read(read_orders), place)
        await coordinator._keep_stamp()
        return coordinator

    def run_beside(self, loop: Coroutine[Any, Any, None]) -> None:
        """Run it until `close`. What ends it sooner is heard by whoever awaits `changed`."""
        task = asyncio.create_task(loop)
        task.add_done_callback(lambda _: self._change.set())
        self._loops.append(task)

    @property
    def origin(self) -> float:
        """The crawl's time less the monotonic one."""
        return self._origin

    def held(self) -> list[int]:
        """The partitions that are owned here now."""
        return [number for number in self._leases if self._held(number)]

    async def join(self) -> None:
        self._member = True
        self._change.set()

    def wanted(self) -> frozenset[int]:
        return self._wanted if self._member else frozenset()

    async def changed(self) -> None:
        """As the border says; raises what ended the watch over the orders, or another loop."""
        await self._change.wait()
        for loop in self._loops:
            if loop.done():
                loop.result()
        self._change.clear()

    async def acquire(self, partition: int, above: int) -> EmbeddedLease | None:
        if self._held(partition) or partition not in self._wanted:
            return None
        epoch = await self._database.write(lambda connection: _next_epoch(connection, partition, above))
        if self._held(partition):  # another call was first meanwhile; its epoch is lower, and nothing is lost by that
            return None
        lease = self._leases[partition] = EmbeddedLease(self._database, partition, epoch, self.now())
        return lease

    async def release(self, lease: Lease) -> None:
        held = self._leases.get(lease.partition)
        if held is lease:
            held.end()
            del self._leases[lease.partition]
            self._change.set()

    async def leave(self) -> None:
        self._member = False
        self._change.set()

    def now(self) -> float:
        return self._origin + self._clock.monotonic()

    def orders(self) -> Orders:
        return self._orders

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        self._orders = await self._database.write(lambda connection: _change_orders(connection, change))
        self._change.set()
        return self._orders

    async def changes(self, before: int, limit: int) -> list[Change]:
        return self._database.read(lambda connection: read_changes(connection, before, limit))

    async def close(self) -> None:
        """End all leases and keep the time."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.wait(self._loops)
        for lease in self._leases.values():
            lease.end()
        if self._database.alive:
            # Without it time goes back by a minute at most, and only if the wall clock did: no reason to fail a stop.
            with contextlib.suppress(DiskFull, Unavailable):
                await self._keep_stamp()

    def _held(self, partition: int) -> bool:
        lease = self._leases.get(partition)
        return lease is not None and lease.holds()

    async def _look(self) -> None:
        """Hear the orders of other processes, and keep the time."""
        last_version: int | None = None
        kept_at = self._clock.monotonic()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                if (version := self._database.read(_version)) != last_version:
                    await self._hear()
                    last_version = version
                if self._clock.monotonic() - kept_at >= _STAMP_SECONDS:
                    await self._keep_stamp()
                    kept_at = self._clock.monotonic()
            except Unavailable:  # another process was long in writing: the next look comes in a second
                continue

    async def _hear(self) -> None:
        orders = self._database.read(read_orders)
        if orders != self._orders:
            self._orders = orders
            self._change.set()

    async def _keep_stamp(self) -> None:
        now = self.now()
        await self._database.write(lambda connection: keep_time(connection, now))


class FolderBook:
    """`OrderBook` of a folder, whether a process crawls into it or not."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Its methods raise `FolderError`."""
        self._path = path
        self._clock = clock

    def now(self) -> float:
        return self._clock.wall()

    def orders(self) -> Orders:
        return standing_orders(self._path)

    async def change_orders(self, change: Callable[[Orders], Orders]) -> Orders:
        return await asyncio.to_thread(change_orders, self._path, change)

    async def changes(self, before: int, limit: int) -> list[Change]:
        return recorded_changes(self._path, before, limit)


def change_orders(path: Path, change: Callable[[Orders], Orders]) -> Orders:
    """Change the orders of a folder from outside, whether a crawl runs there or not; it hears them within seconds.

    Raises `FolderError` when there is no crawl or they cannot be written, and what ``change`` raises.
    """
    connect_reading(path)[0].close()
    try:
        with damage_told(path / DATABASE), contextlib.closing(connect_writable(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            orders = _change_orders(connection, change)
            connection.execute("COMMIT")
            return orders
    except sqlite3.Error as error:
        raise FolderError(f"the orders in {path} cannot be written: {error}") from None


def standing_orders(path: Path) -> Orders:
    """The orders of a folder. Raises `FolderError` when there is no crawl."""
    connection, _ = connect_reading(path)
    with damage_told(path / DATABASE), contextlib.closing(connection):
        return read_orders(connection)


def recorded_changes(path: Path, before: int, limit: int) -> list[Change]:
    """`Coordinator.changes` of a folder. Raises `FolderError` when there is no crawl."""
    connection, _ = connect_reading(path)
    with damage_told(path / DATABASE), contextlib.closing(connection):
        return read_changes(connection, before, limit)


def read_orders(connection: sqlite3.Connection) -> Orders:
    """The standing orders."""
    found = connection.execute("SELECT data FROM orders").fetchone()
    return orders_codec.read(found[0]) if found else Orders()


def read_changes(connection: sqlite3.Connection, before: int, limit: int) -> list[Change]:
    """The newest changes with a number below ``before``, the newest first."""
    changes = [change for change in reversed(read_orders(connection).changes) if change.number < before]
    while len(changes) < limit and has_table(connection, "changes"):
        oldest = changes[-1].number if changes else before
        row = connection.execute("SELECT data FROM changes WHERE first < ? ORDER BY first DESC", (oldest,)).fetchone()
        if row is None:
            break
        changes += [change for change in reversed(orders_codec.read_changes(row[0])) if change.number < oldest]
    return changes[:limit]


def _change_orders(connection: sqlite3.Connection, change: Callable[[Orders], Orders]) -> Orders:
    orders = read_orders(connection)
    if not orders.version:
        orders = continue_numbering(orders, read_changes(connection, NEWEST, 1))
    orders, older = archived(change(orders))
    if older:
        connection.execute(CHANGES)
        row = (older[0].number, orders_codec.encoded_changes(older))
        connection.execute("INSERT OR REPLACE INTO changes VALUES (?, ?)", row)
    connection.execute("INSERT OR REPLACE INTO orders VALUES (0, ?)", (orders_codec.encoded(orders),))
    return orders


def _version(connection: sqlite3.Connection) -> int:
    """A number that changes when another process has written."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def _next_epoch(connection: sqlite3.Connection, partition: int, above: int) -> int:
    """Count the partition's epoch up, beyond every one that was ever given or stored."""
    counted = connection.execute("SELECT epoch FROM epochs WHERE partition = ?", (partition,)).fetchone()
    stored = connection.execute("SELECT data FROM partitions WHERE partition = ?", (partition,)).fetchone()
    epoch = 1 + max(above, counted[0] if counted else 0, decode(stored[0], PartitionRecord).epoch if stored else 0)
    connection.execute("INSERT OR REPLACE INTO epochs VALUES (?, ?)", (partition, epoch))
    return epoch

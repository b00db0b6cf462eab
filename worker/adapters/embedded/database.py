"""The one connection that writes to SQLite, with group commit.

A commit is a flush to the disk, so all calls that came while the last one was being flushed share the next one. The
statements run on the event loop, for they are short or in pieces, and a thread that ran them would fight with the loop
for the interpreter at each of them; only the commit, which waits for the disk, runs in a thread. A call is
acknowledged after its commit.
"""

import asyncio
import errno
import sqlite3
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from gregor.worker.adapters.embedded.sharing import Flush, share
from gregor.worker.adapters.embedded.slices import is_broken
from gregor.worker.base.errors import why
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable

T = TypeVar("T")
DatabaseWork = Callable[[sqlite3.Connection], T]

# What SQLite answers when the disk, a quota or a limit of the file size is reached, and when another process writes.
_FULL: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_TRUNCATE}
)
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_BUSY_SECONDS: Final = 10.0
_BUSY_PAUSE: Final = 0.01
_SHARED_PAUSE: Final = 0.001
_READS: Final = 50
_FULL_ERRNO: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DatabaseClosed(RuntimeError):
    """The database was closed, or its writer died (the cause then says of what)."""


class _Call(NamedTuple, Generic[T]):
    work: DatabaseWork[T] | DatabaseWork[Coroutine[Any, Any, T]]
    future: asyncio.Future[T]


class Database:
    """SQLite behind futures. ``work`` may run more than once, and has no effect but in the tables."""

    def __init__(
        self, connection: sqlite3.Connection, looking: sqlite3.Connection, file: Path, *, shared: bool = False
    ) -> None:
        """``looking`` is a second connection to the same file. ``shared``: other processes write all the time."""
        connection.execute("PRAGMA busy_timeout=0")  # `_begin` waits instead: the loop must not
        self.shared = shared
        self._flush = Flush(file) if shared else None
        if shared:
            share(connection)
        self._pause = _SHARED_PAUSE if shared else _BUSY_PAUSE
        self._version: int | None = None
        self._connection = connection
        self._looking = looking
        self._file = file
        self._forget: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "gregor-sqlite")
        self._calls: list[_Call[Any]] = []
        self._writer: asyncio.Task[None] | None = None
        self._committing = False
        self._ended = False
        self._death: BaseException | None = None

    @property
    def alive(self) -> bool:
        return not self._ended

    def when_rolled_back(self, forget: Callable[[], None]) -> None:
        """Call ``forget`` whenever writes were rolled back, or another process wrote: for what ``work`` remembers of
        the tables."""
        self._forget.append(forget)

    def write(self, work: DatabaseWork[T]) -> asyncio.Future[T]:
        """Run ``work`` in a transaction; done when it is durable. Raises `DiskFull`, `Unavailable`, its own errors."""
        return self._called(_Call(work, self._loop.create_future()))

    def write_with_pauses(self, work: DatabaseWork[Coroutine[Any, Any, T]]) -> asyncio.Future[T]:
        """The same of work that would hold the event loop for long; whoever reads meanwhile sees nothing of it."""
        return self._called(_Call(work, self._loop.create_future()))

    def _called(self, call: _Call[T]) -> asyncio.Future[T]:
        if self._ended:
            raise self._closed()
        self._calls.append(call)
        if self._writer is None:
            self._writer = self._loop.create_task(self._write())
        return call.future

    def read(self, work: DatabaseWork[T]) -> T:
        """Run ``work`` at once on what is committed; it sees every write that was acknowledged.

        Raises `Unavailable`, `DiskFull`, its own errors.
        """
        if self._ended:
            raise self._closed()
        # The writer's connection still has in memory what it wrote; the other one is free while that is flushed.
        connection = self._looking if self._committing else self._connection
        try:
            for _ in range(_READS if self.shared else 0):
                try:
                    return work(connection)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF not in _BUSY:
                        raise
                time.sleep(_BUSY_PAUSE)  # a process was killed as it wrote: the one that reads first sets that right
            return work(connection)
        except sqlite3.Error as error:
            raise translated(error, self._file) from error

    async def close(self) -> None:
        """Finish what was called before, then end. May be repeated."""
        self._ended = True
        if self._writer is not None:
            await self._writer
        self._thread.shutdown()
        if self._flush is not None:
            self._flush.close()
        self._connection.close()
        self._looking.close()

    async def _write(self) -> None:
        """Commit batch after batch, until nothing is called. It never ends unnoticed."""
        calls: Sequence[_Call[Any]] = ()
        try:
            while self._calls:
                calls, self._calls = self._calls, []
                await self._commit(calls)
                await asyncio.sleep(0)  # who was just answered calls again, and is in the next batch
            self._writer = None
        except BaseException as error:  # noqa: BLE001 - every caller gets it
            self._death, self._ended = error, True
            _fail((*calls, *self._calls), self._closed())

    async def _commit(self, calls: Sequence[_Call[Any]]) -> None:
        """Run calls in one transaction; when one of them fails, each in its own, so that only that one fails."""
        try:
            await self._begin()
            self._committing = True
            results = [await self._worked(call) for call in calls]
            if self._flush is not None:  # others wait for the lock, not for the thread to be heard
                self._connection.execute("COMMIT")
                self._committing = False
                await self._loop.run_in_executor(self._thread, self._flush)
            else:
                await self._loop.run_in_executor(self._thread, self._connection.execute, "COMMIT")
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._roll_back()
            failure = translated(error, self._file)
            if len(calls) == 1 or isinstance(failure, DiskFull | Unavailable):
                _fail(calls, failure)
            else:
                for call in calls:
                    await self._commit([call])
        else:
            for call, result in zip(calls, results, strict=True):
                if not call.future.done():  # the caller was cancelled
                    call.future.set_result(result)
        finally:
            self._committing = False

    async def _worked(self, call: _Call[Any]) -> Any:
        result = call.work(self._connection)
        return await result if isinstance(result, Coroutine) else result

    async def _begin(self) -> None:
        """Take the write lock. Another process holds it for moments; SQLite cannot tell when it is free again."""
        deadline, pause = self._loop.time() + _BUSY_SECONDS, self._pause
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                if self.shared:
                    self._note_others()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _BUSY or self._loop.time() > deadline:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _BUSY_PAUSE)

    def _note_others(self) -> None:
        """Forget what is remembered of the tables, if another process has written since the last transaction."""
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._version = version
            for forget in self._forget:
                forget()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # a full disk makes SQLite roll back by itself
            self._connection.execute("ROLLBACK")
        for forget in self._forget:
            forget()

    def _closed(self) -> DatabaseClosed:
        closed = DatabaseClosed("the database is closed" if self._death is None else "the database's writer died")
        closed.__cause__ = self._death
        return closed


def _fail(calls: Sequence[_Call[Any]], error: Exception) -> None:
    for call in calls:
        if not call.future.done():  # the caller was cancelled
            call.future.set_exception(error)


def translated(error: Exception, file: Path) -> Exception:
    """What the borders promise for an error of SQLite or the system."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _FULL:
            return DiskFull(f"no space is left for the database: {error}")
        if code & 0xFF in _BUSY:
            return Unavailable("store", str(error))
        if is_broken(error):
            return Damaged("database", str(file), str(error))
    return full(error) if isinstance(error, OSError) else error


def full(error: OSError) -> OSError | DiskFull:
    """`DiskFull` when that is what the error means."""
    return DiskFull(f"no space is left: {why(error)}") if error.errno in _FULL_ERRNO else error

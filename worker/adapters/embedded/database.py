"""The one thread that writes to SQLite, with group commit.

A commit is a flush to the disk, so all calls that came meanwhile share the next one. A call is acknowledged after its
commit. The thread never ends unnoticed: what waits fails, and later calls raise.
"""

import asyncio
import errno
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from gregor.worker.borders import DiskFull, Unavailable

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

# What SQLite answers when the disk, a quota or a limit of the file size is reached, and when another process writes.
_FULL: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_TRUNCATE}
)
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL_ERRNO: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DatabaseClosed(RuntimeError):
    """The database was closed, or its thread died (the cause then says of what)."""


class _Call(NamedTuple, Generic[T]):
    work: Work[T]
    future: asyncio.Future[T]
    writes: bool


class _Answer(NamedTuple):
    future: asyncio.Future[Any]
    result: Any
    error: BaseException | None


class Database:
    """SQLite behind futures. ``work`` runs on the thread, maybe more than once, and has no effect but in the tables."""

    def __init__(self, connection: sqlite3.Connection, looking: sqlite3.Connection) -> None:
        """``looking`` is a second connection to the same file."""
        self._connection = connection
        self._looking = looking
        self._forget: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        self._calls: queue.SimpleQueue[_Call[Any] | None] = queue.SimpleQueue()
        self._ended = False
        self._death: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="gregor-sqlite", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        return not self._ended

    def when_rolled_back(self, forget: Callable[[], None]) -> None:
        """Call ``forget`` on the thread whenever writes were rolled back: for what ``work`` remembers of the tables."""
        self._forget.append(forget)

    def write(self, work: Work[T]) -> asyncio.Future[T]:
        """Run ``work`` in a transaction; done when it is durable. Raises `DiskFull`, `Unavailable`, its own errors."""
        return self._submit(work, writes=True)

    def read(self, work: Work[T]) -> asyncio.Future[T]:
        """Run ``work`` on what is committed; it sees every write that was acknowledged."""
        return self._submit(work, writes=False)

    def look(self, work: Work[T]) -> T:
        """Run ``work`` at once on what is committed; it sees every write that was acknowledged. Raises as `read`.

        For look-ups of a few entries, which a page waits for: in the thread they would wait for what is being flushed.
        """
        if self._ended:
            raise self._closed()
        try:
            return work(self._looking)
        except sqlite3.Error as error:
            raise _translate(error) from error

    async def close(self) -> None:
        """Finish what was called before, then end. May be repeated."""
        self._calls.put(None)
        await asyncio.to_thread(self._thread.join)
        self._looking.close()

    def _submit(self, work: Work[T], *, writes: bool) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self._loop.create_future()
        self._calls.put(_Call(work, future, writes))
        # Asked after the put: the thread says that it ended before it empties the queue, so no call is left behind.
        if self._ended:
            future.cancel()
            raise self._closed()
        return future

    def _closed(self) -> DatabaseClosed:
        closed = DatabaseClosed("the database is closed" if self._death is None else "the database thread died")
        closed.__cause__ = self._death
        return closed

    def _run(self) -> None:
        waiting: list[_Call[Any] | None] = []
        try:
            while None not in waiting:
                waiting = [self._calls.get()]
                waiting += [self._calls.get_nowait() for _ in range(self._calls.qsize())]
                self._serve([call for call in waiting if call is not None])
            waiting = []
        except BaseException as error:  # noqa: BLE001 - every caller gets it
            self._death = error
        finally:
            self._ended = True
            while not self._calls.empty():
                waiting.append(self._calls.get_nowait())
            self._connection.close()
            self._answer([_Answer(call.future, None, self._closed()) for call in waiting if call is not None])

    def _serve(self, batch: Sequence[_Call[Any]]) -> None:
        """Answer a batch. Reads come first: nobody was told yet that the writes beside them happened."""
        self._answer([self._read(call) for call in batch if not call.writes])
        self._answer(self._commit([call for call in batch if call.writes]))

    def _read(self, call: _Call[Any]) -> _Answer:
        try:
            return _Answer(call.future, call.work(self._connection), None)
        except Exception as error:  # noqa: BLE001 - the caller gets it
            return _Answer(call.future, None, _translate(error))

    def _commit(self, calls: Sequence[_Call[Any]]) -> list[_Answer]:
        """Run calls in one transaction; when one of them fails, each in its own, so that only that one fails."""
        if not calls:
            return []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            answers = [_Answer(call.future, call.work(self._connection), None) for call in calls]
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._roll_back()
            failure = _translate(error)
            if len(calls) == 1 or isinstance(failure, DiskFull | Unavailable):
                return [_Answer(call.future, None, failure) for call in calls]
            return [answer for call in calls for answer in self._commit([call])]
        return answers

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # a full disk makes SQLite roll back by itself
            self._connection.execute("ROLLBACK")
        for forget in self._forget:
            forget()

    def _answer(self, answers: Sequence[_Answer]) -> None:
        """Wake all callers of a batch with one call: waking the loop costs more than most statements."""
        if answers:
            self._loop.call_soon_threadsafe(_resolve, answers)


def _resolve(answers: Sequence[_Answer]) -> None:
    for future, result, error in answers:
        if future.done():  # the caller was cancelled
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def _translate(error: Exception) -> Exception:
    """What the borders promise for an error of SQLite or the system."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _FULL:
            return DiskFull(f"no space is left for the database: {error}")
        if code & 0xFF in _BUSY:
            return Unavailable("store", str(error))
    return full(error) if isinstance(error, OSError) else error


def full(error: OSError) -> OSError | DiskFull:
    """`DiskFull` when that is what the error means."""
    return DiskFull(f"no space is left: {error}") if error.errno in _FULL_ERRNO else error

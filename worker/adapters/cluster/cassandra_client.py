"""Cassandra behind asyncio: statements as futures, bounded in flight; what goes wrong for now is `Unavailable`.

The driver answers on a thread of its own. Answers are handed to the event loop in batches: one wake-up for all that
came since the last one. Every statement is idempotent: it carries its own timestamp, or its repetition changes nothing.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final, Self, TypeAlias, TypeVar

from cassandra import InvalidRequest
from cassandra.cluster import Cluster, Session
from cassandra.query import BatchStatement, BatchType, BoundStatement, PreparedStatement

from gregor.worker.adapters.cluster.cassandra_connect import make_cluster, translated, translation
from gregor.worker.adapters.cluster.closing import ended
from gregor.worker.adapters.cluster.coalesce import Coalesced
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers

T = TypeVar("T")
BoundValues: TypeAlias = Sequence[object]
ResultRows: TypeAlias = list[tuple[Any, ...]]
Statements: TypeAlias = Sequence[tuple[str, BoundValues]]
"""Statements that write, each with its values."""

_IN_FLIGHT: Final = 256
_TOGETHER: Final = 128
_FETCHED: Final = 1000
# Bytes and statements of a batch over several partitions: servers warn of more than 5 KiB or 10 partitions.
_SMALL: Final = 4096
_FEW: Final = 10
# Calls of `write_at_once` that go together, and how often at a time: a slow answer holds up those of its own round.
_CALLS: Final = 32
_ROUNDS: Final = 16


class Cassandra:
    """A session in the keyspace of a crawl. It belongs to one event loop. All but `close` may raise `Unavailable`."""

    def __init__(self, cluster: Cluster, session: Session, timeout: float) -> None:
        """``timeout``: the longest wait for one answer, in seconds."""
        self._cluster = cluster
        self._session = session
        self._timeout = timeout
        self._loop = asyncio.get_running_loop()
        self._prepared: dict[str, PreparedStatement] = {}
        self._preparing: dict[str, asyncio.Task[PreparedStatement]] = {}
        self._answers = _Answers(_IN_FLIGHT)
        self._changes: Coalesced[Statements, None] = Coalesced(self._write_all, _CALLS, _ROUNDS)

    @classmethod
    async def connect(cls, settings: Servers, keyspace: str, environ: Mapping[str, str]) -> Self:
        """Raises `Unavailable`, and `BadInput` for a keyspace, a name or a password that will not do."""
        cluster, session = await asyncio.to_thread(_connect, settings, keyspace, environ)
        return cls(cluster, session, settings.server_timeout)

    async def read(self, statement: str, values: BoundValues = ()) -> ResultRows:
        """All that a statement finds; for what is small."""
        return [found async for page in self.pages(statement, values) for found in page]

    async def find(self, statement: str, values: BoundValues) -> ResultRows:
        """The first 5,000 records at most: as `read`, and cheaper."""
        return (await self._execute([(await self._prepare(statement)).bind(values)]))[0]

    async def read_each(self, statement: str, many: Sequence[BoundValues]) -> list[ResultRows]:
        """What a statement finds for each of many values; at most 5,000 records of each."""
        prepared = await self._prepare(statement)
        return await self._execute([prepared.bind(values) for values in many])

    async def pages(self, statement: str, values: BoundValues = (), size: int = _FETCHED) -> AsyncIterator[ResultRows]:
        """All that a statement finds, at most ``size`` records at a time; nothing is read ahead."""
        bound = (await self._prepare(statement)).bind(values)
        bound.fetch_size = size
        asked = [await self._answers.expect()]
        response = self._session.execute_async(bound)
        response.add_callbacks(
            lambda records: self._answers.succeed(records, asked[0]), lambda error: self._answers.fail(error, asked[0])
        )
        while True:
            yield await self._within(asked[0])
            if not response.has_more_pages:
                return
            asked[0] = await self._answers.expect()
            response.start_fetching_next_page()

    async def write(self, statement: str, values: BoundValues) -> None:
        """Returns when a quorum has it."""
        await self.write_each(statement, [values])

    async def write_each(self, statement: str, many: Sequence[BoundValues]) -> None:
        """Write for each of many values, wherever they belong."""
        if many:
            prepared = await self._prepare(statement)
            await self._execute([prepared.bind(values) for values in many])

    async def write_at_once(self, changes: Statements) -> None:
        """Write wherever they belong; small ones share requests, also with those of other callers of this moment.

        Each may take effect alone, in any order. What fails, fails for all callers of the moment.
        """
        if changes:
            await self._changes.ask(changes)

    async def write_together(self, statement: str, many: Sequence[BoundValues]) -> None:
        """Write for each of many values that belong to one partition of the table, 128 a request."""
        prepared = await self._prepare(statement)
        bound = [prepared.bind(values) for values in many]
        await self._execute([_batch(bound[start : start + _TOGETHER]) for start in range(0, len(bound), _TOGETHER)])

    async def close(self) -> None:
        """What is in flight fails. May be repeated."""
        await ended("Cassandra", asyncio.to_thread(self._cluster.shutdown))

    async def _write_all(self, calls: Sequence[Statements]) -> list[None]:
        bound = [(await self._prepare(statement)).bind(values) for changes in calls for statement, values in changes]
        await self._execute([some[0] if len(some) == 1 else _batch(some) for some in _packed(bound)])
        return [None] * len(calls)

    async def _prepare(self, statement: str) -> PreparedStatement:
        prepared = self._prepared.get(statement)
        if prepared is None:
            if statement not in self._preparing:
                self._preparing[statement] = self._loop.create_task(self._prepare_once(statement))
            prepared = await asyncio.shield(self._preparing[statement])
        return prepared

    async def _prepare_once(self, statement: str) -> PreparedStatement:
        """The driver knows a statement by its last object, and weakly: of two, the one that it knows may be let go, and
        then no batch with the statement can be sent again to a node that has forgotten it."""
        try:
            prepared = self._prepared[statement] = await asyncio.to_thread(_prepare, self._session, statement)
        finally:
            del self._preparing[statement]
        return prepared

    async def _execute(self, statements: Sequence[BoundStatement | BatchStatement]) -> list[ResultRows]:
        asked = []
        for statement in statements:
            future = await self._answers.expect()
            response = self._session.execute_async(statement)
            response.add_callbacks(self._answers.succeed, self._answers.fail, (future,), errback_args=(future,))
            asked.append(future)
        if len(asked) == 1:
            return [await self._within(asked[0])]
        return await self._within(asyncio.gather(*asked))

    async def _within(self, answer: asyncio.Future[T]) -> T:
        # Cheaper than asyncio.timeout, and enough: whoever asked is told, and the answer, if one comes, goes nowhere.
        timer = self._loop.call_later(self._timeout, _give_up, answer, self._timeout)
        try:
            return await answer
        finally:
            timer.cancel()


class _Answers:
    """Takes answers from the driver's thread to the futures of the event loop; so many are awaited at most."""

    def __init__(self, bound: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(bound)
        self._come: deque[tuple[asyncio.Future[ResultRows], ResultRows, BaseException | None]] = deque()
        self._woken = False

    async def expect(self) -> asyncio.Future[ResultRows]:
        """The future of a statement that is executed next, when there is a slot for it."""
        await self._slots.acquire()
        return self._loop.create_future()

    def succeed(self, found: ResultRows | None, future: asyncio.Future[ResultRows]) -> None:
        """Called on any thread."""
        self._put(future, found or [], None)

    def fail(self, error: BaseException, future: asyncio.Future[ResultRows]) -> None:
        """Called on any thread."""
        self._put(future, [], error)

    def _put(self, future: asyncio.Future[ResultRows], found: ResultRows, error: BaseException | None) -> None:
        self._come.append((future, found, error))
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._woken = False  # before the first look: what comes from here on wakes the loop again
        while self._come:
            future, records, error = self._come.popleft()
            self._slots.release()
            if future.done():
                continue  # nobody waits for it any more
            if error is None:
                future.set_result(records)
            else:
                future.set_exception(translation(error))


def _connect(settings: Servers, keyspace: str, environ: Mapping[str, str]) -> tuple[Cluster, Session]:
    cluster = make_cluster(settings, environ)
    try:
        with translated():
            session = cluster.connect()
            session.set_keyspace(keyspace)
    except InvalidRequest:
        cluster.shutdown()
        raise BadInput(f"Cassandra has no keyspace {keyspace}: run `gregor init`") from None
    except BaseException:
        cluster.shutdown()
        raise
    return cluster, session


def _prepare(session: Session, statement: str) -> PreparedStatement:
    with translated():
        prepared = session.prepare(statement)
    prepared.is_idempotent = True
    return prepared


def _packed(bound: Sequence[BoundStatement]) -> Iterator[list[BoundStatement]]:
    """Statements in groups that are small and few enough for one batch; a large one is alone."""
    some: list[BoundStatement] = []
    size = 0
    for statement in bound:
        its_size = sum(len(value) for value in statement.values if isinstance(value, bytes))
        if its_size > _SMALL:
            yield [statement]
            continue
        if some and (size + its_size > _SMALL or len(some) == _FEW):
            yield some
            some, size = [], 0
        some.append(statement)
        size += its_size
    if some:
        yield some


def _batch(bound: Sequence[BoundStatement]) -> BatchStatement:
    batch = BatchStatement(BatchType.UNLOGGED)
    batch.add_all(bound, [None] * len(bound))
    batch.is_idempotent = True
    return batch


def _give_up(answer: "asyncio.Future[Any]", seconds: float) -> None:
    if not answer.done():
        answer.set_exception(Unavailable("Cassandra", f"no answer within {seconds:g} s"))

"""Where the frontier's topics start, end, and how far they are finished: questions to the brokers, one at a time.

They are asked by a consumer, which survives restarts of brokers; the admin client can abort the process on coordinator
operations, and stays with a stale leader epoch. It is not the one that reads: while another thread polls a consumer,
its answers come late or never.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaException, TopicPartition

from gregor.worker.adapters.cluster.kafka_client import ClientOptions, unavailable
from gregor.worker.adapters.cluster.kafka_producer import RecordSource
from gregor.worker.borders.errors import Unavailable

T = TypeVar("T")

_RETRY: Final = 0.1
# A question that went to a broker which died is not answered by the one that leads now: it is asked anew after this
# part of the time.
_SHARE: Final = 1 / 4
# Milliseconds for which an answer about leaders counts. That a partition has none, while a broker's partitions move, is
# such an answer too, and librdkafka asks no broker again before it is that old, by default 15 minutes.
_METADATA_AGE: Final = 3000


class Offsets:
    """Every method may raise `Unavailable`. Blocking calls run on a thread of their own."""

    def __init__(self, settings: ClientOptions, timeout: float) -> None:
        self._consumer = Consumer(settings | {"enable.auto.commit": False, "metadata.max.age.ms": _METADATA_AGE})
        self._timeout = timeout
        # A call that fails is asked again within the time; one that hangs is left behind.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="kafka-offsets")
        self._marks: dict[RecordSource, tuple[int, int]] = {}
        self._next: asyncio.Future[None] | None = None
        self._turn = asyncio.Lock()

    async def starts(self, sources: Iterable[RecordSource]) -> dict[RecordSource, int]:
        """The first readable offset of each."""
        return await self._ask(lambda: self._bounds(sources, OFFSET_BEGINNING))

    async def ends(self, sources: Iterable[RecordSource]) -> dict[RecordSource, int]:
        """The offset after the last record of each."""
        return await self._ask(lambda: self._bounds(sources, OFFSET_END))

    async def committed(self, sources: Iterable[RecordSource]) -> dict[RecordSource, int]:
        """The offset that was committed for each; 0 where none was."""
        return await self._ask(lambda: self._committed(sources))

    async def commit(self, marks: Mapping[RecordSource, int], epoch: int) -> None:
        """Commit offsets. What is asked for while a commit runs goes into one commit after it."""
        self._marks |= {source: (offset, epoch) for source, offset in marks.items()}
        if self._next is None:
            self._next = asyncio.ensure_future(self._commit_all())
            self._next.add_done_callback(_look_at_failure)
        await asyncio.shield(self._next)

    async def close(self) -> None:
        """Wait for the running question, and answer no further one."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._consumer.close)

    async def _commit_all(self) -> None:
        async with self._turn:
            self._next = None
            marks, self._marks = self._marks, {}
            wanted = [
                TopicPartition(*source, offset, metadata=f"epoch={epoch}") for source, (offset, epoch) in marks.items()
            ]
            await self._ask(lambda: _check(self._consumer.commit(offsets=wanted, asynchronous=False)))

    def _bounds(self, sources: Iterable[RecordSource], which: int) -> dict[RecordSource, int]:
        # A time stamp of -1 or -2 stands for the end or the start, and one request serves all partitions of a broker.
        wanted = [TopicPartition(*source, which) for source in sources]
        return _offsets(self._consumer.offsets_for_times(wanted, timeout=self._timeout * _SHARE))

    def _committed(self, sources: Iterable[RecordSource]) -> dict[RecordSource, int]:
        wanted = [TopicPartition(*source) for source in sources]
        found = _offsets(self._consumer.committed(wanted, timeout=self._timeout * _SHARE))
        return {source: max(0, offset) for source, offset in found.items()}

    async def _ask(self, question: Callable[[], T]) -> T:
        """Ask until it is answered: brokers that move leaders or coordinators refuse for a moment."""
        loop = asyncio.get_running_loop()
        detail = Unavailable("Kafka", f"no answer in {self._timeout:g} s")
        try:
            async with asyncio.timeout(self._timeout):
                while True:
                    try:
                        return await loop.run_in_executor(self._executor, question)
                    except KafkaException as error:
                        detail = unavailable(error)
                    await asyncio.sleep(_RETRY)
        except TimeoutError:
            raise detail from None


def _look_at_failure(commit: asyncio.Future[None]) -> None:
    """How a commit failed is told to those who wait for it; that none does any more is no fault."""
    if not commit.cancelled():
        commit.exception()


def _check(found: list[TopicPartition]) -> None:
    for each in found:
        if each.error is not None:
            raise KafkaException(each.error)


def _offsets(found: list[TopicPartition]) -> dict[RecordSource, int]:
    _check(found)
    return {(each.topic, each.partition): each.offset for each in found}

"""Records from Kafka: one consumer, whose assignment is what is read, a bounded prefetch for each partition."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec
from confluent_kafka import Consumer, KafkaError, TopicPartition

from gregor.worker.adapters.cluster.kafka_buffer import MOST, PartitionBuffer, Raw
from gregor.worker.adapters.cluster.kafka_client import ClientOptions, KafkaFailed, KafkaThread, unavailable
from gregor.worker.adapters.cluster.kafka_producer import RecordSource
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import RecordsLost

# Seconds: the longest that a read or a publication waits for the thread. Each round costs the worker some 50 µs.
_TICK: Final = 0.02
_BATCH: Final = 256
_FORGOTTEN: Final = 60.0
_OUTSIDE: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION, KafkaError.OFFSET_OUT_OF_RANGE})


class OutsideLog(Exception):
    """The offset is below the start of the log, or beyond its end."""


class _Ask(msgspec.Struct, eq=False):
    """A read that waits."""

    offset: int
    limit: int
    deadline: float
    future: asyncio.Future[list[Raw]]


class KafkaReader:
    """Reads from any offset of any partition. Its methods are for the event loop, except `poll`, `appended`, `close`.

    ``news(partition)`` is called on the event loop when something may have come for a partition of any topic.
    """

    def __init__(
        self, thread: KafkaThread, settings: ClientOptions, timeout: float, news: Callable[[int], None]
    ) -> None:
        self._thread = thread
        self._timeout = timeout
        self._news = news
        self._buffers: dict[RecordSource, PartitionBuffer] = {}
        self._asks: dict[RecordSource, list[_Ask]] = {}
        self._pending: set[asyncio.Future[list[Raw]]] = set()
        self._ends: dict[RecordSource, int] = {}
        # Where nothing is to be read, until the thread says otherwise: asking there again costs no round of it.
        self._empty: dict[RecordSource, int] = {}
        self._detail = "no answer"
        self._swept = time.monotonic()
        self._consumer = Consumer(
            settings
            | {
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                # A missing offset is an error: the consumer never jumps.
                "auto.offset.reset": "error",
                "fetch.message.max.bytes": 256 * 1024,
                "queued.min.messages": 2 * MOST,
                "queued.max.messages.kbytes": 16 * 1024,
                # A partition that is newly read waits for the answer to the request before.
                "fetch.wait.max.ms": 100,
                "fetch.queue.backoff.ms": 50,
                "fetch.error.backoff.ms": 100,
                "error_cb": self._failed,
            }
        )

    async def read(self, source: RecordSource, offset: int, limit: int) -> list[Raw]:
        """At most ``limit`` records from ``offset`` on, all that were there at the call included.

        Raises `OutsideLog`, `RecordsLost` when it ends before what it had acknowledged, `Unavailable`, `KafkaFailed`.
        """
        if self._empty.get(source) == offset:
            await asyncio.sleep(0)  # whoever asks again and again lets others run
            return []
        future: asyncio.Future[list[Raw]] = asyncio.get_running_loop().create_future()
        ask = _Ask(offset, limit, time.monotonic() + self._timeout, future)
        self._thread.call(lambda: self._ask(source, ask))
        self._pending.add(future)
        try:
            return await future
        finally:
            self._pending.discard(future)

    def fail(self, failure: KafkaFailed) -> None:
        """Nothing will be read any more."""
        for future in self._pending:
            if not future.done():
                future.set_exception(failure)

    def appended(self, ends: dict[RecordSource, int]) -> None:
        """Records below these offsets are there. On the Kafka thread."""
        for source, end in ends.items():
            self._ends[source] = max(end, self._ends.get(source, 0))
        # What is fetched anyway will be news when it comes.
        self._changed(set(ends), {partition for topic, partition in ends if (topic, partition) not in self._buffers})

    def poll(self) -> None:
        """Take what was fetched, and answer who waits. On the Kafka thread."""
        messages = self._consumer.consume(1, _TICK)
        if messages:
            messages += self._consumer.consume(_BATCH - 1, 0)
            self._take(messages)
        now = time.monotonic()
        if self._asks:
            self._answer(now)
        if now - self._swept > _FORGOTTEN:
            self._sweep(now)

    def close(self) -> None:
        """On the Kafka thread."""
        self._consumer.close()

    def _ask(self, source: RecordSource, ask: _Ask) -> None:
        buffer = self._buffers.get(source)
        if buffer is None or not buffer.move(ask.offset):
            buffer = self._assign(source, ask.offset)
        elif buffer.should_go_on():
            self._consumer.incremental_assign([TopicPartition(*source, buffer.position)])
            buffer.paused = False
        buffer.used = time.monotonic()
        self._asks.setdefault(source, []).append(ask)

    def _assign(self, source: RecordSource, offset: int) -> PartitionBuffer:
        self._drop(source)
        self._consumer.incremental_assign([TopicPartition(*source, offset)])
        tap = self._buffers[source] = PartitionBuffer(offset, time.monotonic())
        return tap

    def _drop(self, source: RecordSource) -> None:
        buffer = self._buffers.pop(source, None)
        if buffer is None:
            return
        self._changed({source}, set())
        if not buffer.paused:
            self._consumer.incremental_unassign([TopicPartition(*source)])

    def _take(self, messages: list[Any]) -> None:
        came: set[RecordSource] = set()
        for message in messages:
            source = message.topic(), message.partition()
            buffer = self._buffers.get(source)
            error = message.error()
            if error is not None:
                self._error(source, buffer, error, message.offset())
            elif buffer is not None and buffer.add(message.offset(), message.value() or b""):
                came.add(source)
                if buffer.should_pause():
                    # librdkafka's own pause takes almost a second to end; a new assignment takes 3 ms.
                    self._consumer.incremental_unassign([TopicPartition(*source)])
                    buffer.paused = True
        if came:
            self._changed(came, {partition for _, partition in came})

    def _error(self, source: RecordSource, buffer: PartitionBuffer | None, error: KafkaError, offset: int) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            if buffer is not None:
                buffer.reached_end(offset)
            return
        self._failed(error)
        if buffer is None:
            return
        # Whatever it is, a fresh assignment is the way out of it; who reads will hear of it.
        self._drop(source)
        self._changed({source}, {source[1]})
        outside = error.code() in _OUTSIDE
        for ask in self._asks.pop(source, []):
            self._refuse(ask, OutsideLog(error.str()) if outside else unavailable(error))

    def _failed(self, error: KafkaError) -> None:
        self._detail = f"{error.name()}: {error.str()}"

    def _answer(self, now: float) -> None:
        for source, asks in list(self._asks.items()):
            buffer, end = self._buffers.get(source), self._ends.get(source, 0)
            left = [ask for ask in asks if not self._answered(source, buffer, ask, end, now)]
            if left:
                self._asks[source] = left
            else:
                del self._asks[source]

    def _answered(self, source: RecordSource, buffer: PartitionBuffer | None, ask: _Ask, end: int, now: float) -> bool:
        records = None
        if buffer is not None and buffer.move(ask.offset):
            records = buffer.take(ask.limit, end)
            if records is None and now > ask.deadline:
                if buffer.ends_before(end):
                    del self._ends[source]
                    self._refuse(
                        ask, RecordsLost(f"{source[0]} {source[1]} ends before {end}, up to where Kafka had it")
                    )
                    return True
                records = buffer.rest(ask.limit) or None
        if records is not None:
            answer = records
            self._thread.tell(lambda: self._resolve(source, ask, answer))
        elif now > ask.deadline:
            self._drop(source)
            self._refuse(ask, Unavailable("Kafka", f"{source[0]} {source[1]}: {self._detail}"))
        else:
            return False
        return True

    def _refuse(self, ask: _Ask, error: Exception) -> None:
        self._thread.tell(lambda: None if ask.future.done() else ask.future.set_exception(error))

    def _sweep(self, now: float) -> None:
        """Let go of what nobody read for a while. Who still owns the partition hears of it and reads anew.

        So a partition that went to another owner is not fetched for ever, and a fetch that got stuck not trusted.
        """
        self._swept = now
        idle = [source for source, buffer in self._buffers.items() if now - buffer.used > _FORGOTTEN]
        for source in idle:
            self._drop(source)
        self._changed(set(idle), {partition for _, partition in idle})

    def _changed(self, sources: set[RecordSource], news: set[int]) -> None:
        """Tell the event loop that these are no longer known to be empty, and that there is news of partitions."""

        def tell() -> None:
            for source in sources:
                self._empty.pop(source, None)
            for partition in news:
                self._news(partition)

        self._thread.tell(tell)

    def _resolve(self, source: RecordSource, ask: _Ask, records: list[Raw]) -> None:
        if not records:
            self._empty[source] = ask.offset
        if not ask.future.done():
            ask.future.set_result(records)

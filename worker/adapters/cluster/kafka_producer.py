"""Messages to Kafka: durable when `Publisher.publish` returns, a bounded number in flight."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer

from gregor.worker.adapters.cluster.kafka_client import ClientOptions, KafkaFailed, KafkaThread, unavailable

RecordSource = tuple[str, int]
"""A partition of a topic."""

# Messages handed over and not yet acknowledged, over all publications: some 30 MB.
_MOST_IN_FLIGHT: Final = 50_000
_RETRY: Final = 0.05


class Message(NamedTuple):
    """What to append where."""

    topic: str
    partition: int
    key: bytes
    value: bytes


class _Batch:
    """The messages of one publication; counts its acknowledgements on the Kafka thread."""

    __slots__ = ("done", "ends", "error", "future", "left", "messages")

    def __init__(self, messages: Sequence[Message], done: Callable[["_Batch"], None]) -> None:
        self.messages = messages
        self.left = len(messages)
        self.error: KafkaError | None = None
        self.ends: dict[RecordSource, int] = {}
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done = done

    def delivered(self, error: KafkaError | None, message: Any) -> None:
        """The producer's report of one message."""
        if error is None:
            self.ends[message.topic(), message.partition()] = message.offset() + 1
        else:
            self.error = error
        self.left -= 1
        if not self.left:
            self.done(self)


class Publisher:
    """An idempotent producer. Its methods are for the event loop, except `poll` and `close`.

    ``appended(ends)`` is called on the thread, before a publication returns, with the offsets after its records.
    """

    def __init__(
        self,
        thread: KafkaThread,
        settings: ClientOptions,
        timeout: float,
        appended: Callable[[dict[RecordSource, int]], None],
    ) -> None:
        self._thread = thread
        self._settings = settings | {
            "enable.idempotence": True,
            "acks": "all",
            "partitioner": "murmur2_random",
            "linger.ms": 5,
            "compression.type": "lz4",
            "message.timeout.ms": int(timeout * 1000),
            "request.timeout.ms": int(timeout * 1000),
            "queue.buffering.max.messages": 2 * _MOST_IN_FLIGHT,
            "error_cb": self._failed,
        }
        self._appended = appended
        self._producer = Producer(self._settings)
        self._broken = False
        self._batches: set[_Batch] = set()
        self._in_flight = 0
        self._room = asyncio.Event()

    async def publish(self, messages: Sequence[Message]) -> None:
        """Append all; raises `Unavailable` when one of them may not be there, `KafkaFailed`."""
        if not messages:
            return
        while self._in_flight and self._in_flight + len(messages) > _MOST_IN_FLIGHT:
            self._room.clear()
            await self._room.wait()
        batch = _Batch(messages, self._done)
        self._thread.call(lambda: self._produce(batch))
        self._in_flight += len(messages)
        self._batches.add(batch)
        await batch.future

    def poll(self) -> None:
        """Take acknowledgements. On the Kafka thread."""
        self._producer.poll(0)
        if self._broken:
            # A fatal error of an idempotent producer: it never sends again. Its messages are reported as failed.
            self.close()
            self._producer = Producer(self._settings)
            self._broken = False

    def fail(self, failure: KafkaFailed) -> None:
        """Nothing in flight will be acknowledged. On the event loop."""
        for batch in list(self._batches):
            self._resolve(batch, failure)

    def close(self) -> None:
        """Give up what is in flight. On the Kafka thread."""
        self._producer.purge()
        self._producer.flush()

    def _produce(self, batch: _Batch) -> None:
        for message in batch.messages:
            while True:
                try:
                    self._producer.produce(
                        message.topic, message.value, message.key, message.partition, batch.delivered
                    )
                except BufferError:
                    # Large messages: the queue is full by bytes. Each of them leaves it at its time-out, at the latest.
                    self._producer.poll(_RETRY)
                    continue
                except KafkaException as error:
                    batch.delivered(error.args[0], None)
                break

    def _failed(self, error: KafkaError) -> None:
        self._broken = self._broken or error.fatal()

    def _done(self, batch: _Batch) -> None:
        self._appended(batch.ends)
        error = None if batch.error is None else unavailable(batch.error)
        self._thread.tell(lambda: self._resolve(batch, error))

    def _resolve(self, batch: _Batch, error: Exception | None) -> None:
        if batch not in self._batches:
            return
        self._batches.remove(batch)
        self._in_flight -= len(batch.messages)
        self._room.set()
        if batch.future.done():
            return
        if error is None:
            batch.future.set_result(None)
        else:
            batch.future.set_exception(error)

"""Deletes what lies below committed watermarks, now and then."""

import asyncio
from collections.abc import Mapping

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from gregor.worker.adapters.cluster.kafka_client import ClientOptions
from gregor.worker.adapters.cluster.kafka_producer import RecordSource
from gregor.worker.observe.logging import logs

_log = logs("kafka")


class Trimmer:
    """Frees the space of finished records; what fails is tried again with the next round."""

    def __init__(self, settings: ClientOptions, timeout: float, interval: float) -> None:
        """``timeout`` of a round and ``interval`` between two, in seconds."""
        self._settings = settings
        self._timeout = timeout
        self._interval = interval
        self._marks: dict[RecordSource, int] = {}
        self._admin: AdminClient | None = None
        self._task = asyncio.create_task(self._run())

    def add(self, marks: Mapping[RecordSource, int]) -> None:
        """Records below these offsets are finished, and that is committed. Raises what ended the task, if any did."""
        if self._task.done():
            self._task.result()
        self._marks |= {source: offset for source, offset in marks.items() if offset > 0}

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            marks, self._marks = self._marks, {}
            if marks:
                self._marks = await self._delete(marks) | self._marks

    async def _delete(self, marks: Mapping[RecordSource, int]) -> dict[RecordSource, int]:
        """Delete; returns what is left to do."""
        self._admin = self._admin or AdminClient(self._settings)
        wanted = [TopicPartition(*source, offset) for source, offset in marks.items()]
        left = {}
        try:
            answers = self._admin.delete_records(wanted, request_timeout=self._timeout)
        except KafkaException as error:
            answers, left = {}, dict(marks)
            _log.debug("records below the watermark stay for now", error=str(error))
        for where, answer in answers.items():
            try:
                await asyncio.wrap_future(answer)
            except KafkaException as error:
                _log.debug("records below the watermark stay for now", topic=where.topic, error=str(error))
                left[where.topic, where.partition] = where.offset
        if left:
            # An admin client may hold on to a leader's old epoch for good.
            self._admin = None
        return left

"""The beginning of an ownership: what the last owner of a partition left, and what its log lost meanwhile."""

from collections.abc import Awaitable
from typing import Any, Final

import msgspec

from gregor.schemas.messages import PRIORITIES, DeadLetter, PartitionRecord
from gregor.schemas.parts import Takeover
from gregor.worker.borders.coordinator import Lease
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.services import Services
from gregor.worker.config.settings import Config
from gregor.worker.extract.drift import FieldShares
from gregor.worker.frontier.calendar import FAR_BUCKET, MOST_BUCKETS, Calendar
from gregor.worker.frontier.partition import Partition
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats

_LOG = logs("ownership")
KEPT_TAKEOVERS: Final = 16
"""So many of a partition are remembered: some hundred bytes of its record."""


class TakeOver:
    """Takes partitions over for one worker, each under its lease."""

    def __init__(self, config: Config, services: Services, stats: Stats, name: str) -> None:
        """``name``: the worker's."""
        self._config = config
        self._services = services
        self._stats = stats
        self._name = name

    async def take(self, lease: Lease, effects: Effects) -> tuple[Partition, PartitionRecord]:
        """The partition as its last owner left it, and its record, which names the new one. Raises `LeaseLost`."""
        number, log, store = lease.partition, self._services.log, self._services.store

        def effect(method: Any, *arguments: Any) -> Awaitable[Any]:
            return effects.run(lambda: method(*arguments))

        record = await effect(store.partition, number)
        committed, starts = await effect(log.committed, number), await effect(log.starts, number)
        ends = await effect(log.ends, number)
        # A watermark beyond the end is one of records that are gone: what lies below it now may be new.
        lost = [p for p in PRIORITIES if committed[p] > ends[p]]
        begin = {p: starts[p] if p in lost else max(committed[p], starts[p]) for p in PRIORITIES}
        buckets = await effect(store.buckets, number, record.cursor + 1, FAR_BUCKET, MOST_BUCKETS)
        calendar = Calendar(record.cursor, buckets, self._config.bucket_width, self._config.bucket_size)
        partition = Partition(lease, begin, ends, calendar)
        partition.fields, refused = FieldShares(record.fields), record.refused
        partition.refused = lambda: refused
        topic = record.topic
        partition.topic = lambda: topic
        takeover = Takeover(self._name, lease.epoch, lease.taken_at)
        takeovers = (*record.takeovers, takeover)[-KEPT_TAKEOVERS:]
        record = msgspec.structs.replace(record, partition=number, epoch=lease.epoch, takeovers=takeovers)
        await effect(store.put_partition, record, partition.stamp())
        for p in lost:
            partition.committed = {}  # what comes up to there must not be taken for finished
            where = f"priority {p} ends at offset {ends[p]}, but was finished up to {committed[p]}"
            await self.report_loss(lease, effects, where)
        return partition, record

    async def report_loss(self, lease: Lease, effects: Effects, what: str) -> None:
        """For people, where it stays until somebody has seen it: nobody knows which URLs were in what is gone."""
        services = self._services
        self._stats.losses += 1
        _LOG.error("the log lost records", partition=lease.partition, error=what)
        source, now = f"partition {lease.partition}", services.coordinator.now()
        letter = DeadLetter(key="", href="", host="", cause="lost", detail=what, at=now, source=source)
        await effects.run(lambda: services.store.put_dead_letter(letter))
        await effects.run(lambda: services.log.announce(letter))

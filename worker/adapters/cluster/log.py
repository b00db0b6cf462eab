"""The frontier log in Kafka: a topic for each priority, a partition of it for each partition of the crawl.

Assignment is manual: who may read is the coordinator's decision. Watermarks are the offsets of a consumer group
without members, so that every tool that shows the lag of a group shows the crawl's.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas import events, topics
from gregor.schemas.messages import PRIORITIES, Changed, DeadLetter, Page, Ticket, encode
from gregor.worker.adapters.cluster.closing import ended
from gregor.worker.adapters.cluster.frontier_record import read_record
from gregor.worker.adapters.cluster.kafka_client import KafkaFailed, KafkaThread, client_settings
from gregor.worker.adapters.cluster.kafka_offsets import Offsets
from gregor.worker.adapters.cluster.kafka_producer import Message, Publisher, RecordSource
from gregor.worker.adapters.cluster.kafka_reader import KafkaReader, OutsideLog
from gregor.worker.adapters.cluster.kafka_trim import Trimmer
from gregor.worker.borders.errors import Unavailable
from gregor.worker.borders.log import FrontierRecord, RecordsLost, Vanished
from gregor.worker.config.servers import Servers
from gregor.worker.observe.logging import logs

_log = logs("kafka")
_TRIM_INTERVAL: Final = 10.0
_ATTEMPTS: Final = 3


class KafkaLog:
    """`FrontierLog`. Every method may raise `KafkaFailed` too, when its thread has ended.

    ``publisher`` is for the topics of events and of dead letters.
    """

    def __init__(self, servers: Servers, crawl: str, partitions: int, *, trim_interval: float = _TRIM_INTERVAL) -> None:
        """In a running event loop; the topics must exist. ``trim_interval``: seconds between two deletions.

        Raises BadInput when a secret cannot be had.
        """
        settings = client_settings(servers, os.environ) | {"group.id": topics.group(crawl)}
        plain = {name: value for name, value in settings.items() if name != "group.id"}
        timeout = servers.server_timeout
        self._crawl = crawl
        self._partitions = partitions
        self._topics = {priority: topics.frontier(crawl, priority) for priority in PRIORITIES}
        self._names = frozenset(self._topics.values())
        self._listeners: list[Callable[[int], None]] = []
        self._epochs: dict[int, int] = {}
        self._thread = KafkaThread()
        self._reader = KafkaReader(self._thread, settings, timeout, self._news)
        self.publisher = Publisher(self._thread, plain, timeout, self._appended)
        self._offsets = Offsets(settings, timeout)
        self._trimmer = Trimmer(plain, timeout, trim_interval)
        self._thread.start(self._poll, self._close, self._ended)

    async def publish(self, tickets: Sequence[Ticket]) -> None:
        await self.publisher.publish(
            [
                Message(
                    self._topics[ticket.priority],
                    partition_of(ticket.host, self._partitions),
                    ticket.host.encode(),
                    encode(ticket),
                )
                for ticket in tickets
            ]
        )

    async def announce(self, news: Page | DeadLetter | Vanished | Changed) -> None:
        crawl = self._crawl
        announced: list[tuple[str, msgspec.Struct]] = []
        if isinstance(news, DeadLetter):
            host = news.host
            announced.append((topics.dead(crawl), events.of_dead_letter(crawl, news)))
        elif isinstance(news, Changed):
            host = news.host
            announced.append((topics.events(crawl), events.of_change(crawl, news)))
        else:
            page = news if isinstance(news, Page) else news.page
            host = page.host
            if page is news:
                announced.append((topics.events(crawl), events.of_page(crawl, page)))
            else:
                gone = Changed(page.key, page.href, host, page.visit, "gone", page.fetched_at, page.requisite)
                announced.append((topics.events(crawl), events.of_change(crawl, gone)))
            announced += [(topics.items(crawl), event) for event in events.of_items(crawl, page)]
        partition, key = partition_of(host, self._partitions), host.encode()
        await self.publisher.publish(
            [Message(topic, partition, key, msgspec.json.encode(event)) for topic, event in announced]
        )

    async def read(self, partition: int, priority: int, offset: int, limit: int) -> list[FrontierRecord]:
        """As the border says. Raises `RecordsLost` when the offset is beyond the end of the topic.

        From an offset below the start of the topic it reads on at the start: records are deleted below a committed
        watermark only. It says so in the log all the same.
        """
        source = self._topics[priority], partition
        for _ in range(_ATTEMPTS):
            try:
                records = await self._reader.read(source, offset, limit)
                return [read_record(raw, partition, self._partitions) for raw in records]
            except OutsideLog as error:
                offset = await self._inside(source, offset, str(error))
        raise Unavailable("Kafka", f"{source[0]} {partition} can't be read from offset {offset}")

    async def starts(self, partition: int) -> dict[int, int]:
        return self._by_priority(await self._offsets.starts(self._sources(partition)))

    async def ends(self, partition: int) -> dict[int, int]:
        return self._by_priority(await self._offsets.ends(self._sources(partition)))

    async def committed(self, partition: int) -> dict[int, int]:
        return self._by_priority(await self._offsets.committed(self._sources(partition)))

    async def lag(self) -> dict[int, int]:
        """Records that are not finished, by partition; all are asked for in one request to each broker."""
        sources = [(topic, partition) for topic in self._topics.values() for partition in range(self._partitions)]
        ends, committed = await self._offsets.ends(sources), await self._offsets.committed(sources)
        unfinished = dict.fromkeys(range(self._partitions), 0)
        for (topic, partition), end in ends.items():
            unfinished[partition] += max(0, end - committed[topic, partition])
        return unfinished

    async def commit(self, partition: int, watermarks: Mapping[int, int], epoch: int) -> None:
        """As the border says. A commit under an older epoch than one that this object has seen changes nothing."""
        if not watermarks or epoch < self._epochs.get(partition, epoch):
            return
        self._epochs[partition] = epoch
        marks = {(self._topics[priority], partition): watermark for priority, watermark in watermarks.items()}
        await self._offsets.commit(marks, epoch)
        self._trimmer.add(marks)

    def on_news(self, call: Callable[[int], None]) -> None:
        self._listeners.append(call)

    async def close(self) -> None:
        """End what runs; what was not acknowledged may be there or not. May be repeated."""
        for part in (self._trimmer, self._offsets, self._thread):
            await ended("Kafka", part.close())

    def _poll(self) -> None:
        self.publisher.poll()
        self._reader.poll()

    def _close(self) -> None:
        self.publisher.close()
        self._reader.close()

    def _ended(self, failure: KafkaFailed) -> None:
        self.publisher.fail(failure)
        self._reader.fail(failure)

    def _news(self, partition: int) -> None:
        for call in self._listeners:
            call(partition)

    def _appended(self, ends: dict[RecordSource, int]) -> None:
        """Records of any topic were acknowledged; of these, some are read here."""
        self._reader.appended({source: end for source, end in ends.items() if source[0] in self._names})

    async def _inside(self, source: RecordSource, offset: int, error: str) -> int:
        """Where reading goes on when an offset is not in the log."""
        start, end = (await self._offsets.starts([source]))[source], (await self._offsets.ends([source]))[source]
        if offset > end:
            raise RecordsLost(f"{source[0]} {source[1]} ends at {end}, but was read up to {offset}: Kafka lost records")
        _log.warning(
            "offset is not in Kafka's log; going on from its start",
            topic=source[0],
            partition=source[1],
            offset=offset,
            start=start,
            error=error,
        )
        return max(offset, start)

    def _sources(self, partition: int) -> list[RecordSource]:
        return [(topic, partition) for topic in self._topics.values()]

    def _by_priority(self, found: Mapping[RecordSource, int]) -> dict[int, int]:
        offsets = {topic: offset for (topic, _), offset in found.items()}
        return {priority: offsets[topic] for priority, topic in self._topics.items()}

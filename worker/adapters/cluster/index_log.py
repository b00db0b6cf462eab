"""What workers of an index read and tell in Kafka: the crawl's events, and the posts of a topic of their own.

The group's offsets are what is taken in and acknowledged: any tool that shows the lag of a group shows that of the
index behind the crawl. Assignment is manual: who reads a partition is decided by leases.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from gregor.partitioner.hashing import partition_of
from gregor.schemas import topics
from gregor.worker.adapters.cluster.closing import ended
from gregor.worker.adapters.cluster.kafka_client import KafkaFailed, KafkaThread, client_settings
from gregor.worker.adapters.cluster.kafka_offsets import Offsets
from gregor.worker.adapters.cluster.kafka_producer import Message, Publisher, RecordSource
from gregor.worker.adapters.cluster.kafka_reader import KafkaReader, OutsideLog
from gregor.worker.borders.shelf import Post, UrlToIndex
from gregor.worker.config.servers import Servers
from gregor.worker.observe.logging import logs

_log = logs("index")


class _Event(msgspec.Struct):
    """What counts of an event here."""

    key: str
    visit: int = 0
    change: str = ""
    requisite: bool = False
    fetched_at: str = ""
    at: str = ""


_EVENT: Final = msgspec.json.Decoder(_Event)
_POST: Final = msgspec.msgpack.Decoder(Post)
_PACK: Final = msgspec.msgpack.Encoder()


class LogOffsets(NamedTuple):
    """Offsets of a partition in both topics."""

    events: int
    posts: int


class IndexLog:
    """Every method may raise `Unavailable`, `KafkaFailed`."""

    def __init__(self, servers: Servers, crawl: str, partitions: int) -> None:
        """In a running event loop; the topics must exist."""
        settings = client_settings(servers, os.environ) | {"group.id": topics.index_group(crawl)}
        plain = {name: value for name, value in settings.items() if name != "group.id"}
        self.has_lost = False
        """Whether something was to be read that the topics do not keep any more; whoever reads sets it back."""
        self._partitions = partitions
        self._events, self._index = topics.events(crawl), topics.index(crawl)
        self._thread = KafkaThread()
        self._reader = KafkaReader(self._thread, settings, servers.server_timeout, lambda partition: None)
        self._publisher = Publisher(self._thread, plain, servers.server_timeout, self._reader.appended)
        self._offsets = Offsets(settings, servers.server_timeout)
        self._thread.start(self._poll, self._close, self._ended)

    async def events(self, partition: int, offset: int, limit: int) -> tuple[list[UrlToIndex], int, str]:
        """What the crawl told from an offset on; where to go on; when the last was told (RFC 3339). What cannot be read
        is passed over."""
        records, after = await self._read((self._events, partition), offset, limit)
        notices, at = list[UrlToIndex](), ""
        for record_offset, data in records:
            try:
                event = _EVENT.decode(data)
            except msgspec.MsgspecError as error:
                _log.warning("an event cannot be read", partition=partition, offset=record_offset, why=str(error))
                continue
            notices.append(UrlToIndex(event.key, event.visit, event.change, event.requisite))
            at = event.fetched_at or event.at
        return notices, after, at

    async def posts(self, partition: int, offset: int, limit: int) -> tuple[list[tuple[int, Post]], int]:
        """What index workers told from an offset on, with the offsets; where to go on."""
        records, after = await self._read((self._index, partition), offset, limit)
        return [(record_offset, _POST.decode(data)) for record_offset, data in records], after

    async def post(self, posts: Sequence[Post], host_of: Mapping[str, str] | None = None) -> None:
        """Tell the owners: of the hosts' partitions what is to be looked at, of the contents' what is to be written."""
        messages = []
        for post in posts:
            name = post.write or (host_of or {}).get(post.look, post.look)
            messages.append(
                Message(self._index, partition_of(name, self._partitions), name.encode(), _PACK.encode(post))
            )
        await self._publisher.publish(messages)

    async def start(self, partition: int) -> LogOffsets:
        """Where an owner of a partition begins."""
        sources = self._sources([partition])
        starts, committed = await self._offsets.starts(sources), await self._offsets.committed(sources)
        if any(committed[source] < starts[source] for source in sources):
            self._lose(partition, max(starts.values()))
        return LogOffsets(*(max(starts[source], committed[source]) for source in sources))

    async def commit(self, partition: int, places: LogOffsets, epoch: int) -> None:
        """All before these places was acknowledged."""
        await self._offsets.commit(dict(zip(self._sources([partition]), places, strict=True)), epoch)

    async def ends(self) -> dict[RecordSource, int]:
        """Where both topics end."""
        return await self._offsets.ends(self._sources(range(self._partitions)))

    async def committed(self) -> dict[RecordSource, int]:
        """How far each partition of both topics was taken in."""
        return await self._offsets.committed(self._sources(range(self._partitions)))

    async def lag(self) -> dict[RecordSource, int]:
        """Records that are not taken in yet, of each partition of both topics."""
        ends, committed = await self.ends(), await self.committed()
        return {source: max(0, end - committed[source]) for source, end in ends.items()}

    def by_kind(self, lag: Mapping[RecordSource, int]) -> dict[str, int]:
        """The sums of the two topics."""
        names = {self._events: "events", self._index: "posts"}
        kinds = dict.fromkeys(names.values(), 0)
        for (topic, _), count in lag.items():
            kinds[names[topic]] += count
        return kinds

    async def close(self) -> None:
        """End what runs. May be repeated."""
        for part in (self._offsets, self._thread):
            await ended("Kafka", part.close())

    async def _read(self, source: RecordSource, offset: int, limit: int) -> tuple[list[tuple[int, bytes]], int]:
        try:
            records = await self._reader.read(source, offset, limit)
        except OutsideLog:
            start = (await self._offsets.starts([source]))[source]
            end = (await self._offsets.ends([source]))[source]
            begin = start if offset < start else end
            self._lose(source[1], begin)
            return [], begin
        return records, records[-1][0] + 1 if records else offset

    def _lose(self, partition: int, begin: int) -> None:
        self.has_lost = True
        _log.warning("what was told is kept no more: all that is stored is told anew", partition=partition, begin=begin)

    def _sources(self, partitions: Sequence[int]) -> list[RecordSource]:
        return [(topic, partition) for partition in partitions for topic in (self._events, self._index)]

    def _poll(self) -> None:
        self._publisher.poll()
        self._reader.poll()

    def _close(self) -> None:
        self._publisher.close()
        self._reader.close()

    def _ended(self, failure: KafkaFailed) -> None:
        self._publisher.fail(failure)
        self._reader.fail(failure)

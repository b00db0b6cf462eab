"""What a read of a partition waits for, and what it is told, over a consumer that says what a test says."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from gregor.worker.adapters.cluster import kafka_reader
from gregor.worker.adapters.cluster.kafka_buffer import Raw
from gregor.worker.adapters.cluster.kafka_reader import KafkaReader, OutsideLog
from gregor.worker.borders.log import RecordsLost

SOURCE = ("frontier", 3)


class Consumer:
    """Gives what was put into it; ``settings``: what it was made with."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.messages: list[Any] = []

    def consume(self, most: int, seconds: float) -> list[Any]:
        given, self.messages = self.messages[:most], self.messages[most:]
        return given

    def incremental_assign(self, partitions: list[Any]) -> None:
        """Whatever is put into it is of what is assigned."""

    def incremental_unassign(self, partitions: list[Any]) -> None:
        """As above."""


class Desk:
    """A reader whose thread is the event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, timeout: float = 60.0) -> None:
        def at_once(call: Callable[[], None]) -> None:
            call()

        monkeypatch.setattr(kafka_reader, "Consumer", Consumer)
        thread: Any = SimpleNamespace(call=at_once, tell=at_once)
        self.news: list[int] = []
        self.reader = KafkaReader(thread, {"enable.auto.commit": True}, timeout, self.news.append)
        self.consumer: Any = self.reader._consumer

    async def ask(self, offset: int) -> "asyncio.Task[list[Raw]]":
        task = asyncio.create_task(self.reader.read(SOURCE, offset, 100))
        await asyncio.sleep(0)
        return task

    async def come(self, *offsets: int, end: int | None = None, error: int | None = None) -> None:
        """Records of these offsets, and that the topic ends at ``end`` for now, or that something failed."""
        self.consumer.messages += [message(offset, None) for offset in offsets]
        if end is not None:
            self.consumer.messages.append(message(end, KafkaError._PARTITION_EOF))
        if error is not None:
            self.consumer.messages.append(message(0, error))
        self.reader.poll()
        await asyncio.sleep(0)


def message(offset: int, error: int | None) -> Any:
    return SimpleNamespace(
        topic=lambda: SOURCE[0],
        partition=lambda: SOURCE[1],
        offset=lambda: offset,
        value=lambda: b"%d" % offset,
        error=lambda: None if error is None else KafkaError(error),
    )


def test_a_read_has_all_that_was_acknowledged_in_whatever_order(monkeypatch: pytest.MonkeyPatch) -> None:
    async def case() -> None:
        desk = Desk(monkeypatch)
        for end in (4, 2):  # of two publications the later may be told first
            desk.reader.appended({SOURCE: end})
        read = await desk.ask(0)
        await desk.come(0, 1, end=2)
        assert not read.done()
        await desk.come(2, 3, end=4)
        assert [offset for offset, _ in await read] == [0, 1, 2, 3]

    asyncio.run(case())


def test_what_was_empty_is_asked_again_once_there_is_news(monkeypatch: pytest.MonkeyPatch) -> None:
    async def case() -> None:
        desk = Desk(monkeypatch)
        read = await desk.ask(0)
        await desk.come(end=0)
        assert await read == []
        assert await desk.reader.read(SOURCE, 0, 100) == [], "nothing is known to have come"
        desk.reader.appended({SOURCE: 1})
        again = await desk.ask(0)
        assert not again.done()
        await desk.come(0, end=1)
        assert await again == [(0, b"0")]
        assert SOURCE[1] in desk.news

    asyncio.run(case())


def test_a_log_that_ends_before_what_was_acknowledged_has_lost_records(monkeypatch: pytest.MonkeyPatch) -> None:
    async def case() -> None:
        desk = Desk(monkeypatch, timeout=-1.0)
        desk.reader.appended({SOURCE: 4})
        read = await desk.ask(0)
        await desk.come(0, end=1)
        with pytest.raises(RecordsLost, match="ends before 4"):
            await read

    asyncio.run(case())


def test_an_offset_that_is_not_there_is_an_error_and_never_jumped_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async def case() -> None:
        desk = Desk(monkeypatch)
        wanted = {"auto.offset.reset": "error", "enable.auto.commit": False, "enable.auto.offset.store": False}
        assert wanted.items() <= desk.consumer.settings.items()
        read = await desk.ask(7)
        await desk.come(error=KafkaError._AUTO_OFFSET_RESET)
        with pytest.raises(OutsideLog):
            await read

    asyncio.run(case())

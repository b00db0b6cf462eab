"""Who runs a crawl: its workers and who owns each partition, as the coordinator has it."""

from collections.abc import Iterable

from msgspec import Struct

from gregor.schemas.messages import PartitionRecord


class Worker(Struct, frozen=True):
    """A worker. ``at``: when it said so, unix seconds; ``pages`` and ``requests``: a second; ``api``: its API's URL."""

    name: str
    at: float
    partitions: int
    queued: int
    running: int
    pages: float
    requests: float
    limiting: str
    api: str = ""


class Owner(Struct, frozen=True):
    """A partition. Nobody owns it when ``owner`` is empty; ``since``: the last hand-over, unix seconds, 0: unknown."""

    partition: int
    owner: str = ""
    epoch: int = 0
    since: float = 0.0
    queued: int = 0


class HandOver(Struct, frozen=True):
    """A partition went from one worker (empty: none that is remembered) to another, at a time in unix seconds."""

    partition: int
    epoch: int
    at: float
    giver: str
    taker: str


class Members(Struct, frozen=True):
    """All of them, by name and number."""

    workers: list[Worker]
    partitions: list[Owner]


def hand_overs(record: PartitionRecord) -> Iterable[HandOver]:
    """Those of a partition that are remembered, the oldest first."""
    givers = ("", *(one.worker for one in record.takeovers))
    for giver, one in zip(givers, record.takeovers, strict=False):
        yield HandOver(record.partition, one.epoch, one.at, giver, one.worker)

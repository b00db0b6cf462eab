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


class WorkerStatus(Struct, frozen=True, kw_only=True):
    """What a worker says of itself, as JSON in an ephemeral node."""

    name: str
    at: float
    """The coordinator's time of it, unix seconds."""
    partitions: tuple[int, ...] = ()
    """Those that it owns."""
    queued: dict[int, int] = {}
    """Tickets in memory, by partition."""
    running: int = 0
    """Visits that run."""
    rates: dict[str, float] = {}
    """By name, per second."""
    limiting: str = ""
    """What limits its speed; "" before it knows."""
    api: str = ""
    """The URL of its API, as the others reach it; empty when it has none."""


class ClusterStatus(Struct, frozen=True):
    """How a crawl on servers stands; None is what the server that knows it does not tell."""

    workers: list[WorkerStatus] | None
    """Of all that live, by name."""
    owners: dict[int, tuple[str, int]] | None
    """Name and epoch of the owner, by partition; none for one that nobody owns."""
    lag: dict[int, int] | None
    """Records that are not finished, by partition."""
    counts: dict[str, int] | None
    """Those of the whole crawl, by the names of `frontier.counts`."""
    away: dict[str, str]
    """Why a service tells nothing, by its name."""

    def queued(self, partition: int) -> int:
        """How many tickets of a partition are in memory."""
        return sum(worker.queued.get(partition, 0) for worker in self.workers or ())


class FolderStatus(Struct, frozen=True):
    """How a crawl in a data folder stands."""

    counts: dict[str, int]
    """URLs by state, "pages", "pages_200" and "bytes"; "lag": how many records of the log are not finished."""


def hand_overs(record: PartitionRecord) -> Iterable[HandOver]:
    """Those of a partition that are remembered, the oldest first."""
    givers = ("", *(one.worker for one in record.takeovers))
    for giver, one in zip(givers, record.takeovers, strict=False):
        yield HandOver(record.partition, one.epoch, one.at, giver, one.worker)

"""What can go wrong at a call over a border, scripted: the n-th call of an operation, before or after its effect."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

Kind = Literal["die", "fail", "lost", "late", "slow", "pause", "jump", "cut", "forget", "start"]
When = Literal["before", "after"]
Way = Literal["both", "requests", "answers"]


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong at the ``n``-th call (from 1) of an operation, counted over all workers.

    die      the caller's process is killed
    fail     the call fails, without effect
    lost     the call takes effect, its answer is lost
    late     the call is reported as failed and takes effect ``seconds`` later
    slow     the call takes ``seconds``, and then succeeds
    pause    the caller's process is stopped for ``seconds``, then goes on
    jump     the caller's wall clock jumps by ``seconds``
    cut      the network between the caller and the service is cut for ``seconds``, one ``way`` or both
    forget   the seen set, and the turns of addresses with it, fails over and forgets what the last ``seconds`` brought
    start    another worker starts
    """

    kind: Kind
    service: str
    op: str
    n: int
    when: When = "before"
    seconds: float = 0.0
    way: Way = "both"
    worker: str = ""

    def __str__(self) -> str:
        seconds = f" {self.seconds:g} s" if self.seconds else ""
        way = f" ({self.way})" if self.kind == "cut" else ""
        return f"{self.kind}{seconds}{way} {self.when} {self.service}.{self.op} #{self.n}"


@dataclass
class Faults:
    """The faults of a run, each handed out once, and how often every operation was called."""

    planned: Iterable[Fault] = ()
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    happened: list[tuple[float, str, Fault]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._waiting = list(self.planned)

    def at(self, now: float, worker: str, service: str, op: str) -> Fault | None:
        """What goes wrong at this call, which is counted."""
        self.calls[service, op] += 1
        n = self.calls[service, op]
        for fault in self._waiting:
            if (fault.service, fault.op) == (service, op) and n >= fault.n and worker.startswith(fault.worker):
                self._waiting.remove(fault)
                self.happened.append((now, worker, fault))
                return fault
        return None


OPERATIONS: Final = {
    "log": ("publish", "read", "starts", "ends", "committed", "commit"),
    "seen": ("seen", "mark", "content", "claim"),
    "addresses": ("take", "release"),
    "store": (
        "rows",
        "put_rows",
        "page",
        "put_page",
        "near",
        "buckets",
        "read_bucket",
        "put_entries",
        "drop_bucket",
        "chunks",
        "backlogs",
        "read_chunk",
        "put_chunk",
        "drop_chunk",
        "waiting",
        "partition",
        "put_partition",
        "host",
        "put_host",
        "robots",
        "put_robots",
        "put_dead_letter",
        "add_seed_hosts",
    ),
    "coordinator": ("join", "ping", "acquire", "release", "leave", "close"),
    "web": ("fetch",),
    "dns": ("resolve",),
}
"""Every operation of every border, as the wires name them."""

_KINDS: Final[dict[str, tuple[Kind, ...]]] = {
    "log": ("die", "die", "fail", "lost", "late", "slow", "pause", "jump", "cut"),
    "addresses": ("die", "die", "fail", "lost", "late", "slow", "pause", "jump", "cut", "forget"),
    "seen": ("die", "die", "fail", "lost", "late", "slow", "pause", "jump", "cut", "forget"),
    "store": ("die", "die", "fail", "lost", "late", "slow", "pause", "jump", "cut"),
    "coordinator": ("die", "fail", "lost", "late", "slow", "pause", "jump", "cut", "start"),
    "web": ("die", "die", "pause", "jump"),
    "dns": ("die", "pause"),
}


def drawn(chance: Random, session_timeout: float) -> Fault:
    """A fault drawn at random, anywhere in a small crawl."""
    service = chance.choices(list(OPERATIONS), weights=(4, 3, 2, 8, 2, 3, 1))[0]
    kind = chance.choice(_KINDS[service])
    seconds = {
        "late": chance.choice((0.5, 5.0, 2 * session_timeout)),
        "slow": chance.choice((1.0, 1.5 * session_timeout)),
        "pause": chance.choice((1.0, session_timeout - 1.0, 1.5 * session_timeout, 5 * session_timeout)),
        "jump": chance.choice((3600.0, -3600.0)),
        "cut": chance.choice((2.0, 2 * session_timeout)),
        "forget": chance.choice((0.5, 5.0, 60.0)),
    }.get(kind, 0.0)
    return Fault(
        kind=kind,
        service=service,
        op=chance.choice(OPERATIONS[service]),
        n=min(int(chance.expovariate(1 / 12)) + 1, 80),
        when=chance.choice(("before", "after")),
        seconds=seconds,
        way=chance.choice(("both", "requests", "answers")),
    )

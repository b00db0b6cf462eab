"""What one visit is known by in the log, and how long its stages take where it is traced.

The visit that runs in a task is a context variable: whatever logs or ends a stage there finds it without being handed
it. A visit that is not traced takes no times: each mark is then one look at a variable.
"""

import random
import time
from contextvars import ContextVar, Token
from types import TracebackType
from typing import NamedTuple, Protocol

from gregor.worker.borders.transport import Response

_CURRENT: ContextVar["Visit | None"] = ContextVar("visit", default=None)
_IDS = random.Random()  # no decision hangs on it
_NANO = 1_000_000_000


class VisitStage(NamedTuple):
    """A part of a visit; nanoseconds since 1970."""

    name: str
    begun: int
    ended: int


class Tracer(Protocol):
    """Where traced visits go."""

    def wants(self) -> bool:
        """Whether the next visit is traced."""

    def keep(self, visit: "Visit") -> None:
        """A traced visit is over. Does not wait for anybody."""


class Visit:
    """One visit, while the block runs. ``trace``: 32 hexadecimal digits, made when somebody asks.

    ``stages`` is None where it is not traced; else ``facts`` are what became of it, once that is known.
    """

    __slots__ = ("_last", "_token", "_trace", "_tracer", "begun", "epoch", "facts", "host", "partition", "stages")

    def __init__(self, partition: int, epoch: int, host: str, tracer: Tracer | None, late: float = 0.0) -> None:
        """``late``: the seconds for which it waited for its turn to begin."""
        self.partition, self.epoch, self.host = partition, epoch, host
        self.stages: list[VisitStage] | None = None
        self._trace = ""
        self._tracer = tracer
        if tracer is not None and tracer.wants():
            self.facts: dict[str, str | int | float] = {}
            self._last = now = time.time_ns()
            self.begun = now - int(late * _NANO)
            self.stages = [VisitStage("queue", self.begun, now)]

    @property
    def trace(self) -> str:
        """The id by which log and trace are brought together."""
        if not self._trace:
            self._trace = f"{_IDS.getrandbits(128) or 1:032x}"
        return self._trace

    def __enter__(self) -> "Visit":
        self._token: Token[Visit | None] = _CURRENT.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _CURRENT.reset(self._token)
        if self.stages is not None and self._tracer is not None:
            if kind is not None:
                self.facts["error"] = kind.__name__
            self._tracer.keep(self)

    def ended(self, stage: str) -> None:
        """What ran since the last stage was this one."""
        if self.stages is not None:
            now = time.time_ns()
            self.stages.append(VisitStage(stage, self._last, now))
            self._last = now

    def exchanged(self, response: Response) -> None:
        """A request was answered just now; its stages come from the transport's own times."""
        if self.stages is None:
            return
        now = time.time_ns()
        parts = {"connect": response.connect, "tls": response.tls, "first_byte": response.latency}
        at = now - int(response.elapsed * _NANO)
        for name, seconds in parts.items():
            if seconds > 0.0:
                self.stages.append(VisitStage(name, at, end := min(now, at + int(seconds * _NANO))))
                at = end
        self.stages.append(VisitStage("body", at, now))
        self._last = now


def current() -> Visit | None:
    """The visit that runs in this task."""
    return _CURRENT.get()


def exchanged(response: Response) -> None:
    """A request of the visit that runs here was answered."""
    if (visit := _CURRENT.get()) is not None:
        visit.exchanged(response)


def ended(stage: str) -> None:
    """A stage of the visit that runs here is over."""
    if (visit := _CURRENT.get()) is not None and visit.stages is not None:
        visit.ended(stage)

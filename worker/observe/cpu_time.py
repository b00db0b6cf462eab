"""Where the processor time of a worker goes: the event loop's thread by stage, and all other threads together.

A stage is charged with every step that runs in it, never with what it waits for: the loop runs other tasks meanwhile.
"""

import time
from collections.abc import Coroutine, Generator, Mapping
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
STAGES: Final = ("admit", "fetch", "parse", "settle", "rest")
"""What the event loop is charged with. fetch: curl's part; rest: schedule, politeness, checkpoints, API."""


class CpuTime:
    """Seconds of the event loop's thread by stage. Used on that thread only."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(STAGES, 0.0)
        self._stage = "rest"  # so the start of the process counts there
        self._since = 0.0
        self.elsewhere: Mapping[str, float] = {}
        """What other processes of the crawl told of themselves, added up."""

    def switch(self, stage: str) -> str:
        """Charge another stage from now on; gives the one charged so far, for the way back."""
        now, before = time.thread_time(), self._stage
        self._seconds[before] += now - self._since
        self._since, self._stage = now, stage
        return before

    def seconds(self) -> dict[str, float]:
        """By stage; ``threads``: of all threads beside the loop's, which are the clients of the stores."""
        self.switch(self._stage)
        here = {**self._seconds, "threads": max(0.0, self.process() - time.thread_time())}
        return {stage: seconds + self.elsewhere.get(stage, 0.0) for stage, seconds in here.items()}

    def process(self) -> float:
        """Seconds of the whole process."""
        return time.process_time()

    def charge(self, stage: str, work: Coroutine[Any, Any, T]) -> "_Charged[T]":
        """The same work to be awaited, its steps charged to a stage."""
        return _Charged(self, stage, work)


class _Charged(Generic[T]):
    """Drives a coroutine step by step, as `await` would."""

    __slots__ = ("_cpu_time", "_stage", "_work")

    def __init__(self, cpu_time: CpuTime, stage: str, work: Coroutine[Any, Any, T]) -> None:
        self._cpu_time = cpu_time
        self._stage = stage
        self._work = work

    def __await__(self) -> Generator[Any, Any, T]:
        work, switch, stage = self._work, self._cpu_time.switch, self._stage
        thrown: BaseException | None = None
        while True:
            before = switch(stage)
            try:
                waits_for = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration as done:
                result: T = done.value
                return result
            finally:
                switch(before)
            try:
                yield waits_for
                thrown = None
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - cancelled, say: the work is told
                thrown = error

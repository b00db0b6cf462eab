"""Virtual time: an event loop whose clock jumps to the next timer, and processes on it, to be stopped and killed.

Every callback carries the context it was made in, and the context names the process it belongs to. So the loop can do
to a simulated process what an operating system does to a real one: stopped, none of its callbacks runs (its sockets
and timers go on without it) until it continues; killed, none ever runs again, not even a ``finally``.

Nothing here depends on real time, on addresses of objects or on threads: the same seed gives the same run.
"""

import asyncio
import heapq
from asyncio import Future
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from itertools import count
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

WALL_EPOCH = 1_750_000_000.0
"""The unix time of virtual second 0."""
ON_A_THREAD = 0.2
"""Seconds until what runs beside the loop is done."""


class Stuck(Exception):
    """Nothing is ready, no timer runs and the run has not ended: it would hang for ever."""


class Endless(Exception):
    """The run went on past the virtual time, or the number of callbacks, that it may take."""


class Process:
    """A simulated operating-system process. Only the loop runs what belongs to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.stopped = False
        self.buried = False
        self.frozen: list[asyncio.Handle] = []
        self.corpses: list[asyncio.Task[Any]] = []
        self.at_death: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<process {self.name}>"


PROCESS: ContextVar[Process | None] = ContextVar("PROCESS", default=None)
_number = count()


class VirtualTask(asyncio.Task[T]):
    """A task whose place in a set does not depend on its address."""

    def __init__(self, coro: Coroutine[Any, Any, T] | Generator[Any, None, T], **options: Any) -> None:
        self.number = next(_number)
        self.process = (options.get("context") or copy_context()).get(PROCESS)
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self.number


class VirtualFuture(asyncio.Future[T]):
    """A future whose place in a set does not depend on its address."""

    def __init__(self, *, loop: asyncio.AbstractEventLoop) -> None:
        self.number = next(_number)
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.number


class VirtualLoop(asyncio.AbstractEventLoop):
    """The part of an event loop that needs no operating system, on virtual seconds that start at 0."""

    def __init__(self, *, most_time: float = 1e6, most_callbacks: int = 2_000_000) -> None:
        self.errors: list[str] = []
        self._now = 0.0
        self._ready: deque[tuple[Process | None, asyncio.Handle]] = deque()
        self._timers: list[tuple[float, int, Process | None, asyncio.TimerHandle]] = []
        self._sequence = count()
        self._most_time = most_time
        self._callbacks_left = most_callbacks
        self._running = False
        self._closed = False

    # What production code calls.

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append((context.get(PROCESS), handle))
        return handle

    call_soon_threadsafe = call_soon  # there is one thread

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._sequence), context.get(PROCESS), handle))
        return handle

    def create_future(self) -> Future[Any]:
        return VirtualFuture(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T] | Generator[Any, None, T], **options: Any) -> asyncio.Task[T]:
        return VirtualTask(coro, loop=self, **options)

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> Future[T]:
        """What a thread does happens at one moment, a while later: others go on before it, and a process that died
        meanwhile has no threads either."""
        future: Future[T] = self.create_future()

        def run() -> None:
            if future.cancelled():
                return
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - it is raised where the thread is waited for
                future.set_exception(error)
            else:
                future.set_result(result)

        self.call_later(ON_A_THREAD, run)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")

    default_exception_handler = call_exception_handler

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    async def shutdown_asyncgens(self) -> None: ...

    def close(self) -> None:
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Asked for by `asyncio.TimerHandle.cancel`; a cancelled timer is skipped when its time comes."""

    # Running.

    def run_until_complete(self, future: Any) -> Any:
        """Run until the coroutine or future is done; raises `Stuck` or `Endless` when it cannot be."""
        asyncio.events._set_running_loop(self)
        self._running = True
        try:
            main: Future[Any] = asyncio.ensure_future(future, loop=self)
            while not main.done():
                self._step()
            return main.result()
        finally:
            self._running = False
            asyncio.events._set_running_loop(None)

    def _step(self) -> None:
        while self._timers and (self._timers[0][0] <= self._now or not self._ready):
            when, _, process, timer = heapq.heappop(self._timers)
            if timer.cancelled() or (process is not None and not process.alive and not process.buried):
                continue
            self._now = max(self._now, when)
            self._ready.append((process, timer))
        if not self._ready:
            raise Stuck(f"nothing left to wait for at {self._now:.3f} s")
        if self._now > self._most_time:
            raise Endless(f"still running after {self._most_time:.0f} virtual seconds")
        self._callbacks_left -= 1
        if self._callbacks_left < 0:
            raise Endless(f"too many callbacks, at {self._now:.3f} s")
        process, handle = self._ready.popleft()
        if handle.cancelled():
            return
        if process is not None and not process.buried and (process.stopped or not process.alive):
            process.frozen.append(handle)
            return
        handle._run()

    # What an operating system does.

    def stop_process(self, process: Process, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after some seconds."""
        process.stopped = True
        self.call_later(seconds, self._continue, process, context=Context())

    def _continue(self, process: Process) -> None:
        process.stopped = False
        self._ready.extend((process, handle) for handle in process.frozen)
        process.frozen.clear()

    def kill(self, process: Process) -> None:
        """SIGKILL: nothing of it runs again."""
        if not process.alive:
            return
        process.alive = False
        process.corpses = [task for task in asyncio.all_tasks(self) if getattr(task, "process", None) is process]
        process.corpses.sort(key=hash)
        for call in process.at_death:
            call()

    def bury(self, process: Process) -> None:
        """After the run: unwind what a killed process left, so that the interpreter need not. Its borders are dead."""
        process.buried = True
        self._ready.extend((process, handle) for handle in process.frozen)
        process.frozen.clear()
        for task in process.corpses:
            task.cancel()
        self._callbacks_left, self._most_time = 100_000, float("inf")

        async def unwound() -> None:
            for _ in range(1000):
                await asyncio.sleep(0)
                if all(task.done() for task in process.corpses):
                    break
            for task in process.corpses:
                if task.done() and not task.cancelled():
                    task.exception()

        self.run_until_complete(unwound())
        process.corpses.clear()


class VirtualClock:
    """One machine's clocks: the monotonic one counts from its own boot, the wall clock may jump."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, booted: float = 0.0) -> None:
        self._loop = loop
        self._booted = booted
        self._jumped = 0.0

    def monotonic(self) -> float:
        return self._loop.time() + self._booted

    def wall(self) -> float:
        return WALL_EPOCH + self._loop.time() + self._jumped

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back."""
        self._jumped += seconds

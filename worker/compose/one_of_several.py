"""A process that crawls a share of the partitions of a data folder, begun and told by another one (`processes.py`).

It ends with the one that began it, at once: by the end of the pipe, and where the kernel can do it by a signal.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import BinaryIO, Final

from gregor.worker.adapters.embedded.crew import Board, ProcessPlace
from gregor.worker.base.errors import BadInput, complain, speak
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.base.tasks import beside
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms
from gregor.worker.borders.counted_together import Beside
from gregor.worker.borders.errors import Damaged, DiskFull, Unavailable
from gregor.worker.compose.open_folder import OpenFolder, opened
from gregor.worker.compose.process import SystemClock, crawl_in_loop
from gregor.worker.compose.words import (
    Asked,
    Began,
    Begin,
    Broke,
    Ended,
    FromWorker,
    Granted,
    Stop,
    Tells,
    encoded,
    hear_parent,
)
from gregor.worker.compose.worker import worker_api
from gregor.worker.compose.worker_parts import WorkerParts
from gregor.worker.inspect import outlook, worker_state
from gregor.worker.observe import logging
from gregor.worker.observe.sums import run_sums_of, sums_of
from gregor.worker.run.runtime import Runtime
from gregor.worker.run.signals import stopping

_TELL: Final = 0.5
"""Seconds between two words of how it goes."""
_SELDOM: Final = 20
"""So many of them until one says all."""
_SEEDS: Final = 4
"""So many of them between two looks for new seeds."""
_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
_GONE: Final = 1


class PipedTurns:
    """`AddressTurns` that the process keeps which began this one."""

    def __init__(self, say: Callable[[FromWorker], None]) -> None:
        self._say = say
        self._numbers = count()
        self._asked: dict[int, asyncio.Future[AddressGrant | None]] = {}

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        """See `AddressTurns.take`."""
        grant = await self._ask(worker, uses, terms, release=False)
        assert grant is not None
        return grant

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        """See `AddressTurns.release`."""
        if uses:
            await self._ask(worker, uses, terms, release=True)

    def answer(self, word: Granted) -> None:
        """An answer came."""
        future = self._asked.pop(word.number)
        if not future.done():  # whoever asked was cancelled
            future.set_result(word.grant)

    async def _ask(
        self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms, *, release: bool
    ) -> AddressGrant | None:
        number = next(self._numbers)
        future: asyncio.Future[AddressGrant | None] = asyncio.get_running_loop().create_future()
        self._asked[number] = future
        self._say(Asked(number, release, worker, list(uses), terms))
        return await future


class OnBoard:
    """`CountedTogether` of a process that has a place."""

    def __init__(self, board: Board, place: ProcessPlace, stored: Callable[[], Mapping[str, int]]) -> None:
        self._board = board
        self._place = place
        self._visited = board.visited(place.number)  # by those that had the place before
        self.stored = stored

    def put(self, running: int, visited: int) -> Beside:
        """See `CountedTogether.put`."""
        beside = self._board.put(self._place.number, running, self._visited + visited)
        return Beside(beside.running, beside.visited + self._visited)


class _Worker:
    """This process's worker, and what it says."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._runtime: Runtime | None = None
        self._stop: str | None = None
        self.turns = PipedTurns(self.say)

    def say(self, word: FromWorker) -> None:
        """It waits while the pipe is full: then nobody hears."""
        self._out.write(encoded(word))
        self._out.flush()

    def stop(self, detail: str = "by a signal") -> None:
        """End cleanly, also before it has begun."""
        self._stop = detail
        if self._runtime is not None:
            self._runtime.stop(detail)

    async def crawl(self, begin: Begin, words: asyncio.StreamReader) -> None:
        """Crawl to the end. Raises what ends it otherwise."""
        config, place = begin.config, begin.place
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(beside(self._hear(words)))
            parts = WorkerParts(config, stack, complain, begin.authorized)
            engine = await opened(config, place=place, addresses=self.turns)
            stack.push_async_callback(engine.close)
            await parts.ranked(engine, stack)
            board = stack.enter_context(contextlib.closing(Board(place.board, place.of)))
            hosts = await engine.store.seed_hosts()
            runtime = parts.runtime(engine, hosts, OnBoard(board, place, engine.stored))

            def measure(hosts: list[str]) -> None:
                runtime.measure(parts.scope(hosts))

            serving = worker_api(config, engine, runtime, parts.clock, measure)
            api = await stack.enter_async_context(serving) if config.listen else ""
            await stack.enter_async_context(engine.housekeeping(runtime, api, measure))
            await stack.enter_async_context(self._keeping(runtime, engine, board, place, measure))
            self.say(Began(runtime.name, api))
            self._runtime = runtime
            if self._stop is not None:
                runtime.stop(self._stop)
            ending = await runtime.run()
            self._tell(runtime, seldom=True)
            self.say(Ended(ending))

    async def _hear(self, words: asyncio.StreamReader) -> None:
        while (word := await hear_parent(words)) is not None:
            if isinstance(word, Stop):
                self.stop(word.detail)
            elif isinstance(word, Granted):
                self.turns.answer(word)
        os._exit(_GONE)

    @asynccontextmanager
    async def _keeping(
        self,
        runtime: Runtime,
        engine: OpenFolder,
        board: Board,
        place: ProcessPlace,
        measure: Callable[[list[str]], None],
    ) -> AsyncIterator[None]:
        """Meanwhile tell how it goes, and hear of new seeds."""

        async def keep() -> None:
            hosts = len(await engine.store.seed_hosts())
            for number in count(1):
                await asyncio.sleep(_TELL)
                board.beat(place.number, runtime.stats.beat)
                self._tell(runtime, seldom=number % _SELDOM == 0)
                with contextlib.suppress(Unavailable):  # looked at again soon
                    seeded = await engine.store.seed_hosts() if number % _SEEDS == 0 else []
                    if len(seeded) > hosts:
                        measure(seeded)
                        hosts = len(seeded)

        async with beside(keep()) as keeping:
            keeping.add_done_callback(lambda task: None if task.cancelled() else runtime.stop("because it fell silent"))
            yield

    def _tell(self, runtime: Runtime, *, seldom: bool) -> None:
        worker_state.host_states(runtime, SystemClock.monotonic())
        if seldom:
            runtime.stats.slowest = outlook.slowest(runtime)
        queued = {number: owned.crawl.partition.size for number, owned in runtime.owned.items()}
        self.say(Tells(sums_of(runtime.stats), run_sums_of(runtime.stats) if seldom else None, queued))


async def _run(out: BinaryIO) -> int:
    """The exit code."""
    loop, words = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(words), sys.stdin.buffer)
    begin = await hear_parent(words)
    if not isinstance(begin, Begin):
        return _GONE
    config = begin.config
    speak(config.log_format)
    logging.configure(config.log_level, config.log_format, config.log_file)
    worker = _Worker(out)
    with stopping(worker.stop, lambda: None, _GONE):
        try:
            await worker.crawl(begin, words)
        except BadInput as error:
            worker.say(Broke(str(error), bad_input=True))
        except (DiskFull, LocalShortage, Damaged, sqlite3.Error) as error:
            worker.say(Broke(str(error), bad_input=False))
        except Unavailable as error:  # another process may find it there
            complain(str(error))
        else:
            return 0
    return _GONE


def _die_with(parent: int) -> None:
    """Be killed when the parent dies, where that can be asked for; end if it is dead already."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(_GONE)


def main() -> int:
    """Be told by standard input, answer by standard output; whatever else writes there writes to standard error."""
    _die_with(int(sys.argv[1]))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return crawl_in_loop(_run(out))


if __name__ == "__main__":
    sys.exit(main())

"""A crawl in one data folder by several processes: this one begins them, watches over them, and crawls nothing itself.

It holds the folder, publishes the seeds, shows how it goes, hears signals and orders for all, keeps whose turn each
address is, and begins another process where one has ended: only then, so that a partition has one owner.
"""

import asyncio
import os
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack, closing, suppress
from typing import Final

from gregor.worker.adapters.embedded.address_book import AddressBook
from gregor.worker.adapters.embedded.crew import Board, ProcessPlace, place_of
from gregor.worker.api import opening
from gregor.worker.base import children
from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.coordinator import listen
from gregor.worker.borders.members import Members, Owner, Worker
from gregor.worker.compose.member import Member, in_words
from gregor.worker.compose.open_folder import OpenFolder, opened
from gregor.worker.compose.process import SystemClock
from gregor.worker.compose.shares import number_of, part_of
from gregor.worker.compose.words import (
    Asked,
    Began,
    Begin,
    Ended,
    FromWorker,
    Granted,
    Stop,
    Tells,
    hear_worker,
)
from gregor.worker.compose.worker import Crawling, Finished, begin
from gregor.worker.compose.worker_parts import WorkerParts
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.observe.logging import logs
from gregor.worker.observe.stats import Stats
from gregor.worker.observe.sums import Sums
from gregor.worker.operate.seeds import Seed
from gregor.worker.run.ending import Ending, SpentBudget

_LOG = logs("processes")
_LOOK: Final = 1.0
"""Seconds between two looks at whether a process is well."""
_SILENT: Final = 30
"""So many looks without a beat, and it is killed: its loop stands still."""
_GRACE: Final = 20.0
"""Seconds that a process has for its stop beyond what running requests have."""
_OFTEN, _LIVED = 5, 60.0
"""A place whose processes ended so often, none after so many seconds, ends the crawl."""
_PAUSE: Final = 0.2


class Processes:
    """The processes of a crawl; see `Crawling`."""

    def __init__(self, config: Config, engine: OpenFolder, board: Board, authorized: Mapping[str, str]) -> None:
        self.stats = Stats()
        self._config = config
        self._engine = engine
        self._board = board
        self._authorized = dict(authorized)
        self._of = board.places
        self._part = part_of(config, self._of)
        self._members: dict[int, Member] = {}
        self._sums = Sums()
        self._addresses = AddressBook(SystemClock.monotonic)
        self._ending: Ending | None = None
        self._over = asyncio.Event()
        self._begun = 0

    def stop(self, detail: str = "by a signal") -> None:
        """See `Crawling.stop`."""
        self._end(Ending("stopped", detail))

    def gauge(self) -> None:
        """See `Crawling.gauge`."""
        self._sums.add_up(self.stats)
        self.stats.recounted(dict(self._engine.stored()))

    async def run(self) -> Ending:
        """Crawl to the end. Raises what ended it otherwise."""
        self.stats.started = SystemClock.monotonic()
        places = [asyncio.create_task(self._fill(number)) for number in range(self._of)]
        beside = [asyncio.create_task(listen(self._engine.coordinator))]  # which copies the log, too
        if self._config.max_time is not None:
            beside.append(asyncio.create_task(self._time(self._config.max_time)))
        left = {*places, *beside}
        try:
            while left.intersection(places):
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            await cancel([*places, *beside])
        self.gauge()
        self._sums.add_up_run(self.stats)
        assert self._ending is not None
        return self._ending

    async def members(self) -> Members:
        """Who crawls which partitions, for the API."""
        now, workers, owners = SystemClock().wall(), [], []
        for place, member in sorted(self._members.items()):
            share = [number for number in range(self._config.partitions) if place_of(number, self._of) == place]
            rates = member.meter.sample(SystemClock.monotonic(), member.stats)
            stats, queued = member.stats, sum(member.queued.values())
            workers.append(
                Worker(
                    member.name,
                    now,
                    len(share),
                    queued,
                    stats.running,
                    rates.pages,
                    rates.requests,
                    stats.limiting,
                    member.api,
                )
            )
            owners += [Owner(number, member.name, queued=member.queued.get(number, 0)) for number in share]
        return Members(workers, sorted(owners, key=lambda owner: owner.partition))

    def _end(self, ending: Ending) -> None:
        if self._ending is None:
            self._ending = ending
            self._over.set()

    async def _time(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._end(Ending.of_budget(SpentBudget("max_time", f"{seconds:g} seconds")))

    async def _fill(self, place: int) -> None:
        """Have a process at a place until the crawl ends. Raises what would end each of them."""
        short_lives = 0
        while self._ending is None:
            member = await self._begin(place)
            try:
                await self._attend(member)
            finally:
                code = await self._see_off(member)
            if member.failed is not None:
                raise (BadInput if member.failed.bad_input else LocalShortage)(member.failed.text)
            if member.ending is not None and member.ending.reason != "stopped":
                self._end(member.ending)
            if self._ending is not None:
                return
            short_lives = 0 if time.monotonic() - member.begun > _LIVED else short_lives + 1
            ended = f"process {place + 1} of {self._of} ended ({in_words(code)})"
            if short_lives >= _OFTEN:
                raise LocalShortage(f"{ended}, {short_lives} times one soon after another")
            complain(f"{ended}: another one goes on with its partitions")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _PAUSE * short_lives)

    async def _begin(self, place: int) -> Member:
        lock, board = self._engine.lock, self._board.descriptor
        process = await asyncio.create_subprocess_exec(
            *children.python("gregor.worker.compose.one_of_several", [str(os.getpid())]),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=children.environment(os.environ),
            pass_fds=(lock, board),
            start_new_session=True,  # Ctrl-C is for this process, which tells them
        )
        member = self._members[place] = Member(process, self._begun, place)
        self._begun += 1
        origin = self._engine.coordinator.origin
        member.say(Begin(self._part, ProcessPlace(place, self._of, origin, lock, board), self._authorized))
        _LOG.info("process begun", place=place, pid=process.pid)
        return member

    async def _attend(self, member: Member) -> None:
        """Hear a process to its end, and ask for that once the crawl is over."""
        over = asyncio.create_task(self._over.wait())
        hearing = asyncio.create_task(self._hear(member))
        relaying = asyncio.create_task(member.relay())
        watching = asyncio.create_task(self._watch(member))
        try:
            await asyncio.wait([over, hearing], return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done():
                await cancel([watching])
                member.say(Stop("" if self._ending is None else self._ending.detail))
                await asyncio.wait([hearing], timeout=self._config.stop_grace + _GRACE)
            if hearing.done():
                hearing.result()
                await asyncio.wait([relaying], timeout=_LOOK)
        finally:
            await cancel([over, hearing, relaying, watching])

    async def _see_off(self, member: Member) -> int:
        """Wait until a process has ended, whatever that takes; its exit code."""
        process = member.process
        if process.stdin is not None:
            process.stdin.close()
        try:
            code = await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE if member.ending else _PAUSE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            code = await process.wait()
        self._board.free(member.place)
        self._members.pop(member.place, None)
        for gate in member.gates:
            self._addresses.end(gate)
        self._sums.end(member.number)
        return code

    async def _watch(self, member: Member) -> None:
        """Kill a process whose loop stands still. Looks are counted, for a machine may be suspended."""
        last, silent = self._board.last_beat(member.place), 0
        while True:
            await asyncio.sleep(_LOOK)
            beat = self._board.last_beat(member.place)
            silent = silent + 1 if beat == last and member.name else 0
            last = beat
            if silent >= _SILENT:
                which = f"process {member.place + 1} of {self._of}"
                complain(f"{which} has stood still for {silent * _LOOK:g} s: it is killed")
                member.process.kill()
                return

    async def _hear(self, member: Member) -> None:
        pipe = member.process.stdout
        assert pipe is not None
        while (word := await hear_worker(pipe)) is not None:
            self._take(member, word)

    def _take(self, member: Member, word: FromWorker) -> None:
        """What a process says."""
        if isinstance(word, Asked):
            member.gates.add(word.worker)
            call = self._addresses.release if word.release else self._addresses.take
            member.say(Granted(word.number, call(word.worker, word.uses, word.terms)))
        elif isinstance(word, Tells):
            self._sums.tell(member.number, word.sums)
            member.queued = word.queued
            Sums.of(word.sums).add_up(member.stats)
            if word.of_run is not None:
                self._sums.tell_of_run(member.number, word.of_run)
        elif isinstance(word, Began):
            member.name, member.api = word.name, word.api
        elif isinstance(word, Ended):
            member.ending = word.ending
        else:
            member.failed = word


async def crawl(
    config: Config,
    seeds: Iterable[Seed],
    started: Callable[[Crawling], None],
    settings: Settings | None,
    tell: Callable[[str], None],
    authorized: Mapping[str, str] | None,
) -> Ending | Finished:
    """As `compose.worker.crawl`, by several processes."""
    async with AsyncExitStack() as stack:
        WorkerParts(config, stack, tell, authorized)  # what cannot be used is told here, once
        engine = await opened(config, shared=True)
        stack.push_async_callback(engine.close)
        if await begin(config, engine, seeds, settings, tell, stack) is None:
            return Finished()
        board = stack.enter_context(closing(Board.make(number_of(config))))
        config = opening.with_token(config)
        processes = Processes(config, engine, board, authorized or {})
        if config.listen:
            from gregor.worker.compose.console_of_several import serving_all

            await stack.enter_async_context(serving_all(config, engine, processes, tell))
        started(processes)
        return await processes.run()

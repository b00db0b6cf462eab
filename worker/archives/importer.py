"""A whole import: what lies where is noted, then all of it is taken in by date, many records at a time.

Those of one URL come one after another. A record that is damaged costs that record.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from gregor.worker.archives.book import AnswerRecord, RecordBook, entry_of
from gregor.worker.archives.files import WarcFile
from gregor.worker.archives.order import BookOrder, RecordPlace
from gregor.worker.archives.take_in import TAKEN, TakesIn
from gregor.worker.base.tasks import cancel
from gregor.worker.read.processors import ProcessorError

AT_ONCE: Final = 64
"""Records that are taken in at a time: they share the flushes of the store's disk."""
AT_ONCE_ON_SERVERS: Final = 256
"""The same on servers: they share requests, and each waits for several answers."""

_PATIENCE: Final = 5.0
"""Seconds in which what runs at a stop may come to its end; what waits for a server is made anew by the next import."""


class Imported(msgspec.Struct):
    """What came of it. ``records``: those that tell of an answer; ``taken_in``, ``left_out``: of them, by kind and by
    reason; ``damaged``: records that could not be read, of any type."""

    files: int = 0
    records: int = 0
    taken_in: Counter[str] = msgspec.field(default_factory=Counter)
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    damaged: int = 0
    stopped: bool = False

    @property
    def done(self) -> int:
        """Records that were looked at."""
        return self.taken_in.total() + self.left_out.total()


class Importer:
    """Takes files in. ``damaged`` hears of what cannot be read: file, offset, why; ``progress`` is called often."""

    def __init__(
        self,
        files: Sequence[WarcFile],
        damaged: Callable[[str, int, str], None],
        progress: Callable[[Imported], None],
        at_once: int = AT_ONCE,
    ) -> None:
        self._files = files
        self._damaged = damaged
        self._progress = progress
        self._at_once = at_once
        self._running: dict[asyncio.Task[None], AnswerRecord] = {}
        self._last: dict[str, asyncio.Task[None]] = {}
        self._ended: list[asyncio.Task[None]] = []
        self._order = BookOrder()
        self._woken = asyncio.Event()
        self.result = Imported(files=len(files))

    def stop(self) -> None:
        """End it: what runs is finished, unless it waits for a server, and the same import goes on from there."""
        self.result.stopped = True
        self._woken.set()

    async def note(self, book: RecordBook) -> None:
        """Note what lies where."""
        for number, file in enumerate(self._files):
            for record in file.records(partial(self._tell, number)):
                if self.result.stopped:
                    return
                try:
                    entry = entry_of(number, record.offset, record.fields)
                except ValueError as error:
                    self._tell(number, record.offset, str(error))
                    continue
                if entry is not None:
                    book.add(entry)
                    self.result.records = book.count
                    if book.count % AT_ONCE == 0:
                        self._progress(self.result)
                        await asyncio.sleep(0)  # a signal may have come
        book.finish()

    async def take_in(self, book: RecordBook, takes_in: TakesIn) -> None:
        """Take in what was noted. Raises what the store raises."""
        try:
            for entry in book.in_order():
                if self.result.stopped:
                    break
                earlier, place = self._last.get(entry.url), self._order.place()
                task = asyncio.create_task(self._take(takes_in, entry, earlier, place))
                task.add_done_callback(self._note_end)
                self._running[task], self._last[entry.url] = entry, task
                while len(self._running) >= self._at_once and not self.result.stopped:
                    await self._settled()
            while self._running and not self.result.stopped:
                await self._settled()
            if self._running:
                await asyncio.wait(self._running, timeout=_PATIENCE)
                self._settle_ended()
        finally:
            await cancel(list(self._running))

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._ended.append(task)
        self._woken.set()

    async def _settled(self) -> None:
        """Until some that run have come to an end, or a stop is asked for."""
        await self._woken.wait()
        self._woken.clear()
        self._settle_ended()

    def _settle_ended(self) -> None:
        ended, self._ended = self._ended, []
        for task in ended:
            entry = self._running.pop(task)
            if self._last.get(entry.url) is task:
                del self._last[entry.url]
            task.result()
        self._progress(self.result)

    async def _take(
        self, takes_in: TakesIn, entry: AnswerRecord, earlier: asyncio.Task[None] | None, place: RecordPlace
    ) -> None:
        try:
            if earlier is not None:
                await asyncio.wait([earlier])
            what = await takes_in.take(entry, place)
        except (ValueError, ProcessorError) as error:
            self._tell(entry.file, entry.offset, str(error))
            return
        finally:
            place.end()
        if what in TAKEN:
            self.result.taken_in[what] += 1
        else:
            self.result.left_out[what] += 1

    def _tell(self, file: int, offset: int, why: str) -> None:
        self.result.damaged += 1
        self._damaged(str(self._files[file].path), offset, why)

"""Puts together what indexes what happened in a crawl (URLs, hosts, orders, its log), and what searches that."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from gregor.schemas.messages import DeadLetter
from gregor.search.adapters import generations
from gregor.search.adapters.log_file import LogFile
from gregor.search.borders import TakenOver, Unusable
from gregor.search.documents import IndexedDocument
from gregor.search.recorder import Recorder, Records
from gregor.search.records import of_change, of_host, of_letter, of_line, of_row
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import first_of
from gregor.worker.borders.errors import TellDamage, Unavailable
from gregor.worker.borders.reader import WHOLE
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.record_indexes import LOGS, SCANNED, folder_of, made, searchable, writing
from gregor.worker.compose.records_optout import OptedOut, take_out, until_forgotten
from gregor.worker.config.settings import Config
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.tables import TABLES
from gregor.worker.observe.away import Away
from gregor.worker.observe.logging import logs
from gregor.worker.operate.dead_letters import dead as given_up_of
from gregor.worker.orders.model import NEWEST

_log = logs("index")
_KEPT: Final = "orders"
"""What stays of hosts that opted out: that this was ordered."""
_CHANGES: Final = 500
"""Of the record of orders that are read at once."""
_LOOK: Final = 0.5
"""Seconds between two looks for new lines."""
_LEAST_REST: Final = 5.0
_REST: Final = 20.0
"""Seconds between two times that all URLs are gone through, at least, and against how long that took."""


def _delete_others(folder: Path) -> None:
    """What was made by another version: it is taken in anew."""
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


class ImportCounts(msgspec.Struct):
    """What was taken in."""

    records: int = 0
    lines: int = 0


async def record(
    config: Config, files: Sequence[Path], stop: asyncio.Event, enough: asyncio.Event, on_damage: TellDamage
) -> ImportCounts:
    """Take in what happens, and the lines of these files, until ``stop``, or once all is taken in after ``enough``.

    URLs are gone through again and again, and rest in between for longer than that took, unless a host opts out. On
    servers the process that began last does so; others take in lines alone. Raises `BadInput`; `Unavailable` after
    ``enough`` alone.
    """
    if not config.on_one_machine and not config.opensearch:
        raise BadInput("on servers --records are kept in OpenSearch: say where it is with the setting opensearch")
    try:
        return await _record(config, files, stop, enough, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None


async def forgotten(config: Config, target: str, on_damage: TellDamage, wait: float) -> bool:
    """Whether these indexes, if there are any, have nothing of who opted out: a host or a domain.

    On one machine, if nobody takes in what happens, it is done here; else it is waited for, ``wait`` seconds at most.
    """
    names = [name for name in await asyncio.to_thread(made, config) if name != _KEPT]
    if not names:
        return True
    if config.on_one_machine:
        enough = asyncio.Event()
        enough.set()
        with suppress(generations.InUse):
            await _record(config, (), asyncio.Event(), enough, on_damage)
    indexes = {name: partial(searchable, config, name) for name in names}
    return await until_forgotten(indexes, target, wait, time.monotonic)


async def _record(
    config: Config, files: Sequence[Path], stop: asyncio.Event, enough: asyncio.Event, on_damage: TellDamage
) -> ImportCounts:
    folder, done = folder_of(config), ImportCounts()
    loop, away = asyncio.get_running_loop(), Away()
    async with AsyncExitStack() as stack:
        stack.enter_context(generations.writing(folder))
        _delete_others(folder)
        opted_out = await asyncio.to_thread(OptedOut, engine_of(config).orders)
        recorders = await _recorders(config, stack, on_damage, opted_out)
        shipping = _Shipping(stack.enter_context(writing(config, LOGS)), folder, files, opted_out)
        newly, due = opted_out.targets, loop.time()
        while not stop.is_set():
            last = enough.is_set()
            try:
                shipping.forget(newly)
                if last or newly or loop.time() >= due:
                    begun = loop.time()
                    done.records += sum([await recorder.scan() for recorder in recorders])
                    due = loop.time() + max(_LEAST_REST, _REST * (loop.time() - begun))
                    away.back("OpenSearch")
                while lines := shipping.step():
                    done.lines += lines
                    await asyncio.sleep(0)
                newly = await asyncio.to_thread(opted_out.look)
            except TakenOver:
                if not files:
                    raise
                _log.warning("another process goes through what is kept: here lines of the log are taken in alone")
                recorders.clear()
            except Unavailable as error:
                if last:
                    raise
                away.warn(error)
            if last:
                break
            await first_of((stop, enough), _LOOK)
    return done


async def _recorders(
    config: Config, stack: AsyncExitStack, on_damage: TellDamage, opted_out: OptedOut
) -> "list[Recorder[Any]]":
    engine, table = engine_of(config), TABLES["hosts"]
    reader, _ = await engine.read()
    reader.on_damage = on_damage
    stack.push_async_callback(reader.close)
    names = [column.name for column in table.columns]

    async def letters() -> AsyncIterator[DeadLetter]:
        async for given_up in given_up_of(reader, None):
            yield given_up.letter

    async def hosts() -> AsyncIterator[dict[str, Any]]:
        async for values in table.rows(reader, Selection(None), WHOLE):
            yield dict(zip(names, values, strict=True))

    async def orders() -> AsyncIterator[dict[str, Any]]:
        before: int = NEWEST
        while changes := await asyncio.to_thread(engine.changes, before, _CHANGES):
            for change in changes:
                yield msgspec.structs.asdict(change)
            before = changes[-1].number

    sources: tuple[tuple[Callable[[], AsyncIterator[Any]], Callable[[Any], IndexedDocument]], ...] = (
        (lambda: opted_out.without(reader.rows(None, None), lambda row: row.host), of_row),
        (lambda: opted_out.without(letters(), lambda letter: letter.host), of_letter),
        (lambda: opted_out.without(hosts(), lambda host: str(host["host"])), of_host),
        (orders, of_change),
    )
    return [
        Recorder(records, document_of, stack.enter_context(writing(config, name)))
        for name, (records, document_of) in zip(SCANNED, sources, strict=True)
    ]


class _Shipping:
    """Puts lines of files into an index: a commit, then how far each was read is kept."""

    def __init__(self, index: Records, folder: Path, files: Sequence[Path], opted_out: OptedOut) -> None:
        self._index = index
        self._left = 0  # lines that were read and are not kept yet: nothing more is read before they are
        self._opted_out = opted_out
        self._files = [LogFile(file, folder / f"{file.name}.place") for file in files]

    def forget(self, targets: Iterable[str]) -> None:
        """Take out the lines of hosts that opted out."""
        for target in targets:
            take_out(self._index, target)

    def step(self) -> int:
        """The next lines of each; how many there were."""
        if not self._left:
            lines = [line for file in self._files for line in file.lines()]
            documents = [document for place, line in lines if (document := of_line(line, place)) is not None]
            self._left = len(lines)
            self._index.put([document for document in documents if not self._opted_out.covers(document.host)])
        if count := self._left:
            self._index.commit(self._index.position() + 1)
            for file in self._files:
                file.keep()
            self._left = 0
            return count
        return 0

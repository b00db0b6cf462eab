"""Puts together what indexes what happened in a crawl (URLs, hosts, orders, its log), and what searches that."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gregor.schemas.messages import DeadLetter
from gregor.search.adapters import generations
from gregor.search.adapters.log_file import LogFile
from gregor.search.borders import Unusable
from gregor.search.documents import IndexedDocument
from gregor.search.recorder import Recorder
from gregor.search.records import of_change, of_host, of_letter, of_line, of_row
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import first_of
from gregor.worker.borders.errors import TellDamage
from gregor.worker.borders.reader import WHOLE
from gregor.worker.compose.engine import engine_of
from gregor.worker.compose.records_optout import OptedOut, take_out, until_forgotten
from gregor.worker.compose.search import index_folder
from gregor.worker.config.settings import Config
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.tables import TABLES
from gregor.worker.operate.dead_letters import dead as given_up_of
from gregor.worker.orders.model import NEWEST

if TYPE_CHECKING:
    from gregor.search.adapters.tantivy_index import TantivyIndex

_SCANNED: Final = ("events", "deadletters", "hosts", "orders")
NAMES: Final = (*_SCANNED, "logs")
_KEPT: Final = "orders"
"""What stays of hosts that opted out: that this was ordered."""
_FOLDER: Final = "records"
_FORMAT: Final = "4"
_CHANGES: Final = 500
"""Of the record of orders that are read at once."""
_HEAP: Final = 16 * 1024 * 1024
_LOOK: Final = 0.5
"""Seconds between two looks for new lines."""
_LEAST_REST: Final = 5.0
_REST: Final = 20.0
"""Seconds between two times that all URLs are gone through, at least, and against how long that took."""


@contextmanager
def _opened(folder: Path) -> "Iterator[TantivyIndex]":
    from gregor.search.adapters.tantivy_index import TantivyIndex

    index = TantivyIndex(folder, writable=True, heap=_HEAP)
    try:
        yield index
    finally:
        index.close()


def _delete_others(folder: Path) -> None:
    """What was made by another version: it is taken in anew."""
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


class ImportCounts(msgspec.Struct):
    """What was taken in."""

    records: int = 0
    lines: int = 0


def folder_of(config: Config) -> Path:
    """Where these indexes are."""
    return index_folder(config) / _FOLDER / _FORMAT


def searchable(config: Config, name: str) -> "TantivyIndex":
    """One of them, as it was committed last. Raises `Unusable`."""
    from gregor.search.adapters.tantivy_index import TantivyIndex

    folder = folder_of(config) / name
    if not folder.is_dir():
        raise Unusable(f"{index_folder(config)} has no {name}: `gregor index --records` takes them in")
    return TantivyIndex(folder)


def latest(config: Config) -> dict[str, "Callable[[], TantivyIndex]"]:
    """What gives each of them as it was committed last, by its name; nothing where there cannot be any."""
    if not config.on_one_machine:
        return {}
    return {name: lambda name=name: searchable(config, name) for name in NAMES}  # type: ignore[misc]


async def record(
    config: Config, files: Sequence[Path], stop: asyncio.Event, enough: asyncio.Event, on_damage: TellDamage
) -> ImportCounts:
    """Take in what happens, and the lines of these files, until ``stop``, or once all is taken in after ``enough``.

    URLs are gone through again and again, and rest in between for longer than that took, unless a host opts out.
    Raises `BadInput`.
    """
    if not config.on_one_machine:
        raise BadInput("--records is for a crawl on one machine")
    try:
        return await _record(config, files, stop, enough, on_damage)
    except Unusable as error:
        raise BadInput(str(error)) from None


async def forgotten(config: Config, target: str, on_damage: TellDamage, wait: float) -> bool:
    """Whether these indexes, if there are any, have nothing of who opted out: a host or a domain.

    If nobody takes in what happens, it is done here; else it is waited for, ``wait`` seconds at most.
    """
    folder = folder_of(config)
    if not config.on_one_machine or not folder.is_dir():
        return True
    enough = asyncio.Event()
    enough.set()
    with suppress(generations.InUse):
        await _record(config, (), asyncio.Event(), enough, on_damage)
    indexes = {name: opened for name, opened in latest(config).items() if name != _KEPT and (folder / name).is_dir()}
    return await until_forgotten(indexes, target, wait, time.monotonic)


async def _record(
    config: Config, files: Sequence[Path], stop: asyncio.Event, enough: asyncio.Event, on_damage: TellDamage
) -> ImportCounts:
    folder, done, loop = folder_of(config), ImportCounts(), asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        stack.enter_context(generations.writing(folder))
        _delete_others(folder)
        opted_out = await asyncio.to_thread(OptedOut, engine_of(config).orders)
        recorders = await _recorders(config, stack, folder, on_damage, opted_out)
        shipping = _Shipping(stack.enter_context(_opened(folder / "logs")), folder, files, opted_out)
        newly, due = opted_out.targets, loop.time()
        while not stop.is_set():
            last = enough.is_set()
            shipping.forget(newly)
            if last or newly or loop.time() >= due:
                begun = loop.time()
                done.records += sum([await recorder.scan() for recorder in recorders])
                due = loop.time() + max(_LEAST_REST, _REST * (loop.time() - begun))
            while lines := shipping.step():
                done.lines += lines
                await asyncio.sleep(0)
            if last:
                break
            await first_of((stop, enough), _LOOK)
            newly = await asyncio.to_thread(opted_out.look)
    return done


async def _recorders(
    config: Config, stack: AsyncExitStack, folder: Path, on_damage: TellDamage, opted_out: OptedOut
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
        Recorder(records, document_of, stack.enter_context(_opened(folder / name)))
        for name, (records, document_of) in zip(_SCANNED, sources, strict=True)
    ]


class _Shipping:
    """Puts lines of files into an index: a commit, then how far each was read is kept."""

    def __init__(self, index: "TantivyIndex", folder: Path, files: Sequence[Path], opted_out: OptedOut) -> None:
        self._index = index
        self._opted_out = opted_out
        self._files = [LogFile(file, folder / f"{file.name}.place") for file in files]

    def forget(self, targets: Iterable[str]) -> None:
        """Take out the lines of hosts that opted out."""
        for target in targets:
            take_out(self._index, target)

    def step(self) -> int:
        """The next lines of each; how many there were."""
        lines = [line for file in self._files for line in file.lines()]
        if lines:
            documents = [document for place, line in lines if (document := of_line(line, place)) is not None]
            self._index.put([document for document in documents if not self._opted_out.covers(document.host)])
            self._index.commit(self._index.position() + 1)
            for file in self._files:
                file.keep()
        return len(lines)

"""Rules over what is stored, in one process or in several that share the pages and send what they find."""

import asyncio
import gc
import signal
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path
from typing import Any, Final, NamedTuple

from gregor.schemas.messages import Page
from gregor.worker.base.errors import BadInput, speak
from gregor.worker.base.streams import in_order
from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.items import ItemSet
from gregor.worker.borders.reader import WHOLE, Part, Reader
from gregor.worker.commands.common import OpenedCrawl, given_url, reading
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config
from gregor.worker.extract import writing
from gregor.worker.extract.crawled import Extraction
from gregor.worker.extract.page import is_readable, media_type, of_stored
from gregor.worker.extract.tally import Tally
from gregor.worker.inspect import selection, url_record
from gregor.worker.inspect.selection import Selection
from gregor.worker.inspect.versions import undamaged
from gregor.worker.web.urls import Url

_SENT: Final = 64 * 1024
"""Bytes of lines that are handed on at once."""
_SETS: Final = 32
"""Sets of items that are written at once: a crawl that runs waits for it."""
_AHEAD: Final = 8
"""Bodies that are read ahead."""
WriteLine = Callable[[bytes], object]


class ExtractJob(NamedTuple):
    """What is to be done: rules over some pages of a crawl, or over those of URLs."""

    config: Config
    files: tuple[Path, ...]
    wanted: Selection
    urls: tuple[str, ...] = ()
    part: Part = WHOLE
    stores: bool = False
    """The items go to the store, to their pages, and no lines are written."""


async def run_part(job: ExtractJob, write: WriteLine) -> Tally:
    """Do it here; lines of JSON go to ``write``, whole ones. Raises what reading raises."""
    tally, lines = Tally(), bytearray()
    extraction = extraction_of(job.config, job.files, ordered=False)
    async with reading(job.config) as crawl, _storing(job) as keep:

        async def with_body(page: Page) -> tuple[Page, bytes | None]:
            return page, await url_record.read_body(crawl.reader, page)

        async for page, body in in_order(_pages(job, crawl, extraction), with_body, _AHEAD):
            if body is None:
                continue
            parsed = of_stored(page, body)
            extracted = extraction.of_stored(parsed, Url(page.href, page.key, page.host))
            tally.add(extracted, page.href)
            if keep is not None:
                await keep(ItemSet(page.key, page.visit, extraction.kept(extracted), frozenset(extraction.names)))
                continue
            for item in extracted.items:
                lines += writing.encode(writing.record(item, parsed.facts))
            if len(lines) > _SENT:
                write(bytes(lines))
                lines.clear()
        tally.damaged = crawl.damages.count
    write(bytes(lines))
    return tally


@asynccontextmanager
async def _storing(job: ExtractJob) -> AsyncIterator[Callable[[ItemSet], Awaitable[None]] | None]:
    """What takes sets of items for the store, some at a time; None where they do not go there."""
    if not job.stores:
        yield None
        return
    from gregor.worker.compose.engine import engine_of

    writer, sets = await engine_of(job.config).items(), list[ItemSet]()

    async def keep(made: ItemSet) -> None:
        sets.append(made)
        if len(sets) == _SETS:
            await writer.put(sets)
            sets.clear()

    try:
        yield keep
        await writer.put(sets)
    finally:
        await writer.close()


async def _pages(job: ExtractJob, crawl: OpenedCrawl, extraction: Extraction) -> AsyncIterator[Page]:
    """The stored pages that a rule or an extractor may be for."""
    async for page in _chosen(job, crawl):
        url = Url(page.href, page.key, page.host)
        if page.body and extraction.wants(url, readable=is_readable(media_type(page))):
            yield page


async def _chosen(job: ExtractJob, crawl: OpenedCrawl) -> AsyncIterator[Page]:
    if not job.urls:
        async for page, row in selection.pages(crawl.reader, job.wanted, job.part):
            if not selection.is_requisite(page, row):
                yield page
        return
    for text in job.urls:
        page_of_url = await stored(crawl.reader, given_url(crawl.urls, text))
        yield page_of_url


async def stored(reader: Reader, url: Url) -> Page:
    """The newest document of a URL. Raises `BadInput` where none is kept."""
    page = await undamaged(reader, reader.page(url.key))
    if page is None:
        raise BadInput(f"no document of {url.href} is stored; `gregor explain` says what became of it")
    return page


def run_parts(job: ExtractJob, processes: int, write: WriteLine) -> Tally:
    """Do it in so many processes; ``write`` gets lines as they come, in no order of the pages.

    Raises `ChildProcessError` with the reason when one of them cannot go on.
    """
    if processes == 1 or job.urls:
        return asyncio.run(run_part(job, write))
    context = _context(job.config)
    tally = Tally()
    running = []
    receiving: list[Connection] = []
    try:
        for number in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            # Of a copy of this process the ends that read are its own, too: it would never hear that nobody reads.
            copied = [*receiving, ours] if context.get_start_method() == "fork" else []
            arguments = (job._replace(part=Part(number, processes)), theirs, copied)
            process = context.Process(target=_in_process, args=arguments)
            process.start()
            theirs.close()
            running.append(process)
            receiving.append(ours)
        for message in _messages(receiving):
            if isinstance(message, bytes):
                write(message)
            elif isinstance(message, Tally):
                tally.merge(message)
            else:
                raise ChildProcessError(str(message))
    finally:
        for process in running:
            process.terminate()
            process.join()
    return tally


def _context(config: Config) -> ForkContext | SpawnContext:
    """How processes are begun: as copies of this one, which has loaded all that they need, where that is safe."""
    from gregor.worker.compose.engine import engine_of

    if sys.platform != "linux" or threading.active_count() > 1:
        return get_context("spawn")
    engine_of(config)  # loads it
    gc.collect()
    gc.freeze()  # what is shared stays so
    return get_context("fork")


def _messages(receiving: list[Connection]) -> Iterator[Any]:
    """What the processes send, until each has ended."""
    done = 0
    left = list(receiving)
    while left:
        for connection in wait(left):
            assert isinstance(connection, Connection)
            try:
                message = connection.recv()
            except EOFError:
                left.remove(connection)
                continue
            done += isinstance(message, Tally)
            yield message
    if done < len(receiving):
        raise ChildProcessError("a process that extracted was ended from outside: not all pages were done")


def _in_process(job: ExtractJob, sending: Connection, copied: list[Connection]) -> None:
    """The main function of a process; whoever started it ends it. ``copied``: what it has no use for."""
    for connection in copied:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all of us
    for number in (signal.SIGTERM, signal.SIGHUP):  # a copy has the parent's handlers, which say that they were called
        signal.signal(number, signal.SIG_DFL)
    speak(job.config.log_format)
    try:
        sending.send(asyncio.run(run_part(job, sending.send)))
    except (BadInput, Damaged, Unavailable, sqlite3.Error) as error:
        sending.send(str(error))
    except BrokenPipeError:  # whoever started it is gone
        return
    finally:
        sending.close()

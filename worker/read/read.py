"""What a document says whatever crawl it is in: the part of its examination that takes long for a large one, and that
may therefore be done on another thread, since it shares nothing with anybody."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import msgspec

from gregor.worker.read.document import Document, Extract
from gregor.worker.read.fingerprints import simhash_and_sketch, text_fingerprint, words_of
from gregor.worker.read.pdf import TYPE as PDF
from gregor.worker.read.processors import Processors
from gregor.worker.read.sitemaps import parse as sitemaps

T = TypeVar("T")

_PAGES: Final = frozenset({"text/html", "application/xhtml+xml"})
LARGE: Final = 512 * 1024
"""Bytes of a document beyond which it would hold up the event loop for some 0.1 s and more."""

MIB: Final = 1024 * 1024
CAPACITY: Final = 32 * MIB
"""Bytes of documents in all. What is read of them, and its way to the store, takes up to some twenty times that of
small ones, and less than 100 MB of each large one, whose reading is bounded."""
MOST: Final = 8 * MIB
"""What one document counts for at most: no more of its text is read."""
SMALL: Final = 64 * 1024
"""A smaller one is not counted: as many as there may be requests at once do not matter."""


class Reading(msgspec.Struct, frozen=True):
    """What was read. ``sitemap`` is set for a sitemap, and says everything of it. ``fingerprint`` is that of the text,
    empty without words."""

    extract: Extract
    fingerprint: bytes = b""
    simhash: int = 0
    sketch: bytes = b""
    sitemap: sitemaps.Sitemap | None = None
    way: str = ""
    """Which way it was read, of a page of HTML: ``native``, or why by Python."""


def read(processors: Processors, document: Document, is_sitemap: bool | None) -> Reading:
    """Read a document; ``is_sitemap`` None: its root says so. A page that somebody calls a sitemap (some sites have
    site maps for people) is read as the page that it is. Raises :class:`ProcessorError` if its processor fails."""
    if sitemaps.is_sitemap(document.prefix(sitemaps.TELLING)) if is_sitemap is None else is_sitemap:
        with document.open() as body:
            sitemap = sitemaps.parse(body, document.href, document.content_type)
        if sitemap.kind != "unknown" or document.content_type not in _PAGES:
            return Reading(Extract(), sitemap=sitemap)
    extract = processors.process(document)
    words, core = words_of(extract.title, extract.text), processors.core
    fingerprint = text_fingerprint(words, core) if words.strip() else b""
    return Reading(extract, fingerprint, *simhash_and_sketch(words, core), way=document.way)


class LargeDocuments:
    """Reads large documents one after another, beside the event loop: lexbor and much of the rest let it run
    meanwhile. One at a time bounds the memory that their trees take."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Semaphore(1)
        self._slow = asyncio.Semaphore(2)  # each is a process of its own, and may take its time

    async def read(self, document: Document, work: Callable[[Document], T]) -> T | None:
        """What ``work`` makes of a large document, or a PDF; None for another, read where it is examined."""
        slow = document.content_type == PDF
        if document.size <= LARGE and not slow:
            return None
        async with self._slow if slow else self._one_at_a_time:
            # The bytes themselves: the body is closed when the visit is cancelled, which ends no thread.
            in_memory = Document(document.href, document.read(), document.header, document.requisites)
            return await asyncio.to_thread(work, in_memory)


class Room:
    """Documents get room in the order in which they come, so that a large one waits for those before it alone."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """``capacity``: bytes, no less than `MOST`."""
        self._free = capacity
        self._entry = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def of(self, size: int) -> AsyncIterator[None]:
        """Room for what is read of a document of ``size`` bytes."""
        if size <= SMALL:
            yield
            return
        weight = min(size, MOST)
        async with self._entry:
            while self._free < weight:
                self._freed.clear()
                await self._freed.wait()
            self._free -= weight
        try:
            yield
        finally:
            self._free += weight
            self._freed.set()

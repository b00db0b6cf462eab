"""Large documents are read beside the event loop, one at a time, and say the same as small ones."""

import asyncio
import threading
import time
from functools import partial

import pytest

from gregor.worker.read.document import Document, Extract
from gregor.worker.read.processors import ProcessorError, Processors
from gregor.worker.read.read import LARGE, LargeDocuments, read

WORDS = b"<title>t</title><p>some words " * (LARGE // 20)


class Watched:
    """Notes on which threads it runs, and how many of them at once."""

    types = ("text/plain",)

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.most = self._now = 0

    def process(self, document: Document) -> Extract:
        self._now += 1
        self.most = max(self.most, self._now)
        self.threads.append(threading.get_ident())
        time.sleep(0.02)  # long enough for another one to begin, if it could
        self._now -= 1
        if document.read().startswith(b"!"):
            raise ValueError("no such thing")
        return Extract(text="read")


def test_a_large_document_says_what_it_always_said() -> None:
    processors = Processors()
    document = Document("http://h/", WORDS, "text/html")
    apart = asyncio.run(LargeDocuments().read(document, partial(read, processors, is_sitemap=False)))
    assert apart == read(processors, document, False)
    assert apart.simhash
    assert (
        asyncio.run(
            LargeDocuments().read(
                Document("http://h/", b"<p>x", "text/html"), partial(read, processors, is_sitemap=False)
            )
        )
        is None
    )


def test_a_large_sitemap_is_one() -> None:
    entries = b"<url><loc>http://h/1</loc></url>" * (LARGE // 20)
    document = Document("http://h/s.xml", b"<urlset>" + entries + b"</urlset>", "application/xml")
    apart = asyncio.run(LargeDocuments().read(document, partial(read, Processors(), is_sitemap=True)))
    assert apart is not None
    assert apart.sitemap is not None
    assert len(apart.sitemap.urls) == LARGE // 20


def test_they_are_read_on_another_thread_and_one_at_a_time() -> None:
    watched = Watched()
    large = Document("http://h/", b"x" * (LARGE + 1), "text/plain")

    async def several() -> None:
        documents, reading = LargeDocuments(), partial(read, Processors([watched]), is_sitemap=False)
        found = await asyncio.gather(*(documents.read(large, reading) for _ in range(4)))
        assert [one.extract.text for one in found if one is not None] == ["read"] * 4

    asyncio.run(several())
    assert watched.most == 1
    assert threading.get_ident() not in watched.threads


def test_a_processor_that_fails_is_named() -> None:
    reading = partial(read, Processors([Watched()]), is_sitemap=False)
    with pytest.raises(ProcessorError, match="Watched"):
        asyncio.run(LargeDocuments().read(Document("http://h/", b"!" * (LARGE + 1), "text/plain"), reading))

"""Labelled pages with what they say: those of files are read as the crawl reads, those of URLs are in its store."""

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, NamedTuple

from gregor.schemas.messages import Page
from gregor.worker.base.beginnings import read_beginning
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.inspect.versions import undamaged
from gregor.worker.read.configured import configured
from gregor.worker.read.document import Document
from gregor.worker.read.processors import ProcessorError, Processors, installed
from gregor.worker.topic import labels
from gregor.worker.topic.labels import LabelledPlace
from gregor.worker.topic.training import LabelledPage

_MOST: Final = 16 << 20
"""Bytes of a file that are read."""
_KINDS: Final = {
    ".json": "application/json",
    ".xml": "application/xml",
    ".txt": "text/plain",
    ".pdf": "application/pdf",
}


class LabelledPages(NamedTuple):
    """Those that could be read, and the URLs of which the crawl has no document."""

    pages: list[LabelledPage]
    missing: list[str]


def read_labels(file: str) -> list[LabelledPlace]:
    """The places of a file of labels; its files are named from where it lies. Raises `BadInput`."""
    data = read_beginning(file, labels.LARGEST + 1)
    folder = Path(file).parent
    return [
        place._replace(file=os.fspath(folder / place.file)) if place.file else place
        for place in labels.read(data, file)
    ]


async def labelled_pages(places: Sequence[LabelledPlace], config: Config) -> LabelledPages:
    """What the pages say. The crawl is opened only where one is told by its URL alone. Raises `BadInput`."""
    processors = configured(installed(), config)
    pages: list[LabelledPage] = []
    missing: list[str] = []
    async with AsyncExitStack() as stack:
        crawl = None
        for place in places:
            if place.file:
                pages.append(page_of_file(processors, place))
                continue
            if crawl is None:
                crawl = await engine_of(config).read()
                stack.push_async_callback(crawl[0].close)
            reader, urls = crawl
            url = urls.parse(place.url)
            if url is None:
                raise BadInput(f"{one_line(place.url, 200)!r}, of line {place.line}, is no URL that can be crawled")
            page = await undamaged(reader, reader.page(url.key))
            if page is None:
                missing.append(url.href)
            else:
                pages.append(_of_page(page, place.label))
    return LabelledPages(pages, missing)


def _of_page(page: Page, label: str) -> LabelledPage:
    return LabelledPage(page.title, page.text, page.href, label)


def page_of_file(processors: Processors, place: LabelledPlace) -> LabelledPage:
    """What the page of a file says. Raises `BadInput`."""
    path = Path(place.file)
    body = read_beginning(place.file, _MOST)
    document = Document(place.url or path.absolute().as_uri(), body, _KINDS.get(path.suffix.lower(), "text/html"))
    try:
        extract = processors.process(document)
    except ProcessorError as error:
        raise BadInput(f"cannot read {one_line(place.file)}: {one_line(str(error), 300)}") from None
    return LabelledPage(extract.title, extract.main or extract.text, place.url, place.label)

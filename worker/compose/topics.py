"""What a configuration is after: key words, example pages, classes of a model."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import filterfalse
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.base.tasks import beside
from gregor.worker.borders.errors import Damaged, Unavailable
from gregor.worker.borders.store import PageStore
from gregor.worker.compose.labelled import page_of_file
from gregor.worker.config.settings import Config
from gregor.worker.config.topic import is_url
from gregor.worker.links.configured import urls_of
from gregor.worker.read.configured import configured
from gregor.worker.read.processors import installed
from gregor.worker.topic.examples import ExamplePages
from gregor.worker.topic.labels import LabelledPlace
from gregor.worker.topic.page_model import PageModel
from gregor.worker.topic.relevance import KeyWords, MeanRelevance, Relevance, RelevantClasses

EVERY: Final = 5.0
"""Seconds between two looks for a few example pages that another worker may have stored."""


@asynccontextmanager
async def examples_learnt(relevance: Relevance, store: PageStore, every: float = EVERY) -> AsyncIterator[None]:
    """Learn from the example pages that the crawl has: those of an earlier start, from the beginning, and meanwhile
    those that others visit. What cannot be read is learnt from when it is visited here."""
    await _learn(relevance, store)

    async def follow() -> None:
        while relevance.wanted:
            await asyncio.sleep(every * max(1.0, len(relevance.wanted) / 10))  # each costs a question
            await _learn(relevance, store)

    async with beside(follow()):
        yield


async def _learn(relevance: Relevance, store: PageStore) -> None:
    for key in sorted(relevance.wanted):
        with suppress(Unavailable, Damaged):  # told by whoever needs it
            versions = await store.versions(key)
            page = await store.page(key, versions[-1]) if versions else None
            if page is not None:
                relevance.of_page(page.key, page.title, page.text, page.href)


def relevance_of(config: Config, model: PageModel | None) -> Relevance:
    """It; ``model``: that of the configuration, if it has one. Raises `BadInput` with one line."""
    each = list(_each(config, model))
    return each[0] if len(each) == 1 else MeanRelevance(each)


def _each(config: Config, model: PageModel | None) -> Iterator[Relevance]:
    if config.topic_words:
        try:
            yield KeyWords(config.topic_words)
        except ValueError as error:
            raise BadInput(f"topic_words: {one_line(str(error), 80)!r} has no letter and no digit") from None
    if config.topic_good:
        yield _examples(config)
    if model is not None and config.topic_classes:
        if strange := [name for name in config.topic_classes if name not in model.classes]:
            there = ", ".join(map(one_line, model.classes))
            raise BadInput(f"topic_classes: the model has no class {one_line(strange[0], 80)!r}; it has {there}")
        yield RelevantClasses(model, config.topic_classes)


def _examples(config: Config) -> ExamplePages:
    """Files are learnt from now, URLs when the crawl reads them."""
    urls, processors = urls_of(config), configured(installed(), config)

    def keys(names: Iterable[str]) -> Iterator[str]:
        for name in filter(is_url, names):
            url = urls.parse(name)
            if url is None:
                raise BadInput(f"{one_line(name, 200)!r} is no URL that can be crawled")
            yield url.key

    pages = ExamplePages(keys(config.topic_good), keys(config.topic_bad))
    for good, names in ((True, config.topic_good), (False, config.topic_bad)):
        for name in filterfalse(is_url, names):
            page = page_of_file(processors, LabelledPlace("", name, "", 0))
            pages.learn(page.title, page.text, good=good)
    return pages

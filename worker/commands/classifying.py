"""The work of `gregor classify apply`: stored pages, and what a model says of them."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from gregor.schemas.messages import Page
from gregor.worker.borders.items import ItemSet
from gregor.worker.borders.reader import Reader
from gregor.worker.commands.common import reading
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.settings import Config
from gregor.worker.inspect import selection
from gregor.worker.inspect.selection import Selection
from gregor.worker.topic.page_model import Classified, PageModel

_AT_ONCE: Final = 32
"""Pages that are written at once: a crawl that runs waits for it."""


async def classified(reader: Reader, wanted: Selection, model: PageModel) -> AsyncIterator[tuple[Page, Classified]]:
    """Each stored page in its newest version, with its class; none of what is there only because pages show it."""
    async for page, row in selection.pages(reader, wanted):
        if not selection.is_requisite(page, row):
            yield page, model.classify(page.title, page.text, page.href)


async def stored(config: Config, wanted: Selection, model: PageModel) -> tuple[dict[str, int], int]:
    """Put the classes of stored pages into the store; how many are of each, and the exit code."""
    counts: Counter[str] = Counter()
    writer = await engine_of(config).items()
    sets: list[ItemSet] = []
    try:
        async with reading(config) as crawl:
            async for page, said in classified(crawl.reader, wanted, model):
                counts[said.name] += 1
                sets.append(ItemSet(page.key, page.visit, [], frozenset(), (said.name, said.probability)))
                if len(sets) == _AT_ONCE:
                    await writer.put(sets)
                    sets.clear()
            await writer.put(sets)
            return counts, crawl.code
    finally:
        await writer.close()

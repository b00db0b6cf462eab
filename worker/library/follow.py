"""The pages that a crawl stores, as they come, on a thread that has nothing to do with the crawl's."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from gregor.schemas.messages import Page
from gregor.worker.borders.changes import ChangeFeed
from gregor.worker.borders.errors import TellDamage
from gregor.worker.borders.reader import Reader
from gregor.worker.compose.engine import Engine, engine_of
from gregor.worker.config.settings import Config
from gregor.worker.inspect import selection, unfetched, url_record
from gregor.worker.library.loop import Loop
from gregor.worker.library.page import StoredPage, warn
from gregor.worker.web.urls import Url

_AT_ONCE: Final = 32
_REMEMBERED: Final = 10_000
"""Pages of which it is known that they were given: one may change again as its visit ends."""


class StoredPages:
    """What a crawl has stored since this was made, and then since the last look."""

    def __init__(self, config: Config) -> None:
        self._passed: OrderedDict[tuple[str, int], None] = OrderedDict()
        self._loop = Loop()
        try:
            self._feed, self._reader, self._position = self._loop.run(_opened(engine_of(config), warn))
        except BaseException:
            self._loop.close()
            raise

    def next(self) -> list[StoredPage]:
        """Some of them; [] when there are none."""
        while changes := self._loop.run(self._feed.changes(self._position, _AT_ONCE)):
            self._position = changes[-1].position
            stored = ((change.page, change.row) for change in changes if change.page is not None)
            pages = ((page, row) for page, row in stored if not selection.is_requisite(page, row))
            if new := [StoredPage(page, self._body, row) for page, row in pages if self._is_new(page)]:
                return new
        return []

    def why_none(self, seeds: Iterable[Url]) -> str:
        """Why nothing came of the seeds, or of the whole crawl; empty when something did."""
        return self._loop.run(_why_none(self._reader, seeds))

    def _is_new(self, page: Page) -> bool:
        name = (page.key, page.visit)
        if name in self._passed:
            return False
        self._passed[name] = None
        if len(self._passed) > _REMEMBERED:
            self._passed.popitem(last=False)
        return True

    def _body(self, page: Page) -> bytes | None:
        return self._loop.run(url_record.read_body(self._reader, page))

    def close(self) -> None:
        """End reading. Nothing else may be called afterwards."""
        self._loop.run(self._feed.close())
        self._loop.run(self._reader.close())
        self._loop.close()


async def _opened(engine: Engine, on_damage: TellDamage) -> tuple[ChangeFeed, Reader, int]:
    feed = await engine.feed(on_damage)
    reader, _ = await engine.read()
    reader.on_damage = on_damage
    return feed, reader, await feed.end()


async def _why_none(reader: Reader, seeds: Iterable[Url]) -> str:
    if failure := await unfetched.why_no_seed(reader, seeds):
        return failure
    async for _ in reader.pages():
        return ""
    return await unfetched.why_nothing(reader)

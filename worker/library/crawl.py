"""A crawl that runs in this process, and gives its pages as they are stored."""

import asyncio
import io
import warnings
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal

from gregor.worker.base.crawl_folder import holds_crawl
from gregor.worker.base.errors import BadInput
from gregor.worker.base.extras import named_if_missing
from gregor.worker.base.tasks import cancel
from gregor.worker.compose.engine import engine_of
from gregor.worker.config import kept
from gregor.worker.config.settings import Config
from gregor.worker.library.arguments import settings, texts
from gregor.worker.library.loop import Loop
from gregor.worker.links.configured import urls_of

if TYPE_CHECKING:  # heavy: who only names `gregor.Crawl` waits for none of it
    from gregor.worker.compose import worker as composition
    from gregor.worker.library.follow import StoredPages
    from gregor.worker.library.page import RulesFiles, StoredPage
    from gregor.worker.operate.seeds_input import Seeds
    from gregor.worker.run.ending import Ending
    from gregor.worker.web.urls import Url

_LOOK: Final = 0.2
"""Seconds between two looks for pages that were stored: whoever waits for a page does not see the difference."""

EndReason = Literal["finished", "budget", "stopped"]


class Crawl:
    """A crawl from seeds into a data folder, or the one there which goes on. For a ``with`` or an ``async with``
    statement, in which it is iterated over: it crawls whether it is or not, and stops cleanly where the statement ends.
    """

    def __init__(
        self,
        seeds: str | Iterable[str] = (),
        *,
        data: str | PathLike[str] = "data",
        rules: "RulesFiles | None" = None,
        config: str | None = None,
        **arguments: object,
    ) -> None:
        """``arguments``: settings by the names of the configuration; ``rules``: files by which items are stored.

        Raises `BadInput` for what cannot be used.
        """
        if rules is not None:
            arguments["rules"] = texts("rules", rules)
        self._settings = settings(data, arguments, config)
        self._config = self._settings.config
        if not self._config.on_one_machine:
            raise BadInput("gregor.Crawl is for one machine: on servers `gregor worker` crawls, and gregor.open reads")
        from gregor.worker.compose.extraction import extraction_of

        extraction_of(self._config)  # what cannot be used is said before anything is made
        self._goes_on = holds_crawl(self._config.data)
        self._seeds = self._checked(texts("seeds", seeds))
        self._is_entered = self._gave = False
        self._crawling: Loop | None = None
        self._runtime: composition.Crawling | None = None
        self._task: asyncio.Task[Ending | composition.Finished] | None = None
        self._stored: StoredPages | None = None
        self._ready: deque[StoredPage] = deque()
        self._asked: asyncio.Future[bool] | None = None
        self.reason: EndReason | None = None
        """Why it ended; None as long as it runs."""

    def _checked(self, seeds: list[str]) -> "Seeds":
        if not seeds and not self._goes_on:
            raise BadInput(f"no seed is given, and there is no crawl in {self._config.data}")
        if self._settings.kept is not None:
            kept.refuse_missing(self._settings.kept, self._settings.sources)
            differing = kept.changed(self._settings.kept, self._config, self._settings.sources)
            if differing:
                _say(f"settings of this crawl change: {'; '.join(differing.values())}")
        from gregor.worker.operate.seeds_input import open_seeds

        return open_seeds(seeds, None, io.BytesIO(), urls_of(self._config))

    def __enter__(self) -> "Crawl":
        if self._is_entered:
            raise RuntimeError("a Crawl is entered once: make another one")
        from gregor.worker.library.follow import StoredPages

        self._is_entered = True
        try:
            self._crawling = Loop()
            if not self._goes_on:
                self._crawling.run(_made(self._config))
            self._stored = StoredPages(self._config)  # before it crawls: then nobody waits to write
            with named_if_missing():
                self._crawling.run(self._begin())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    async def __aenter__(self) -> "Crawl":
        entering = asyncio.ensure_future(asyncio.to_thread(self.__enter__))
        try:
            return await asyncio.shield(entering)
        except asyncio.CancelledError:
            await asyncio.wait((entering,))
            await asyncio.to_thread(self._end)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._asked is not None:
            await asyncio.wait((self._asked,))
        await asyncio.to_thread(self._end)

    def __iter__(self) -> "Iterator[StoredPage]":
        """The pages that are stored from its start on, each once, as soon as it is, until the crawl ends.

        Raises what ended it if that is a failure. Begun again it goes on with the next page.
        """
        while self._ready or self._fill():
            yield self._ready.popleft()

    async def __aiter__(self) -> "AsyncIterator[StoredPage]":
        while True:
            if not self._ready:
                self._asked = self._asked or asyncio.ensure_future(asyncio.to_thread(self._fill))
                there_are = await asyncio.shield(self._asked)
                self._asked = None
                if not there_are:
                    return
            yield self._ready.popleft()

    def stop(self) -> None:
        """End it cleanly, soon: what is under way is finished. May be repeated."""
        if self._crawling is not None and self._runtime is not None and self.reason is None:
            self._crawling.call(partial(self._runtime.stop, "by the program"))

    async def _begin(self) -> None:
        """Start, and return when it crawls or has ended. Raises what kept it from starting."""
        from gregor.worker.compose import worker as composition

        started = asyncio.Event()

        def begun(runtime: "composition.Crawling") -> None:
            self._runtime = runtime
            started.set()

        crawling = composition.crawl(self._config, self._seeds, begun, self._settings, _say)
        self._task = asyncio.create_task(crawling)
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait((self._task, waiting), return_when=asyncio.FIRST_COMPLETED)
        await cancel([waiting])
        if self._task.done():
            self._conclude(self._task)

    def _fill(self) -> bool:
        """Whether there are pages again; waits for some. False at the end."""
        if self._stored is None or self._task is None or self._crawling is None:
            raise RuntimeError("a Crawl gives pages within its `with` statement")
        while True:
            has_ended = self._task.done()
            self._ready += self._stored.next()
            if self._ready:
                self._gave = True
                return True
            if has_ended:
                self._conclude(self._task)
                if self.reason == "finished" and not self._gave and (why := self._stored.why_none(self._seed_urls())):
                    _say(why)
                return False
            self._crawling.run(_until_done(self._task))

    def _seed_urls(self) -> "Iterator[Url]":
        return (seed.url for seed in self._seeds)

    def _conclude(self, task: "asyncio.Task[Ending | composition.Finished]") -> None:
        """Raises what ended the crawl if that is a failure."""
        from gregor.worker.run.ending import Ending

        ending = task.result()
        self.reason = ending.reason if isinstance(ending, Ending) else "finished"

    def _end(self) -> None:
        """Stop, and wait until all is stored. May be repeated."""
        crawling, self._crawling = self._crawling, None
        if crawling is not None:
            if self._task is not None:
                if self._runtime is not None:
                    crawling.call(partial(self._runtime.stop, "by the program"))
                crawling.run(_finished(self._task))
                if not self._task.cancelled() and self._task.exception() is None:
                    self._conclude(self._task)
            crawling.close()
        if self._stored is not None:
            self._stored.close()
        self._seeds.close()


async def _made(config: Config) -> None:
    """Make the data folder of a crawl."""
    engine = await engine_of(config).open()
    await engine.close()


async def _until_done(task: "asyncio.Task[Ending | composition.Finished]") -> None:
    """Until the crawl has ended; some time at most."""
    await asyncio.wait((task,), timeout=_LOOK)


async def _finished(task: "asyncio.Task[Ending | composition.Finished]") -> None:
    await asyncio.wait((task,))


def _say(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)

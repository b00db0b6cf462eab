"""The process that indexes a crawl beside the one that crawls, on one machine: begun, begun again, ended.

It is told by its standard input: a line says that the crawl is over, so that it takes in what is left and ends; the end
of the input that whoever began it is gone, so that it ends at once.
"""

import asyncio
import contextlib
import os
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Final

from gregor.search.adapters import generations
from gregor.search.borders import Unusable
from gregor.worker.base import children
from gregor.worker.base.errors import BadInput
from gregor.worker.base.tasks import cancel
from gregor.worker.compose.search import index_folder
from gregor.worker.config.settings import Config

_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
_LIVED: Final = 60.0
"""Seconds after which an end counts as the first one again."""
_LAST_TRIES: Final = 3
"""So often a process is begun again that is killed while it takes in what is left of a crawl that is over."""
_REFUSED: Final = 2
"""The exit code of what would be refused again."""


def can_be_followed(config: Config) -> None:
    """Whether a crawl can be indexed while it runs. Raises `BadInput`, `ModuleNotFoundError`."""
    if not config.on_one_machine:
        raise BadInput("--index is for a crawl on one machine; on servers `gregor index` runs beside the workers")
    engine = "opensearchpy" if config.opensearch else "tantivy"
    if find_spec(engine) is None:
        raise ModuleNotFoundError("no engine of an index is installed", name=engine)
    try:
        generations.current(index_folder(config))
        if config.opensearch:
            from gregor.worker.compose.opensearch import can_be_written

            can_be_written(config)
    except Unusable as error:
        raise BadInput(str(error)) from None


class Follower:
    """A process that follows a crawl, as long as the crawl runs, whatever ends it meanwhile."""

    def __init__(self, line: Sequence[str], tell: Callable[[str], None], pause: float = _FIRST_PAUSE) -> None:
        """``line`` begins the process; ``pause``: seconds before it is begun again, twice as many each time."""
        self._line = line
        self._tell = tell
        self._first_pause = self._pause = pause
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.process: Process | None = None

    @classmethod
    def of(cls, config: Config, config_file: str | None, tell: Callable[[str], None]) -> "Follower":
        """That of a crawl's index."""
        named = () if config_file is None else ("--config", config_file)
        form = ("--set", f"log_format={config.log_format}")
        words = ("index", "--beside", "--data", config.data, *named, *form)
        return cls(children.python("gregor", words), tell)

    def begin(self) -> None:
        """Follow from now on."""
        self._task = self._task or asyncio.create_task(self._follow())

    async def end(self) -> None:
        """The crawl is over: until what is left was taken in."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _follow(self) -> None:
        loop, tries = asyncio.get_running_loop(), 0
        while True:
            begun = loop.time()
            code = await self._one_process()
            if code == _REFUSED:
                self._tell("the index does not follow this crawl any more: `gregor index` takes in what is missing")
                return
            tries += self._over.is_set()
            if tries and code >= 0:  # it has said itself what it could not do
                return
            if tries > _LAST_TRIES:
                self._tell(f"the index lacks what came last ({_ending(code)}): `gregor index --once` takes it in")
                return
            if loop.time() - begun > _LIVED:
                self._pause = self._first_pause
            self._tell(f"the process that indexes ended ({_ending(code)}): begun again in {self._pause:g} s")
            with contextlib.suppress(TimeoutError):  # `until` would say that the crawl is over
                await asyncio.wait_for(self._over.wait(), self._pause)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    async def _one_process(self) -> int:
        """Begin it, and wait for its end, which is asked for once the crawl is over."""
        self.process = process = await asyncio.create_subprocess_exec(
            *self._line,
            stdin=PIPE,
            stdout=DEVNULL,
            env=children.environment(os.environ),
            start_new_session=True,  # Ctrl-C is for the crawl
        )
        ended, over = asyncio.ensure_future(process.wait()), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((ended, over), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done() and process.stdin is not None:
                with contextlib.suppress(ConnectionError):
                    process.stdin.write(b"\n")
                    await process.stdin.drain()
            return await ended
        finally:
            await cancel([over])
            if process.stdin is not None:
                process.stdin.close()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


class Word:
    """What the process hears of the one that began it."""

    def __init__(self, enough: Callable[[], None], gone: Callable[[], None], descriptor: int = 0) -> None:
        """``enough`` is called when the crawl is over, ``gone`` when who began this process is gone."""
        self._enough, self._gone, self._descriptor = enough, gone, descriptor

    def __enter__(self) -> None:
        os.set_blocking(self._descriptor, False)
        asyncio.get_running_loop().add_reader(self._descriptor, self._note_news)

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)

    def _note_news(self) -> None:
        try:
            said = os.read(self._descriptor, 16)
        except BlockingIOError:
            return
        if said:
            self._enough()
        else:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._gone()

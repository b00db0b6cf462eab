"""Calls of many visits made as one: what a request costs the worker is shared by all that came within a moment."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

A = TypeVar("A")
Q = TypeVar("Q")

_MOMENT: Final = 0.025
"""Seconds between two requests. Nobody waits for company that has not asked for so long: then a call goes at once."""


class Coalesced(Generic[Q, A]):
    """`ask` one thing; ``request`` is made with the things of all who asked, in their order, and answers in that order.

    What a request raises, all who asked get. Who is cancelled changes nothing for the others.
    """

    def __init__(self, request: Callable[[list[Q]], Awaitable[Sequence[A]]], most: int, at_once: int = 4) -> None:
        """``most`` things in a request; ``at_once`` requests on their way."""
        self._request = request
        self._most = most
        self._free = at_once
        self._asked: list[tuple[Q, asyncio.Future[A]]] = []
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def ask(self, thing: Q) -> A:
        """The answer to one thing."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[A] = loop.create_future()
        self._asked.append((thing, future))
        self._plan(loop)
        return await future

    def _plan(self, loop: asyncio.AbstractEventLoop) -> None:
        """See that what was asked goes out: now if it fills a request, else at the next moment; as soon as one may."""
        if not self._asked or not self._free:
            return
        if len(self._asked) >= self._most:
            self._go(loop)
        elif self._timer is None:
            self._timer = loop.call_at(self._next, self._go, loop)

    def _go(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        some, self._asked = self._asked[: self._most], self._asked[self._most :]
        self._next = loop.time() + _MOMENT
        self._free -= 1
        task = loop.create_task(self._run(some))
        self._running.add(task)
        task.add_done_callback(self._ran)
        self._plan(loop)

    async def _run(self, some: list[tuple[Q, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._request([thing for thing, _ in some])
        except asyncio.CancelledError:
            for _, future in some:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked
            for _, future in some:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(some, answers, strict=True):
            if not future.done():
                future.set_result(answer)

    def _ran(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._free += 1
        self._plan(task.get_loop())

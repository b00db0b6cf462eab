"""Questions to a connection that belongs to one thread: what is asked in one moment goes to it together.

A question takes some microseconds, to wake a thread and to be woken by it some tens: exports ask three a page.
"""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar

from gregor.worker.adapters.embedded.database import DatabaseWork

T = TypeVar("T")


class _Question(NamedTuple, Generic[T]):
    work: DatabaseWork[T]
    answer: asyncio.Future[T]


class _Answer(NamedTuple, Generic[T]):
    future: asyncio.Future[T]
    result: T | None = None
    error: BaseException | None = None


class ThreadedConnection:
    """A connection on a thread of its own. Questions are answered in their order."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gregor-reader")
        self._waiting: list[_Question[Any]] = []

    def ask(self, work: DatabaseWork[T]) -> asyncio.Future[T]:
        """What ``work`` gives. Raises what it raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._send, loop)
        self._waiting.append(_Question(work, answer))
        return answer

    def _send(self, loop: asyncio.AbstractEventLoop) -> None:
        questions, self._waiting = self._waiting, []

        def answer_all() -> None:
            loop.call_soon_threadsafe(_tell, [_answer(question, self._connection) for question in questions])

        self._thread.submit(answer_all)

    def close(self) -> None:
        """Nothing is asked any more."""
        self._thread.shutdown()


def _answer(question: _Question[T], connection: sqlite3.Connection) -> _Answer[T]:
    if question.answer.done():  # whoever asked was cancelled
        return _Answer(question.answer)
    try:
        return _Answer(question.answer, question.work(connection))
    except BaseException as error:  # noqa: BLE001 - whoever asked gets it
        return _Answer(question.answer, error=error)


def _tell(answers: list[_Answer[Any]]) -> None:
    for future, result, error in answers:
        if future.done():
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

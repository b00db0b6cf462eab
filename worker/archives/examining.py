"""Who reads the documents that are taken in: this process, or several that each read one after another.

Reading is four fifths of an import. The processes get answers and give pages; all that is durable is written here,
that of a URL, and of equal contents, in its order. What a process lacks of this machine's is told as if it lacked here.
"""

import asyncio
import pickle
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from contextvars import ContextVar
from typing import BinaryIO, Final, NamedTuple, Protocol

from gregor.schemas.messages import Page, Ticket, decode, encode
from gregor.worker.base.children import environment
from gregor.worker.base.shortage import LocalShortage, own_shortages
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.transport import Response
from gregor.worker.examine import Examiner
from gregor.worker.extract.crawled import Extracted
from gregor.worker.fetch.outcomes import Fetched, Outcome
from gregor.worker.settle.visited import Examined
from gregor.worker.web.urls import Url, Urls

DATE: ContextVar[float] = ContextVar("date")
"""The date of the record that is read, unix seconds: what is now, for whoever reads it."""
LARGEST: Final = 1 << 20
"""Bytes of a document that is sent elsewhere: a larger one is read here, beside the event loop."""
AHEAD: Final = 2
"""Documents that a process has at a time: one that it reads, and the next."""
_LENGTH: Final = 4
"""Bytes before each message that say how long it is."""
READY: Final = b"ready"
"""What a process answers once it has what it was set up with."""


class Examines(Protocol):
    """Says what a recorded answer means, as `Examiner.of` does."""

    async def examined(self, ticket: Ticket, url: Url, outcome: Outcome, at: float) -> Examined:
        """``at``: the date of the record, unix seconds. No tickets are made of what a page links to."""


class ExaminesHere:
    """In this process."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    async def examined(self, ticket: Ticket, url: Url, outcome: Outcome, at: float) -> Examined:
        DATE.set(at)
        return await self._examiner.of(ticket, url, outcome)


class _Document(NamedTuple):
    """What is asked: an answer whose content is to be read."""

    ticket: bytes
    href: str
    response: dict[str, object]
    body: bytes
    at: float


class _Reading(NamedTuple):
    """What is answered. ``outcome``: another one than that a document came."""

    page: bytes | None
    outcome: Outcome | None = None
    extracted: Extracted | None = None
    lacking: str = ""
    """What this machine has too little of: then nothing was read."""


class _Process:
    """One process, and who waits for its answers: they come in the order of the questions."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.asked: deque[asyncio.Future[bytes]] = deque()
        self._hearing = asyncio.create_task(self._hear())

    def ask(self, message: bytes) -> asyncio.Future[bytes]:
        """The answer to come; `LocalShortage` when the process ends before: what is not written is read again."""
        writing = self.process.stdin
        assert writing is not None
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda answered: answered.cancelled() or answered.exception())
        self.asked.append(answer)
        if self._hearing.done() or writing.is_closing():  # of two signs that it has ended either may be seen first
            self._give_up()
        else:
            writing.writelines((len(message).to_bytes(_LENGTH, "big"), message))
        return answer

    async def _hear(self) -> None:
        reading = self.process.stdout
        assert reading is not None
        try:
            while True:
                length = int.from_bytes(await reading.readexactly(_LENGTH), "big")
                message = await reading.readexactly(length)
                if not (answer := self.asked.popleft()).done():
                    answer.set_result(message)
        except (asyncio.IncompleteReadError, OSError):
            self._give_up()

    def _give_up(self) -> None:
        while self.asked:
            if not (answer := self.asked.popleft()).done():
                answer.set_exception(LocalShortage("a process that read records has ended before its time"))

    async def end(self) -> None:
        """Whatever it does."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await cancel([self._hearing])
        await self.process.wait()


class ExaminesElsewhere:
    """In processes of its own; what is large, or no document, here."""

    def __init__(self, here: Examines, processes: Sequence[_Process]) -> None:
        self._here = here
        self._processes = processes
        self._free = asyncio.Semaphore(AHEAD * len(processes))

    async def examined(self, ticket: Ticket, url: Url, outcome: Outcome, at: float) -> Examined:
        if not isinstance(outcome, Fetched) or outcome.response.body.size > LARGEST:
            return await self._here.examined(ticket, url, outcome, at)
        question = pickle.dumps(_document(ticket, url, outcome.response, at), pickle.HIGHEST_PROTOCOL)
        async with self._free:
            process = min(self._processes, key=lambda process: len(process.asked))
            answer = await process.ask(question)
        reading: _Reading = pickle.loads(answer)  # from a process of our own
        if reading.lacking:
            raise LocalShortage(reading.lacking)
        page, wire = None if reading.page is None else decode(reading.page, Page), outcome.response.wire_body
        if page is not None and wire is not None:
            page.wire = wire.sha256
        return Examined(reading.outcome or outcome, page, extracted=reading.extracted)


def _document(ticket: Ticket, url: Url, response: Response, at: float) -> _Document:
    fields = {name: getattr(response, name) for name in response.__struct_fields__ if name not in ("body", "wire_body")}
    return _Document(encode(ticket), url.href, fields, response.body.read(), at)


@asynccontextmanager
async def elsewhere(
    here: Examines, count: int, command: Sequence[str], inherited: dict[str, str], setup: object
) -> AsyncIterator[ExaminesElsewhere]:
    """``count`` processes that run ``command``, which reads `messages`, and get ``setup`` first."""
    processes: list[_Process] = []
    pipe = asyncio.subprocess.PIPE
    try:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, env=environment(inherited), start_new_session=True
            )
            processes.append(_Process(process))
            processes[-1].ask(pickle.dumps(setup, pickle.HIGHEST_PROTOCOL))
        yield ExaminesElsewhere(here, processes)
    finally:
        await asyncio.gather(*(process.end() for process in processes))


async def answered(examines: Examines, urls: Urls, question: bytes) -> bytes:
    """What a process says to a question. A body that is spooled is the process's own."""
    try:
        with own_shortages():
            return await _answered(examines, urls, question)
    except LocalShortage as error:
        return pickle.dumps(_Reading(None, lacking=str(error)), pickle.HIGHEST_PROTOCOL)


async def _answered(examines: Examines, urls: Urls, question: bytes) -> bytes:
    document: _Document = pickle.loads(question)  # from the process that began this one
    url = urls.parse(document.href)
    assert url is not None
    with closing(SpooledBody(cap=len(document.body))) as body:
        body.write(document.body)
        response = Response(**{**document.response, "body": body, "wire_body": None})  # type: ignore[arg-type]
        outcome = Fetched(response)
        examined = await examines.examined(decode(document.ticket, Ticket), url, outcome, document.at)
    other = None if isinstance(examined.outcome, Fetched) else examined.outcome
    page = None if examined.page is None else encode(examined.page)
    return pickle.dumps(_Reading(page, other, examined.extracted), pickle.HIGHEST_PROTOCOL)


def messages(source: BinaryIO) -> Iterator[bytes]:
    """What a process is asked, until nobody asks any more."""
    while len(length := source.read(_LENGTH)) == _LENGTH:
        size = int.from_bytes(length, "big")
        if len(message := source.read(size)) == size:
            yield message


def send(target: BinaryIO, message: bytes) -> None:
    """Say one message."""
    target.write(len(message).to_bytes(_LENGTH, "big") + message)
    target.flush()

"""What a process that reads records lacks is told to the one that began it, and costs no record."""

import asyncio
import errno
from typing import Any

import pytest

from gregor.worker.archives.examining import ExaminesElsewhere, answered
from gregor.worker.base.shortage import LocalShortage, in_words
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response
from gregor.worker.fetch.outcomes import Fetched
from gregor.worker.links.tickets import of_archive
from gregor.worker.web.urls import Urls

URLS = Urls()


class Lacking:
    """Reads nothing."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    async def examined(self, *_: Any) -> Any:
        raise self._fault


class InProcess:
    """A process of another, in this one."""

    asked: tuple[()] = ()

    def __init__(self, examines: Lacking) -> None:
        self._examines = examines

    def ask(self, question: bytes) -> asyncio.Task[bytes]:
        return asyncio.ensure_future(answered(self._examines, URLS, question))


def examined(fault: Exception) -> None:
    url = URLS.parse("http://a.test/")
    assert url is not None
    body = SpooledBody(cap=100)
    body.write(b"<p>text")
    outcome = Fetched(Response(200, "", [("Content-Type", "text/html")], "1.1", body, None, b"", b"", "", 0.1, 0.1))
    elsewhere = ExaminesElsewhere(Lacking(AssertionError("here")), [InProcess(Lacking(fault))])  # type: ignore[list-item]
    asyncio.run(elsewhere.examined(of_archive(url, None), url, outcome, 1.0))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC, errno.EDQUOT])
def test_what_it_lacks_is_told_in_the_systems_words(number: int) -> None:
    with pytest.raises(LocalShortage, match=f"^{in_words(number)}$"):
        examined(OSError(number, "tmp"))


def test_another_fault_is_none_of_the_machines() -> None:
    with pytest.raises(ZeroDivisionError):
        examined(ZeroDivisionError())

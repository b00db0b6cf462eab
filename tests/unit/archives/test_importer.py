"""An import is stopped: what runs has a while, and nobody waits for it then. Equal contents keep their order."""

import asyncio
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.archives.book import AnswerRecord, RecordBook
from gregor.worker.archives.files import WarcFile
from gregor.worker.archives.importer import Importer
from gregor.worker.archives.order import RecordPlace
from tests.simulation.clock import VirtualLoop


class NeverAnswers:
    """Takes records in, on servers that are away."""

    async def take(self, *_: Any) -> str:
        await asyncio.Event().wait()
        return "page"


def test_a_stop_is_heard_while_all_that_runs_waits_for_a_server() -> None:
    importer = Importer([], lambda *_: None, lambda _: None, at_once=2)

    async def run() -> None:
        with closing(RecordBook()) as book:
            for number in range(3):
                book.add(AnswerRecord(0.0, 0, number, "response", f"http://h{number}.test/", ""))
            book.finish()
            asyncio.get_running_loop().call_later(1.0, importer.stop)
            await importer.take_in(book, NeverAnswers())  # type: ignore[arg-type]
            assert asyncio.get_running_loop().time() < 60.0

    VirtualLoop(most_time=1_000.0).run_until_complete(run())  # type: ignore[abstract]
    assert importer.result.stopped and not importer.result.taken_in


class Examined:
    """Takes records in whose contents are read in times of chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.written: list[tuple[str, int]] = []

    async def take(self, entry: AnswerRecord, place: RecordPlace) -> str:
        for _ in range(self._chance.choice((1, 1, 2))):  # a lease that is lost means once more
            await asyncio.sleep(self._chance.random())
            if entry.digest == "damaged":
                raise ValueError("damaged")
            await place.examined(entry.digest.encode())
        await asyncio.sleep(self._chance.random())
        self.written.append((entry.digest, entry.offset))
        return "page"


@pytest.mark.parametrize("seed", range(5))
def test_of_equal_contents_the_first_is_written_first_however_long_each_takes(seed: int) -> None:
    contents = random.Random(seed).choices(("a", "b", "", "damaged", "c"), k=60)
    importer, examined = (
        Importer([WarcFile(Path("x"), b"WARC/1.1")], lambda *_: None, lambda _: None, 8),
        Examined(seed),
    )

    async def run() -> None:
        with closing(RecordBook()) as book:
            for number, content in enumerate(contents):
                book.add(AnswerRecord(0.0, 0, number, "response", f"http://h{number % 7}.test/", content))
            book.finish()
            await importer.take_in(book, examined)  # type: ignore[arg-type]

    VirtualLoop(most_time=1_000.0).run_until_complete(run())  # type: ignore[abstract]
    assert len(examined.written) == 60 - contents.count("damaged")
    for content in "abc":
        places = [place for written, place in examined.written if written == content]
        assert places == sorted(places)
    assert [place for _, place in examined.written] != sorted(place for _, place in examined.written)

"""What a page of dead letters costs, however many there are."""

import asyncio

import pytest

from gregor.schemas.messages import DeadLetter, Row
from gregor.worker.api import archive
from gregor.worker.api.archive import StoredCrawl
from gregor.worker.api.archive_views import Letters
from gregor.worker.api.problems import Problem
from gregor.worker.config.settings import Config
from gregor.worker.web.urls import Urls
from tests.reading import MemoryReader, row, ticket

HREFS = [f"http://a.test/{number}" for number in range(10_000)]


class CountingReader(MemoryReader):
    """Counts the rows that are asked for; the ones after ``answers`` never come."""

    asked = 0
    answers = len(HREFS)

    async def row(self, key: str) -> Row | None:
        self.asked += 1
        if self.asked > self.answers:
            await asyncio.Event().wait()
        return await super().row(key)


def given_up(hrefs: list[str], fetched: int = 0) -> tuple[CountingReader, StoredCrawl]:
    """A letter of each URL, later ones newer; the newest ``fetched`` do not hold any more."""
    rows = [row(ticket(href), "dead") for href in hrefs[: len(hrefs) - fetched]]
    rows += [row(ticket(href)) for href in hrefs[len(rows) :]]
    letters = [DeadLetter(href, href, "a.test", "status", "500", 1.0 + at) for at, href in enumerate(hrefs)]
    reader = CountingReader(rows, letters=letters)
    return reader, StoredCrawl(reader, Urls(), Config())


def listed(page: Letters) -> list[str]:
    return [one.url for one in page.letters]


@pytest.mark.parametrize("count", [200, 10_000])
def test_a_page_of_letters_asks_for_the_rows_that_it_shows(count: int) -> None:
    reader, kept = given_up(HREFS[:count])
    first = asyncio.run(kept.letters("status", 100, ""))
    assert listed(first) == HREFS[:count][-1:-101:-1]
    assert reader.asked == 101
    assert listed(asyncio.run(kept.letters(None, 50, first.next))) == HREFS[:count][-101:-151:-1]
    assert reader.asked == 101 + 51


def test_letters_that_hold_are_found_behind_many_that_do_not() -> None:
    _, kept = given_up(HREFS[:2500], fetched=2300)
    first = asyncio.run(kept.letters(None, 150, ""))
    assert listed(first) == HREFS[199:49:-1]
    last = asyncio.run(kept.letters(None, 150, first.next))
    assert (listed(last), last.next) == (HREFS[49::-1], "")


def test_what_was_found_in_time_is_a_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an answer that takes too long would never come, however often it is asked for."""
    monkeypatch.setattr(archive, "PATIENCE", 0.5)
    reader, kept = given_up(HREFS[:100], fetched=30)
    reader.answers = 40
    first = asyncio.run(kept.letters(None, 20, ""))
    assert listed(first) == HREFS[69:59:-1]
    with pytest.raises(Problem):
        asyncio.run(kept.letters(None, 20, first.next))
    reader.answers = len(HREFS)
    assert listed(asyncio.run(kept.letters(None, 20, first.next))) == HREFS[59:39:-1]

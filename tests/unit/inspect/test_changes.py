"""What is new, changed or gone since a moment."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from gregor.schemas.messages import Attempt, Page, Row, State
from gregor.worker.inspect import selection, url_record
from gregor.worker.inspect.changes import changes
from gregor.worker.inspect.selection import Selection
from tests.reading import MemoryReader, page, row

SINCE = 1000.0
URL = "http://a.test/"


def since(visited: Row, *versions: Page) -> list[tuple[str, float, int | None]]:
    async def listed() -> list[tuple[str, float, int | None]]:
        reader = MemoryReader([visited], versions)
        made = [change async for change in changes(reader, SINCE)]
        told: list[tuple[str, float, int | None]] = [(change.kind, change.at, change.before) for change in made]
        exported = [pair async for pair in selection.pages(reader, Selection(since=SINCE, changed=True))]
        listed = [record async for record in url_record.all_records(reader, Selection(since=SINCE, changed=True))]
        if not visited.requisite:  # `export --changed --since` and `pages` mean the same, without what is new
            assert len(exported) == len(listed) == sum(kind != "new" for kind, _, _ in told)
        return told

    return asyncio.run(listed())


def visited(
    attempts: Sequence[tuple[float, str]],
    versions: Sequence[int],
    state: State = "fetched",
    *,
    requisite: bool = False,
    texts: str = "abcdefghi",
) -> list[tuple[str, float, int | None]]:
    """``attempts``: when they were settled and what came of them; ``versions``: the visits that stored a document."""
    stored = [
        page(URL, visit=visit, fetched_at=attempts[visit - 1][0], fingerprint=texts[number].encode())
        for number, visit in enumerate(versions)
    ]
    statuses = {"fetched": 200, "unchanged": 304, "gone": 404, "denied": 404}
    tried = tuple(Attempt(at, outcome, statuses.get(outcome, 0)) for at, outcome in attempts)
    known = row(
        stored[-1],
        attempts=tried,
        visits=len(tried),
        state=state,
        outcome=tried[-1].outcome,
        status=tried[-1].status,
        page=versions[-1],
        first_seen=tried[0].at,
        changed=len(set(texts[: len(versions)])) - 1,
        requisite=requisite,
    )
    return since(known, *stored)


FETCHED = "fetched"


@pytest.mark.parametrize(
    ("attempts", "versions", "state", "change"),
    [
        ([(1000.0, FETCHED)], [1], "fetched", [("new", 1000.0, None)]),
        ([(999.0, FETCHED)], [1], "fetched", []),
        ([(500.0, "gone"), (1200.0, FETCHED)], [2], "fetched", [("new", 1200.0, None)]),
        ([(500.0, FETCHED), (1200.0, FETCHED)], [1], "fetched", []),  # what came was the same
        ([(500.0, FETCHED), (1200.0, FETCHED)], [1, 2], "fetched", [("changed", 1200.0, 1)]),
        ([(400.0, FETCHED), (500.0, FETCHED), (1200.0, FETCHED)], [1, 2, 3], "fetched", [("changed", 1200.0, 2)]),
        ([(400.0, FETCHED), (1100.0, FETCHED), (1200.0, FETCHED)], [1, 2, 3], "duplicate", [("changed", 1200.0, 1)]),
        ([(1100.0, FETCHED), (1200.0, FETCHED)], [1, 2], "fetched", [("new", 1200.0, None)]),
        ([(500.0, FETCHED), (1200.0, "gone")], [1], "gone", [("gone", 1200.0, 1)]),
        ([(500.0, FETCHED), (900.0, "gone"), (1200.0, "gone")], [1], "gone", []),  # it was before
        ([(500.0, FETCHED), (1100.0, "gone"), (1200.0, "gone")], [1], "gone", [("gone", 1100.0, 1)]),
        ([(1100.0, FETCHED), (1200.0, "gone")], [1], "gone", []),  # it came and went
        ([(500.0, FETCHED), (1100.0, FETCHED), (1200.0, "gone")], [1, 2], "gone", [("gone", 1200.0, 1)]),
        ([(500.0, FETCHED), (1200.0, "connect")], [1], "waiting", []),  # its host may come back
        ([(500.0, FETCHED), (1200.0, "dead")], [1], "dead", [("gone", 1200.0, 1)]),
        ([(500.0, FETCHED), (1200.0, "denied")], [1], "denied", [("gone", 1200.0, 1)]),
    ],
)
def test_a_page_against_what_was_there(
    attempts: list[tuple[float, str]], versions: list[int], state: State, change: list[tuple[str, float, int | None]]
) -> None:
    assert visited(attempts, versions, state) == change


@pytest.mark.parametrize(("texts", "change"), [("aa", []), ("aba", [("changed", 1200.0, 2)]), ("baa", [])])
def test_a_document_that_comes_again_with_its_text_is_no_change(texts: str, change: list[object]) -> None:
    visits = [(300.0 * number, FETCHED) for number in range(5 - len(texts), 5)]  # the last at 1200
    assert visited(visits, range(1, len(texts) + 1), texts=texts) == change


@pytest.mark.parametrize("again", ["unchanged", FETCHED])
def test_a_page_that_comes_back_is_new(again: str) -> None:
    assert visited([(300.0, FETCHED), (600.0, "gone"), (1200.0, again)], [1]) == [("new", 1200.0, 1)]
    assert visited([(300.0, FETCHED), (1100.0, "gone"), (1200.0, again)], [1]) == []


@pytest.mark.parametrize("between", ["timeout", "gone"])
def test_it_is_gone_once(between: str) -> None:
    assert visited([(300.0, FETCHED), (600.0, "gone"), (900.0, between), (1200.0, "gone")], [1], "gone") == []
    late = [(300.0, FETCHED), (900.0, "timeout"), (1200.0, "gone"), (1300.0, "timeout"), (1400.0, "gone")]
    assert visited(late, [1], "gone") == [("gone", 1200.0, 1)]


def test_what_pages_only_show_is_no_page() -> None:
    assert visited([(1000.0, FETCHED)], [1], requisite=True) == []


def test_what_was_never_there_is_not_gone() -> None:
    assert since(row(page(URL), page=0, state="gone", attempts=(Attempt(1200.0, "gone", 404),))) == []


@pytest.mark.parametrize(
    ("bodies", "state", "told"),
    [("aa", "fetched", []), ("ab", "fetched", [2]), ("aba", "fetched", [3]), ("aa", "duplicate", [2])],
)
def test_what_came_again_byte_for_byte_is_not_new_but_for_an_archive(
    bodies: str, state: State, told: list[int]
) -> None:
    """The last one came after the moment, those before it did not."""
    visits = range(1, len(bodies) + 1)
    versions = [page(URL, visit=visit, fetched_at=SINCE - 100, body=bodies[visit - 1].encode()) for visit in visits]
    versions[-1] = msgspec.structs.replace(versions[-1], fetched_at=SINCE + 100, state=state)
    tried = tuple(Attempt(version.fetched_at, "fetched", 200) for version in versions)
    known = row(versions[-1], attempts=tried, visits=len(tried), page=len(tried), first_seen=SINCE - 100)

    async def exported(every: bool) -> list[int]:
        reader, wanted = MemoryReader([known], versions), Selection(since=SINCE)
        return [newest.visit async for newest, _ in selection.pages(reader, wanted, versions=every)]

    assert asyncio.run(exported(False)) == told
    assert asyncio.run(exported(True)) == [len(bodies)]

"""What is new since a time: a page is there once its visit was settled, which may be long after it was fetched."""

import pytest

from gregor.schemas.messages import Attempt
from gregor.worker.inspect.selection import Selection
from gregor.worker.settle.rows import REMEMBERED_ATTEMPTS
from tests.reading import page, row

FETCHED = 1000.0


@pytest.mark.parametrize(
    ("visits", "there"),
    [
        ([1300.0], 1300.0),
        ([100.0, 1300.0], 1300.0),
        ([100.0, 1300.0, 5000.0], 1300.0),  # the last one brought nothing new
        ([1000.0], 1000.0),
        ([100.0], FETCHED),  # a version that no row tells of yet
        ([5000.0 + number for number in range(REMEMBERED_ATTEMPTS)], FETCHED),  # its own visit is forgotten
        ([], FETCHED),
    ],
)
def test_a_page_is_new_since_it_was_settled(visits: list[float], there: float) -> None:
    stored = page("http://a.test/", fetched_at=FETCHED)
    visited = row(stored, attempts=tuple(Attempt(at, "fetched", 200) for at in visits))
    assert Selection(since=there).takes(visited, stored)
    assert not Selection(since=there + 1).takes(visited, stored)

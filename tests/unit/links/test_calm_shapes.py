"""Shapes that bring something new again and again: few of their pages' words are looked at, and a trap is found all the
same."""

from collections.abc import Iterator

import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.links.rank import Rank
from gregor.worker.links.shape_score import CALM, LOOKED_AT
from gregor.worker.links.traps import Traps
from gregor.worker.web.urls import Urls

URLS = Urls()


class Site:
    """A host whose numbered pages are learnt one after another; counts those that were looked at."""

    def __init__(self, form: str = "http://a.test/list?page={}") -> None:
        self.traps = Traps()
        self.number = 0
        self.looked_at = 0
        self._form = form

    def page(self, text: str, copy_of: str = "") -> None:
        via, address = self._form.format(self.number), self._form.format(self.number + 1)
        self.number += 1
        url = URLS.parse(address)
        assert url is not None
        self.traps.learn(url, text=text, media=self._media(), copy_of=copy_of, via=via)

    def new_pages(self, count: int) -> None:
        for _ in range(count):
            self.page(f"Item {'x' * self.number}")

    @property
    def rank(self) -> Rank:
        url, via = URLS.parse(self._form.format(self.number + 1)), self._form.format(self.number)
        assert url is not None
        return self.traps.judge(Ticket(url.href, url.key, url.host, depth=9, via=via, link="a")).rank

    def _media(self) -> Iterator[str]:
        self.looked_at += 1
        yield from ()


def test_of_a_shape_that_brings_something_new_few_pages_are_looked_at() -> None:
    site = Site()
    site.new_pages(CALM)
    assert site.looked_at == CALM
    site.new_pages(100 * LOOKED_AT)
    assert site.looked_at <= CALM + 101


@pytest.mark.parametrize("honest", [0, CALM, CALM + 3, 200, 1000])
def test_what_leads_on_in_vain_after_many_new_pages_is_found_soon(honest: int) -> None:
    """The pages behind a list's end, a calendar's empty months."""
    site = Site()
    site.new_pages(honest)
    in_vain = 0
    while site.rank < Rank.SPENT:
        site.page("No results.")
        in_vain += 1
        assert in_vain <= 17 + 2 * LOOKED_AT
    for _ in range(20 + honest // 16):
        site.page("No results.")
    assert site.rank is Rank.REFUSED


@pytest.mark.parametrize("rhythm", [2, 3, 5, 7, 8])
def test_pages_in_vain_between_few_new_ones_are_seen_whatever_their_rhythm(rhythm: int) -> None:
    site = Site()
    site.new_pages(100)
    before = site.looked_at
    for number in range(20 * LOOKED_AT):
        site.page("No results." if number % rhythm else f"Item {'x' * site.number}")
    assert site.looked_at - before > 10 * LOOKED_AT, "suspected"


def test_one_copy_makes_a_shape_suspected_again() -> None:
    site = Site()
    site.new_pages(CALM + 1)
    looked_at = site.looked_at
    site.page("Item", copy_of="http://a.test/list?page=1")
    site.new_pages(CALM)
    assert site.looked_at == looked_at + 1 + CALM
    assert site.rank is Rank.OPEN


@pytest.mark.parametrize(
    ("calm", "trap"),
    [
        ("http://a.test/shop/item/{}", "http://a.test/shop/cal?m={}"),
        ("http://a.test/list?page={}", "http://a.test/cal?page={}"),  # the parameter alone is a shape of both
    ],
)
def test_a_calm_shape_hides_no_other_of_the_same_pages(calm: str, trap: str) -> None:
    """Pages of one section are of other shapes, too: each is judged by itself."""
    site = Site(calm)
    site.new_pages(200)
    calendar = Site(trap)
    calendar.traps = site.traps
    for _ in range(18):
        calendar.page("No events.")
    assert calendar.rank is Rank.SPENT

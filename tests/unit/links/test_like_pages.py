"""Pages that are alike are many, not endless: they come last, and none is refused."""

from itertools import product
from urllib.parse import urlsplit

import pytest

from gregor.worker.links.rank import ENDLESS_HOSTS
from gregor.worker.links.shape_score import LINE
from gregor.worker.links.traps import Traps
from gregor.worker.web.urls import Urls
from tests.unit import like_sites
from tests.unit.trap_sites import Answer, Site, crawl, reach


@pytest.mark.parametrize("name", like_sites.ALIKE)
def test_honest_pages_with_the_same_words_are_all_fetched(name: str) -> None:
    site = like_sites.ALIKE[name]
    crawled = crawl(site, "http://a.test/")
    assert not crawled.refused
    assert len(crawled.pages) == reach(site, "http://a.test/")


@pytest.mark.parametrize(
    ("form", "links"),
    [
        *product(["/row/{}", "/p.php?id={}", "/{:07}-post"], [(1,), (-1, 1), (-1, 1, -250, 250)]),
        *product(["/list?page={}", "/row/{}"], [(1, 2, 3), (-2, -1, 1, 2), (*range(-5, 6), -250, 250)]),
        ("/row/{:08x}/view", (1,)),
        ("/row/{0}/{0}", (-1, 1, -250, 250)),
    ],
)
def test_a_row_of_like_pages_that_lead_to_their_neighbours_alone_is_fetched_to_its_end(
    form: str, links: tuple[int, ...]
) -> None:
    """From its begin, or from its middle where pages lead back, too; or to the first and the last besides."""
    places = {form.format(number * 7919): number for number in range(250)}
    row = list(places)

    def site(url: str) -> Answer:
        parts = urlsplit(url)
        place = places.get(parts.path + (f"?{parts.query}" if parts.query else ""))
        if place is None:
            return "the same", [row[0 if min(links) > 0 else 125]]
        return "the same", [row[min(max(place + step, 0), 249)] for step in links]

    crawled = crawl(site, "http://a.test/")
    assert not crawled.refused
    assert len(crawled.pages) == 251


def test_a_row_without_end_is_left_at_some_time_and_sooner_on_a_site_with_much_else() -> None:
    def site(url: str) -> Answer:
        kind, _, number = urlsplit(url).path.strip("/").partition("/")
        if kind == "row":
            return "the same", [f"/row/{int(number) + 1}"]
        return f"page {'x' * int(number or 0)}", ["/row/0", *(f"/page/{page}" for page in range(1, others))]

    for others, most in ((1, 330), (300, 80)):
        crawled = crawl(site, "http://a.test/")
        assert crawled.refused["nothing new"] == 1
        assert len(crawled.pages) - others <= most


@pytest.mark.parametrize(
    ("site", "seed", "pages"),
    [(like_sites.parked, "http://www.park.test/", 210), (like_sites.mirrored, "http://a.test/page/0", 800)],
)
def test_a_copy_of_a_page_of_another_host_is_no_evidence(site: Site, seed: str, pages: int) -> None:
    crawled = crawl(site, seed)
    assert not crawled.refused
    assert len(crawled.pages) == pages


def test_who_lists_names_that_answer_alike_is_no_such_name() -> None:
    traps, urls = Traps(), Urls()
    pages = {name: urls.parse(f"http://{name}.park.test/") for name in ("www", "deep", "new", *map(str, range(50)))}
    www, deep, new = pages["www"], pages["deep"], pages["new"]
    assert www and deep and new
    traps.learn(www, text="Domains for sale")
    for number in range(50):
        page, via = pages[str(number)], www if number < 49 else pages["48"]
        assert page and via
        traps.learn(page, text="For sale", copy_of=deep.key, via=via.key)
    lists, listed, led = pages["www"], pages["3"], pages["49"]
    assert lists and listed and led
    assert traps.refuses(lists, new, "") is None
    assert traps.refuses(listed, new, www.key) is None
    assert traps.refuses(led, new, listed.key) == ENDLESS_HOSTS
    assert traps.refuses(deep, new, listed.key) == ENDLESS_HOSTS
    again = urls.parse(deep.href)
    assert again and traps.refuses(again, new, www.key) is None


def test_whole_numbers_between_two_others_lead_on_to_no_end() -> None:
    traps, urls = Traps(), Urls()
    before = ""
    for number in [0, 1000, *range(1, 40)]:
        page = urls.parse(f"http://a.test/p/{number}")
        assert page
        traps.learn(page, text=f"the same {number}", via=before)
        before = page.key
    assert traps._hosts["a.test"].shapes["/p/N"].line < LINE

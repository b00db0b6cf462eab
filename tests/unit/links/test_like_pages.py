"""Pages that are alike are many, not endless: they come last, and none is refused."""

import pytest

from tests.unit import like_sites
from tests.unit.trap_sites import Site, crawl, reach


@pytest.mark.parametrize("name", like_sites.ALIKE)
def test_honest_pages_with_the_same_words_are_all_fetched(name: str) -> None:
    site = like_sites.ALIKE[name]
    crawled = crawl(site, "http://a.test/")
    assert not crawled.refused
    assert len(crawled.pages) == reach(site, "http://a.test/")


@pytest.mark.parametrize(
    ("site", "seed", "pages"),
    [(like_sites.parked, "http://www.park.test/", 210), (like_sites.mirrored, "http://a.test/page/0", 200)],
)
def test_a_copy_of_a_page_of_another_host_is_no_evidence(site: Site, seed: str, pages: int) -> None:
    crawled = crawl(site, seed)
    assert not crawled.refused
    assert len(crawled.pages) == pages

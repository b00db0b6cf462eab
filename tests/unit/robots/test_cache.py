"""Which files are remembered: those that were used last."""

from gregor.worker.observe.stats import Stats
from gregor.worker.robots.cache import OriginRules, RobotsCache
from gregor.worker.robots.match import ALLOW_ALL

A, B, C = (f"http://{name}.example" for name in "abc")
RULES = OriginRules(ALLOW_ALL, 1.0)


def test_the_least_recently_used_file_is_forgotten_first() -> None:
    cache = RobotsCache(2, Stats())
    cache.keep(A, RULES, 100.0, unused=False)
    cache.keep(B, RULES, 100.0, unused=False)
    assert cache.find(A, 2.0) is not None
    cache.keep(C, RULES, 100.0, unused=False)
    assert [cache.find(origin, 2.0) is not None for origin in (A, B, C)] == [True, False, True]


def test_a_file_that_was_fetched_for_a_url_holds_for_that_one_however_short_its_life_is() -> None:
    cache = RobotsCache(2, Stats())
    cache.keep(A, RULES, 10.0, unused=True)
    assert cache.find(A, 50.0) is not None
    assert cache.find(A, 51.0) is None, "and for no other one"


def test_its_sitemaps_are_published_once_as_long_as_it_is_remembered() -> None:
    cache = RobotsCache(2, Stats())
    cache.announced(A)
    cache.keep(A, RULES, 100.0, unused=False)
    file = cache.find(A, 2.0)
    assert file is not None
    assert not file.announced
    cache.announced(A)
    assert file.announced

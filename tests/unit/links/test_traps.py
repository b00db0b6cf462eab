"""Traps: made-up ones end soon, ordinary sites are crawled whole, and nothing a site does grows the memory."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.links.traps import FRESH, STALE, Traps, shapes
from gregor.worker.links.url_loops import malformed
from gregor.worker.web.urls import Url, Urls
from tests.unit import trap_sites
from tests.unit.trap_sites import Site, crawl
from tests.web.shared import SHARED

URLS = Urls()


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def months(traps: Traps, count: int, *, fresh: bool, text: str = "No events.") -> None:
    for month in range(count):
        traps.learn(url(f"http://a.test/cal?m={month}"), fresh=fresh, text=text)


@pytest.mark.parametrize(
    ("site", "seed", "most", "reason"),
    [
        (trap_sites.month_numbers, "http://a.test/cal", 110, "endless numbers"),
        (trap_sites.timestamps, "http://a.test/week", 110, "endless numbers"),
        (trap_sites.soft_404, "http://a.test/list", 110, "endless numbers"),
        (trap_sites.month_names, "http://a.test/calendar", 110, "nothing new"),
        (trap_sites.days_and_months, "http://a.test/events?view=month", 2500, "endless numbers"),
        (trap_sites.sessions, "http://a.test/", 200, "nothing new"),
        (trap_sites.facets, "http://a.test/search?q=x", 60, "growing URLs"),
        (trap_sites.named_facets, "http://a.test/shoes", 150, "growing URLs"),
        (trap_sites.entities, "http://a.test/list?p=1", 20, "growing URLs"),
        (trap_sites.copies, "http://a.test/?q=", 4, "repeated parameters"),
        (trap_sites.relative, "http://a.test/", 30, "repeated path segments"),
        (trap_sites.two_words, "http://a.test/", 70, "repeated path segments"),
        (trap_sites.any_path, "http://a.test/", 500, "growing URLs"),
        (trap_sites.glued, "http://a.test/x/", 25, "repeated text"),
        (trap_sites.come_back, "http://a.test/login", 8, "escapes of escapes"),
        (trap_sites.wildcard, "http://x0.trap.test/", 100, "endless hosts"),
    ],
)
def test_a_trap_ends(site: Site, seed: str, most: int, reason: str) -> None:
    crawled = crawl(site, seed, limit=5000)
    assert len(crawled.pages) <= most
    assert reason in crawled.refused


@pytest.mark.parametrize(("site", "pages"), [(trap_sites.articles, 2000), (trap_sites.numbered, 1900)])
def test_a_site_with_thousands_of_numbered_pages_is_no_trap(site: Site, pages: int) -> None:
    crawled = crawl(site, "http://a.test/", limit=5000)
    assert len(crawled.pages) >= pages
    assert not crawled.refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://a.test/area/sub/area/sub/area/sub/area/", "repeated path segments"),
        ("http://a.test/en/x/en/y/en/z/en/", "repeated path segments"),
        ("http://a.test/page/2/page/3/page/4/page/5", "repeated path segments"),
        ("http://a.test/" + "/".join(f"d{n}" for n in range(50)), "too many path segments"),
        ("http://a.test/?q=&q=&q=&q=", "repeated parameters"),
        ("http://a.test/?a=1;a=1;a=1;a=1", "repeated parameters"),
        ("http://a.test/?" + "&".join(f"id={n}" for n in range(20)), "repeated parameter names"),
        ("http://a.test/?" + "&".join(f"p{n}={n}" for n in range(60)), "too many parameters"),
        ("http://a.test/?next=%252525252Fa", "escapes of escapes"),
        ("http://" + "www." * 12 + "a.test/", "too many host labels"),
        ("http://a.test/" + "index.html" * 20, "repeated text"),
    ],
)
def test_loops_and_heaps_are_seen_in_the_url_itself(text: str, reason: str) -> None:
    assert malformed(url(text)) == reason


@pytest.mark.parametrize(
    "text",
    [
        "http://a.test/a/a/",
        "http://a.test/a/a/a",
        "http://a.test/2024/11/11/",
        "http://a.test/tiles/0/0/0/0/0/0/12.png",
        "http://a.test/11/11/11/11/",
        "http://a.test/?id=1&id=2&id=3&id=4&id=5&id=6",
        "http://a.test/?a=&b=&c=&d=&e=",
        "http://a.test/?next=%2525252Fa",
        "http://a.test/x?a=1&amp;b=2&amp;c=3&amp;d=4&amp;e=5",
        "http://a.test/x/" + "0" * 300,
        "http://192.0.2.1/a/b/c/d/e/f/g/",
        "http://[2001:db8::1]/",
    ],
)
def test_ordinary_urls_pass(text: str) -> None:
    assert malformed(url(text)) is None
    assert Traps().refuses(url("http://a.test/"), url(text)) is None


def test_only_links_within_spent_shapes_are_refused() -> None:
    traps = Traps()
    months(traps, 60, fresh=False)
    month = url("http://a.test/cal?m=7")
    assert traps.refuses(month, url("http://a.test/cal?m=61")) == "nothing new"
    assert traps.refuses(month, url("http://a.test/news/61")) is None
    assert traps.refuses(url("http://a.test/"), url("http://a.test/cal?m=61")) is None
    assert traps.refuses(url("http://b.test/cal?m=1"), url("http://b.test/cal?m=2")) is None
    assert traps.refuses(month, url("http://b.test/cal?m=2")) is None


def test_something_new_opens_a_shape_again() -> None:
    traps = Traps()
    months(traps, 60, fresh=False)
    traps.learn(url("http://a.test/cal?m=61"), fresh=True, text="A concert!")
    assert traps.refuses(url("http://a.test/cal?m=61"), url("http://a.test/cal?m=62")) is None


def test_one_new_page_in_eight_is_enough() -> None:
    assert 7 * STALE <= FRESH
    traps = Traps()
    for number in range(4000):
        page = url(f"http://a.test/p/{number}")
        traps.learn(page, fresh=number % 8 == 0, text=f"{'xy' * number} of a site")
        assert traps.refuses(page, url(f"http://a.test/p/{number + 1}")) is None


def test_pages_without_text_are_new_when_their_bytes_are() -> None:
    traps = Traps()
    months(traps, 500, fresh=True, text="\n")
    assert traps.refuses(url("http://a.test/cal?m=1"), url("http://a.test/cal?m=501")) is None


def test_shapes_leave_out_what_varies() -> None:
    assert shapes(url("http://a.test/news/2024/may/12")) == ("/news/N/N/N",)
    assert shapes(url("http://a.test/cal?m=-3&view=month")) == ("/cal?", "?m=&view=month")
    assert shapes(url("http://a.test/s/366fcef96274d9b3/help")) == ("/s/N/help",)
    assert shapes(url("http://a.test/about")) == ()
    assert shapes(url("http://a.test/a/b/a/")) == ("/**",)
    assert shapes(url("http://a.test/mayor/marble")) == ()


SEGMENTS = st.lists(st.sampled_from(["a", "b", "2024", "x1", "", "%25", "may", "0000000a", "é"]), max_size=12)
PAIRS = st.lists(st.sampled_from(["q=", "q=1", "m=-3", "f[1]=x", "&", ";", "=", "date=2024-01-01", "%"]), max_size=8)
ANY_URL = st.builds(
    lambda host, path, query: url(f"http://{host}/{'/'.join(path)}?{'&'.join(query)}"),
    st.sampled_from(["a.test", "x1.b.test", "x2.b.test", "192.0.2.1:81", "[2001:db8::1]"]),
    SEGMENTS,
    PAIRS,
)
STEPS = st.lists(st.tuples(ANY_URL, ANY_URL, st.booleans(), st.sampled_from(["", "same", "\ud800 7", "page 12"])))


@given(STEPS, st.integers(1, 20))
def test_never_fails_never_grows_and_always_decides_alike(steps: list[tuple[Url, Url, bool, str]], most: int) -> None:
    first, second = Traps(most), Traps(most)
    for source, target, fresh, text in steps:
        assert first.refuses(source, target) == second.refuses(source, target)
        first.learn(source, fresh=fresh, text=text)
        second.learn(source, fresh=fresh, text=text)
        assert len(first) <= max(most, 66)


@given(st.text(max_size=300))
def test_any_text_of_a_url_can_be_judged(text: str) -> None:
    traps, page = Traps(), url("http://a.test/")
    if (target := URLS.resolve(text, page.href)) is not None:
        traps.learn(target, fresh=False, text=text)
        malformed(target)
        traps.refuses(target, target)


def test_many_hosts_and_shapes_are_forgotten_in_turn() -> None:
    traps = Traps(500)
    for host in range(300):
        for path in range(5):
            traps.learn(url(f"http://h{host}.test/{'x' * path}/{path}"), fresh=True, text="text")
    for path in range(1000):
        traps.learn(url(f"http://flood.test/{'x' * path}/1"), fresh=True, text="text")
    assert len(traps) <= 500


def test_recorded_urls_are_never_refused_for_their_text() -> None:
    index = SHARED / "realweb" / "index.jsonl.gz"
    if not index.is_file():
        pytest.skip(f"{index} is missing")
    with gzip.open(index, "rt", encoding="utf-8") as lines:
        found = [parsed for line in lines if (parsed := URLS.parse(json.loads(line)["url"]))]
    assert len(found) > 10_000
    assert [target.href for target in found if malformed(target)] == []

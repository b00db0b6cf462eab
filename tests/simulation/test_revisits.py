"""Visits that come again: what sitemaps say moves them, and no fault around it loses one or makes one too many."""

from email.utils import formatdate
from typing import Any

import pytest

from tests.simulation.clock import WALL_EPOCH
from tests.simulation.faults import Fault
from tests.simulation.resources import Changing, File, Redirect, Resource, Status
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, OTHER, crawl, page, requests, row, site, star
from tests.simulation.web import Web

SETTINGS: dict[str, Any] = {
    "sitemaps": True, "revisit": 40.0, "revisit_min": 10.0, "revisit_max": 10_000.0, "max_time": 130.0, "partitions": 1,
}  # fmt: skip


def sitemap(changed_at: float, frequency: str = "yearly") -> File:
    """A sitemap that says when /p0 changed (virtual seconds); of /p1 it always says the same."""
    entries = [("/p0", changed_at), ("/p1", -50.0)]
    urls = "".join(
        f"<url><loc>http://{HOST}{path}</loc><lastmod>{formatdate(WALL_EPOCH + at)}</lastmod>"
        f"<changefreq>{frequency}</changefreq></url>"
        for path, at in entries
    )
    return File(f"<urlset>{urls}</urlset>".encode(), "application/xml")


def resources(first: File, then: File) -> dict[str, Resource]:
    return star(2) | {"/sitemap.xml": Changing(first, then)}


def test_a_page_that_a_sitemap_says_has_changed_is_visited_before_its_time() -> None:
    run = crawl([site(resources(sitemap(-900.0), sitemap(20.0)))], **SETTINGS)
    assert len(requests(run, "/sitemap.xml")) >= 2
    assert len(requests(run, "/p0")) == 2, "once for the news, and it is no news any more"
    assert len(requests(run, "/p1")) == 1, "a year is longer than the run"
    assert row(run, "/p0").changefreq == "yearly"


def test_the_frequency_that_a_sitemap_states_brings_visits_forward() -> None:
    quick = resources(sitemap(-900.0, "never"), sitemap(-900.0, "always"))
    run = crawl([site(quick)], **SETTINGS | {"recently_sent": 0})
    assert len(requests(run, "/p1")) >= 3


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("op", ["put_entries", "put_rows"])
def test_a_worker_dies_while_it_hears_news(op: str, when: Any, n: int) -> None:
    run = crawl([site(resources(sitemap(-900.0), sitemap(20.0)))], Fault("die", "store", op, n, when), **SETTINGS)
    assert 2 <= len(requests(run, "/p0")) <= 4, "that of the fault, and one more for the longer run"
    assert row(run, "/p0").visits >= 2


@pytest.mark.parametrize("n", range(1, 4))
def test_a_page_is_visited_again_though_its_first_settle_was_cut_short(n: int) -> None:
    run = crawl(
        [site({"/": page("only")})], Fault("die", "store", "put_page", n, "after"), revisit=20.0, max_time=150.0
    )
    assert row(run, "/").visits >= 3


def test_a_page_that_comes_again_as_it_was_did_not_change() -> None:
    run = crawl([site({"/": page("only")})], revisit=20.0, max_time=150.0)
    kept = row(run, "/")
    assert (kept.changed, kept.unchanged) == (0, kept.visits - 1)
    gaps = [later - earlier for earlier, later in zip(requests(run, "/"), requests(run, "/")[1:], strict=False)]
    assert gaps == sorted(gaps)


def test_a_page_that_is_stored_anew_owns_its_content_anew() -> None:
    run = crawl([site({"/": page("only")})], revisit=20.0, max_time=150.0)
    claims = [effect for effect in run.world.journal if effect.op == "claim"]
    assert len(claims) == row(run, "/").visits > 2


@pytest.mark.parametrize(("etag", "state"), [('"1"', "fetched"), ("", "dead")])
def test_a_304_speaks_of_a_version_that_could_be_asked_about(etag: str, state: str) -> None:
    only = Changing(File(b"the first version", "text/plain", etag), Status(304))
    run = scripted(Web([site({"/": only})]), [], settings=config(revisit=20.0, max_time=150.0))()
    assert not run.failures
    assert (row(run, "/").state, row(run, "/").status) == (state, 304)


def gated() -> dict[str, Resource]:
    """A page that sends whoever has no cookie around by two others; and a ring that no cookie opens."""
    return star(1, members=Changing(Redirect(302, "/hello"), page("membersx")), ring=Redirect(302, "/ring2")) | {
        "/hello": Redirect(302, "/cookie"),
        "/cookie": Redirect(302, "/members"),
        "/ring2": Redirect(302, "/ring"),
    }


def test_a_redirect_that_comes_back_with_a_cookie_is_followed() -> None:
    run = crawl([site(gated())], cookies=True, max_redirects=6)
    assert (row(run, "/members").state, len(requests(run, "/members"))) == ("fetched", 2)
    assert [len(requests(run, path)) for path in ("/hello", "/cookie", "/p0")] == [1, 1, 1]
    assert len(requests(run, "/ring")) + len(requests(run, "/ring2")) == 7, "as many hops as are allowed"


def test_without_cookies_a_redirect_that_comes_back_finds_the_same() -> None:
    run = crawl([site(star(1, ring=Redirect(302, "/ring2")) | {"/ring2": Redirect(302, "/ring")})])
    assert [len(requests(run, path)) for path in ("/ring", "/ring2")] == [1, 1]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("op", "n"), [("put_entries", 1), ("put_rows", 5), ("put_rows", 6)])
def test_a_worker_dies_while_a_redirect_comes_back(op: str, n: int, when: Any) -> None:
    run = crawl([site(gated())], Fault("die", "store", op, n, when), cookies=True, max_redirects=6)
    assert (row(run, "/members").state, row(run, "/members").visits) == ("fetched", 2)


def test_known_pages_take_no_more_than_their_share_while_new_ones_wait() -> None:
    """A host of few pages that come again at once, beside one of many new ones; and all are found again in the end."""
    first = page("first", *(f"/p{number}" for number in range(6)), f"http://{OTHER}/")
    sites = [site(star(6) | {"/": first}), site(star(60), OTHER)]
    settings: dict[str, Any] = {"revisit": 4.0, "revisit_max": 8.0, "max_time": 130.0, "partitions": 1}
    shares = {}
    for share in (None, 0.2, 0.0):
        run = crawl(sites, revisit_share=share, **settings)
        log = [entry for entry in run.web.log if entry.path != "/robots.txt"]
        times = [requests(run, f"/p{number}", OTHER) for number in range(60)]
        last_new = max(of_page[0] for of_page in times if of_page)
        until = [(entry.host, entry.path) for entry in log if entry.start <= last_new]
        shares[share] = 1 - len(set(until)) / len(until)
        if share is not None:
            assert all(times)
            assert any(entry.start > last_new and entry.host == HOST for entry in log), "then all is theirs"
    assert shares[None] > 0.3
    assert shares[0.2] <= 0.22
    assert shares[0.0] <= 0.02

"""Sitemaps on other hosts than the pages' (sitemaps.org, "cross submits"): read where a site of the crawl announces
them, while the scope says which of their pages belong to it."""

import pytest

from tests.simulation.check_requests import obedient, polite
from tests.simulation.crawl import Run
from tests.simulation.resources import File, Redirect, Resource
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, page, requests, site
from tests.simulation.web import FOREVER, RobotsPhase, Site, Web

AWAY = "s1.maps.example"


def crawl(*sites: Site, **settings: object) -> Run:
    """A crawl with sitemaps. What only a sitemap names is not among the links that the whole checker walks along."""
    run = scripted(Web(list(sites)), [], settings=config(sitemaps=True, **settings))()
    assert run.finished
    assert not [*run.failures, *polite(run), *obedient(run)]
    return run


def announcing(*sitemaps: str) -> tuple[RobotsPhase, ...]:
    """A robots.txt that names these."""
    return (RobotsPhase(FOREVER, "".join(f"Sitemap: {url}\n" for url in sitemaps).encode()),)


def listing(*urls: str, index: bool = False) -> File:
    root, entry = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return File(f"<{root}>{entries}</{root}>".encode(), "application/xml")


def test_a_sitemap_on_another_host_is_read_and_its_pages_are_judged_by_the_scope() -> None:
    away: dict[str, Resource] = {
        "/index.xml": listing(f"http://{AWAY}/pages.xml", "http://s2.maps.example/more.xml", index=True),
        "/pages.xml": listing(f"http://{HOST}/hidden", f"http://{AWAY}/private"),
        "/private": page("private"),
        "/sitemap.xml": listing(f"http://{HOST}/unannounced"),
        "/own.xml": listing(f"http://{HOST}/unannounced"),
    }
    here: dict[str, Resource] = {"/": page("first"), "/hidden": page("hidden"), "/unannounced": page("unannounced")}
    run = crawl(
        site(here, robots=announcing(f"http://{AWAY}/index.xml")),
        site(away, AWAY, robots=announcing(f"http://{AWAY}/own.xml")),
        site({"/more.xml": listing(f"http://{HOST}/unannounced")}, "s2.maps.example"),
    )
    assert requests(run, "/hidden")
    assert len(requests(run, "/robots.txt", AWAY)) == 1, "its owner is asked as any other"
    assert not requests(run, "/private", AWAY)
    assert not requests(run, "/unannounced"), "what is out of the scope announces nothing"
    assert not requests(run, "/more.xml", "s2.maps.example"), "an index speaks for its own host"


def test_a_sitemap_may_have_moved_to_another_host() -> None:
    here: dict[str, Resource] = {
        "/": page("first"),
        "/hidden": page("hidden"),
        "/sitemap.xml": Redirect(301, f"http://{AWAY}/moved.xml"),
    }
    run = crawl(site(here), site({"/moved.xml": listing(f"http://{HOST}/hidden")}, AWAY))
    assert requests(run, "/hidden")


def test_a_robots_txt_sends_us_to_few_sitemaps_of_other_people() -> None:
    maps = [f"/{number}.xml" for number in range(50)]
    run = crawl(
        site({"/": page("first")}, robots=announcing(*(f"http://{AWAY}{path}" for path in maps))),
        site({path: listing() for path in maps}, AWAY),
    )
    assert sum(len(requests(run, path, AWAY)) for path in maps) == 20


def test_robots_txt_holds_for_a_sitemap_on_another_host() -> None:
    run = crawl(
        site({"/": page("first")}, robots=announcing(f"http://{AWAY}/no/map.xml")),
        site({"/no/map.xml": listing(f"http://{HOST}/hidden")}, AWAY, disallowed=("/no/",)),
    )
    assert requests(run, "/robots.txt", AWAY)
    assert not requests(run, "/no/map.xml", AWAY)


@pytest.mark.parametrize(
    "scope",
    [
        {"include": ("*/docs/*", "*.xml")},
        {"include": ("*/docs/*",)},
        {"scope": "prefixes", "prefixes": (f"http://{HOST}/docs/",)},
    ],
)
def test_a_seed_outside_the_scope_is_of_a_site_of_the_crawl(scope: dict[str, object]) -> None:
    here: dict[str, Resource] = {
        "/": page("first"),
        "/map.xml": listing(f"http://{HOST}/docs/hidden"),
        "/docs/hidden": page("hidden"),
    }
    run = crawl(site(here, robots=announcing(f"http://{HOST}/map.xml")), **scope)
    assert requests(run, "/docs/hidden")


def test_a_page_announces_the_sitemaps_of_its_host_though_a_sitemap_of_others_was_asked_for_before() -> None:
    away: dict[str, Resource] = {
        "/theirs.xml": listing(f"http://{AWAY}/docs/first"),
        "/own.xml": listing(f"http://{AWAY}/docs/hidden"),
        "/docs/first": page("docs"),
        "/docs/hidden": page("hidden"),
    }
    run = crawl(
        site({"/": page("first")}, robots=announcing(f"http://{AWAY}/theirs.xml")),
        site(away, AWAY, robots=announcing(f"http://{AWAY}/own.xml")),
        scope="any",
        include=(f"http://{HOST}/*", "*/docs/*"),
    )
    assert requests(run, "/theirs.xml", AWAY)[0] < requests(run, "/own.xml", AWAY)[0]
    assert requests(run, "/docs/hidden", AWAY)


def test_an_index_sends_us_to_few_sitemaps_of_other_people() -> None:
    maps = [f"/{number}.xml" for number in range(50)]
    away: dict[str, Resource] = {"/index.xml": listing(*maps, index=True)}
    run = crawl(
        site({"/": page("first")}, robots=announcing(f"http://{AWAY}/index.xml")),
        site(away | {path: listing() for path in maps}, AWAY),
    )
    assert sum(len(requests(run, path, AWAY)) for path in maps) == 20


def test_an_index_in_the_scope_names_as_many_sitemaps_as_it_likes() -> None:
    maps = [f"/{number}.xml" for number in range(30)]
    here: dict[str, Resource] = {"/": page("first"), "/sitemap.xml": listing(*maps, index=True)}
    run = crawl(site(here | {path: listing() for path in maps}))
    assert all(requests(run, path) for path in maps)

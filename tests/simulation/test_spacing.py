"""A host is left alone for its delay whatever became of the request before, and whoever it waited for."""

import pytest

from tests.simulation.resources import Html, Link, Resource, Unusable
from tests.simulation.sites import HOST, OTHER, crawl, flaky, page, requests, row, site, star
from tests.simulation.web import CUT, FOREVER, RobotsPhase, Site


@pytest.mark.parametrize("failure", ["too_large_headers", "decode"])
def test_after_an_answer_that_is_none(failure: str) -> None:
    none = {f"n{number}": Unusable(failure) for number in range(4)}  # type: ignore[arg-type]
    run = crawl([site(star(2, **none))])
    assert row(run, "/n3").state == "dead"


@pytest.mark.parametrize("n", range(3))
def test_after_a_robots_txt_that_was_asked_for_in_vain(n: int) -> None:
    """What was known before holds on, and so does the delay between that request and the next page's."""
    host = site(star(20, secret=page("secret")), disallowed=("/secret",), crawl_delay=3.0 * (n == 2))
    host.robots = (RobotsPhase(4.0, host.robots_file()), RobotsPhase(FOREVER, CUT))
    run = crawl([host], robots_ttl=5.0, failure_ttl=7.0, delay=(0.5, 2.0, 1.0)[n])
    assert len(requests(run, "/robots.txt")) > 2
    assert row(run, "/secret").state == "denied"


def test_after_it_waited_for_its_address_more_than_once() -> None:
    """Room at the address is no reason to come before a Retry-After is over."""
    slow: dict[str, Resource] = {f"/p{number}": page(f"slow{number}x") for number in range(30)}
    others = {"/busy": flaky(429, after=60.0), **star(5)}
    first = Html("first", (*(Link(f"http://{OTHER}{path}") for path in others), *map(Link, slow)))
    hosts = [Site(HOST, ("11.0.0.1",), 3.0, {"/": first} | slow), Site(OTHER, ("11.0.0.1",), 0.1, others)]
    run = crawl(hosts, per_address=1, delay=0.1, partitions=1)
    assert row(run, "/busy", OTHER).state == "fetched"


@pytest.mark.parametrize("pause", [2.0, 3.0, 5.0])
def test_what_a_host_put_off_is_asked_for_when_it_is_due(pause: float) -> None:
    """An appointment is kept also where the partition had nothing more to read when it was made."""
    others = [Site(f"h{n}.site.example", (f"11.0.0.{n}",), 0.1, {"/": flaky(429, after=pause)}) for n in range(2, 9)]
    links = tuple(Link(f"http://{other.host}/") for other in others)
    run = crawl([Site(HOST, ("11.0.0.1",), 0.1, {"/": Html("first", links)}), *others], partitions=16, bucket_width=0.5)
    for other in others:
        first, second = requests(run, "/", other.host)
        assert pause <= second - first < pause + 2.0

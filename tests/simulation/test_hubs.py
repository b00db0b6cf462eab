"""Hundreds of hosts whose robots.txt or sitemaps live on one slow host: none is held for ever, no URL is lost."""

import pytest

from gregor.schemas.messages import Row
from tests.simulation.check_requests import polite
from tests.simulation.crawl import Run
from tests.simulation.faults import Fault
from tests.simulation.resources import File, Redirect, Resource
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import page
from tests.simulation.test_sitemaps import listing
from tests.simulation.web import FOREVER, RobotsPhase, Site, Web

HUB = "hub.elsewhere.example"
ASKERS = 200
RULES = File(b"User-agent: *\nDisallow: /private\n", "text/plain")


def asker(number: int, robots: tuple[RobotsPhase, ...]) -> Site:
    """A host with two pages, a third that its robots.txt forbids, and a fourth that only a sitemap names."""
    resources: dict[str, Resource] = {
        "/": page(f"first{number}x", "/a", "/private"),
        "/a": page(f"a{number}x"),
        "/private": page(f"private{number}x"),
        "/hidden": page(f"hidden{number}x"),
    }
    host = f"h{number}.site{number}.example"
    return Site(host, (f"11.0.{number // 200}.{number % 200 + 1}",), 0.1, resources, robots=robots)


def moved(path: str) -> tuple[RobotsPhase, ...]:
    return (RobotsPhase(FOREVER, f"http://{HUB}{path}"),)


def crawl(sites: list[Site], hub: dict[str, Resource], *faults: Fault, workers: int = 1, **more: object) -> Run:
    """A crawl from each site's first page, whose hub answers once a second."""
    settings = config(**{"scope": "any", "concurrency": 64, **more})
    web = Web([Site(HUB, ("12.0.0.1",), 0.2, hub), *sites])
    seeds = [f"http://{site.host}/" for site in sites]
    run = scripted(web, list(faults), workers=workers, settings=settings, seeds=seeds)()
    assert run.finished
    assert not [*run.failures, *polite(run)]
    return run


def asked(run: Run, path: str = "/robots.txt") -> int:
    """Requests to all hosts but the hub for a path."""
    return sum(exchange.host != HUB and exchange.path == path for exchange in run.web.log)


def rows(run: Run, path: str) -> list[Row]:
    return [row for key, row in run.world.store.rows_by_key.values.items() if key.endswith(f".example{path}")]


def all_obeyed(run: Run, askers: int) -> bool:
    ends = [{row.state for row in rows(run, path)} for path in ("/", "/a", "/private")]
    return ends == [{"fetched"}, {"fetched"}, {"denied"}] and len(rows(run, "/private")) == askers


def test_one_request_for_a_file_answers_all_who_wait_for_it() -> None:
    run = crawl([asker(number, moved("/shared.txt")) for number in range(ASKERS)], {"/shared.txt": RULES})
    assert all_obeyed(run, ASKERS)
    assert sum(exchange.host == HUB for exchange in run.web.log) < 10
    assert asked(run) == ASKERS
    assert run.ended < 60.0


def test_a_long_queue_of_the_hub_is_no_failure() -> None:
    """Each host has a file of its own there, so that the last answer comes long after the first wait for it."""
    hub: dict[str, Resource] = {f"/{number}.txt": RULES for number in range(ASKERS)}
    run = crawl([asker(number, moved(f"/{number}.txt")) for number in range(ASKERS)], hub, robots_answer=20.0)
    assert all_obeyed(run, ASKERS)
    assert sum(exchange.host == HUB for exchange in run.web.log) == ASKERS
    assert asked(run) == ASKERS, "no walk began anew"
    assert run.ended < 1.5 * ASKERS


def test_the_hubs_owner_may_die_meanwhile() -> None:
    hub: dict[str, Resource] = {f"/{number}.txt": RULES for number in range(40)}
    sites = [asker(number, moved(f"/{number}.txt")) for number in range(40)]
    run = crawl(sites, hub, Fault("die", "store", "put_robots", 10), workers=2, robots_answer=10.0)
    assert all_obeyed(run, 40)


def test_a_hub_that_fails_answers_all_at_once_and_its_hosts_end() -> None:
    """One request a probe, whoever waits; and the hosts' URLs are given up in the end, as by a failure of their own."""
    sites = [asker(number, moved("/shared.txt")) for number in range(40)]
    hub: dict[str, Resource] = {}
    web = Web([Site(HUB, ("12.0.0.1",), 0.2, hub, dead_until=FOREVER), *sites])
    seeds = [f"http://{site.host}/" for site in sites]
    run = scripted(web, [], settings=config(scope="any", concurrency=64, host_failures=2), seeds=seeds)()
    assert run.finished
    assert {row.state for row in rows(run, "/")} == {"dead"}
    assert asked(run, "/") == 0


def test_the_sitemaps_of_many_hosts_may_be_on_one() -> None:
    def announced(number: int) -> tuple[RobotsPhase, ...]:
        return (RobotsPhase(FOREVER, f"Sitemap: http://{HUB}/{number}.xml\n".encode()),)

    sites = [asker(number, announced(number)) for number in range(60)]
    hub: dict[str, Resource] = {
        f"/{site.host[1:].split('.')[0]}.xml": listing(f"http://{site.host}/hidden") for site in sites
    }
    run = crawl(sites, hub, sitemaps=True)
    assert [row.state for row in rows(run, "/hidden")] == ["fetched"] * 60
    assert run.ended < 200.0


@pytest.mark.parametrize(
    ("way", "hosts", "delay"),
    [
        pytest.param(("a", "a", "b", "b", "b"), 1, 4.0, id="five hops"),
        pytest.param(("b", "c", "d", "e"), 1, 4.0, id="each on another host"),
        pytest.param(("b", "a", "b", "a"), 1, 4.0, id="to and fro"),
        pytest.param(("b", "c", "c", "d"), 40, 1.0, id="many hosts on the way of one"),
    ],
)
def test_a_robots_txt_that_moves_over_several_hosts_is_followed_to_its_end(
    way: tuple[str, ...], hosts: int, delay: float
) -> None:
    """Where the file is after each hop; what holds is the last one's, for the host that was asked first."""

    def place(hop: int, first: str) -> str:
        return f"http://{first if way[hop] == 'a' else f'{way[hop]}.elsewhere.example'}/{hop}.txt"

    names = [f"h{number}.site{number}.example" for number in range(hosts)]
    sites = [asker(number, (RobotsPhase(FOREVER, place(0, name)),)) for number, name in enumerate(names)]
    hubs: dict[str, dict[str, Resource]] = {f"{name}.elsewhere.example": {} for name in "bcde"}
    for hop, where in enumerate(way):
        for site in sites:
            resource = RULES if hop == len(way) - 1 else Redirect(302, place(hop + 1, site.host))
            (site.resources if where == "a" else hubs[f"{where}.elsewhere.example"])[f"/{hop}.txt"] = resource
    web = Web([*(Site(name, (f"12.0.0.{ord(name[0])}",), 0.2, hubs[name]) for name in hubs), *sites])
    seeds = [f"http://{name}/" for name in names]
    run = scripted(web, [], settings=config(scope="any", concurrency=64, delay=delay), seeds=seeds)()
    assert run.finished
    assert not [*run.failures, *polite(run)]
    assert all_obeyed(run, hosts)
    assert run.ended < 10.0 + 2.0 * delay * (len(way) + 4)

"""Webs drawn at random: small, and full of what goes wrong."""

from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

from tests.simulation.resources import File, Flaky, Html, Link, Redirect, Resource, Status, Unusable
from tests.simulation.web import CUT, RobotsPhase, Site, Web

DOMAIN = "site.example"
"""All hosts but those of OUTSIDE lie in this domain."""
OUTSIDE = "other.example"
SEED = f"http://h0.{DOMAIN}/"

_LIST = (
    "able",
    "bold",
    "calm",
    "dark",
    "east",
    "fine",
    "gold",
    "high",
    "iron",
    "just",
    "kind",
    "long",
    "main",
    "next",
    "open",
    "pale",
    "quick",
    "rare",
    "slow",
    "tall",
)


def words(chance: Random, count: int = 60) -> str:
    """A text that is near no other."""
    return " ".join(chance.choice(_LIST) + str(chance.randrange(10_000)) for _ in range(count))


def drawn(seed: int, *, hosts: int = 0, pages: int = 0) -> Web:
    """A web of some hosts whose sizes are log-normal, all of it reachable from SEED but what must not be."""
    chance = Random(f"web {seed}")
    count = hosts or chance.randint(3, 7)
    sites = [_empty_site(chance, number) for number in range(count)]
    for number, site in enumerate(sites):
        size = pages or max(1, min(24, round(chance.lognormvariate(1.3, 0.8))))
        _fill(chance, site, size, [f"http://{other.host}/" for other in sites[number + 1 : number + 3]])
    for number, site in enumerate(sites):
        _oddities(chance, site, sites)
        if number:
            before = sites[number - 1]
            _server(chance, site, before if _healthy(before) else sites[0])
    outside = Site(f"www.{OUTSIDE}", ("11.9.9.9",), resources={"/": Html(words(chance))})
    return Web([*sites, outside])


def _empty_site(chance: Random, number: int) -> Site:
    return Site(f"h{number}.{DOMAIN}", (f"11.0.0.{number + 1}",), latency=chance.choice((0.05, 0.1, 0.3, 1.0)))


def _fill(chance: Random, site: Site, size: int, onward: list[str]) -> None:
    """Pages under /, each linked from an earlier one; the first links onward to other hosts."""
    paths = ["/", *(f"/p{number}" for number in range(1, size))]
    links: dict[str, list[Link]] = {path: [] for path in paths}
    for place, path in enumerate(paths[1:], 1):
        links[paths[chance.randrange(place)]].append(Link(path))
        if chance.random() < 0.5:
            links[path].append(Link(chance.choice(paths)))
    links["/"] += [Link(url) for url in onward]
    for path in paths:
        site.resources[path] = Html(words(chance), tuple(links[path]))


def _add(site: Site, chance: Random, *links: Link) -> None:
    """Links from a random page of the site that has links of its own."""
    pages = [path for path, resource in site.resources.items() if isinstance(resource, Html) and not resource.nofollow]
    path = chance.choice(pages)
    page = site.resources[path]
    assert isinstance(page, Html)
    site.resources[path] = replace(page, links=(*page.links, *links))


def _oddities(chance: Random, site: Site, sites: list[Site]) -> None:
    other = chance.choice(sites)
    oddities: list[tuple[float, dict[str, Resource], tuple[Link, ...]]] = [
        (0.4, {"/moved": Redirect(301, "/target"), "/target": Html(words(chance))}, (Link("/moved"),)),
        (0.2, {"/out": Redirect(302, f"http://{other.host}/")}, (Link("/out"),)),
        (0.2, {"/loop1": Redirect(302, "/loop2"), "/loop2": Redirect(302, "/loop1")}, (Link("/loop1"),)),
        (0.1, {"/self": Redirect(302, "/self")}, (Link("/self"),)),
        (0.4, {}, (Link("/missing"),)),
        (0.2, {"/gone": Status(410)}, (Link("/gone"),)),
        (0.3, {"/busy": Flaky(((503, 20.0),), Html(words(chance)))}, (Link("/busy"),)),
        (0.3, {"/flood": Flaky(((429, chance.choice((None, 5.0, 70.0))),), Html(words(chance)))}, (Link("/flood"),)),
        (0.3, {"/flaky": Flaky(((500, None), ("cut", None)), Html(words(chance)))}, (Link("/flaky"),)),
        (0.1, {"/slow": Flaky((("timeout", None),), Html(words(chance)))}, (Link("/slow"),)),
        (0.1, {"/broken": Status(500)}, (Link("/broken"),)),
        (0.3, {"/copy": site.resources["/"]}, (Link("/copy"),)),
        (0.3, {"/variant": Html(words(chance), canonical="/original"), "/original": Html(words(chance))},
         (Link("/variant"),)),
        (0.3, {"/hidden": Html(words(chance))}, (Link("/hidden", nofollow=True),)),
        (0.2, {"/quiet": Html(words(chance), (Link("/silent"),), nofollow=True), "/silent": Html(words(chance))},
         (Link("/quiet"),)),
        (0.2, {"/unlisted": Html(words(chance), noindex=True)}, (Link("/unlisted"),)),
        (0.3, {"/file.pdf": File(b"%PDF-1.4 " + words(chance).encode(), "application/pdf")}, (Link("/file.pdf"),)),
        (0.4, {}, (Link("/p1#part"), Link("mailto:a@b.example"), Link("http://[bad/"), Link(f"http://{site.host}:80/"))),
        (0.2, {}, (Link(f"http://www.{OUTSIDE}/"),)),
        (0.2, {"/unusable": Unusable("decode"), "/headers": Unusable("too_large_headers")},
         (Link("/unusable"), Link("/headers"))),
        (0.2, {"/ctrl": Html(words(chance))}, (Link(f"https://{site.host}/ctrl"), Link("/ctrl"))),
    ]  # fmt: skip
    for probability, resources, links in oddities:
        if chance.random() < probability:
            _add(site, chance, *links)
            site.resources.update(resources)
    if chance.random() < 0.3:
        site.disallowed = ("/private/", "/gone") if chance.random() < 0.5 else ("/private/",)
        site.resources["/private/x"] = Html(words(chance))
        _add(site, chance, Link("/private/x"))
    if chance.random() < 0.15:
        site.trap = "/day/"
        _add(site, chance, Link("/day/1"))


def _server(chance: Random, site: Site, before: Site) -> None:
    """What its server, its name and its robots.txt do."""
    odd = chance.random()
    if odd < 0.06:
        site.dead_until = float("inf")
    elif odd < 0.12:
        site.dead_until = chance.choice((30.0, 100.0))
    elif odd < 0.16:
        site.unknown_until = chance.choice((20.0, float("inf")))
    elif odd < 0.22:
        site.addresses = (chance.choice(("10.0.0.7", "127.0.0.1", "169.254.1.1", "::1", "fd00::1")),)
    elif odd < 0.28:
        site.addresses = ("192.168.0.1", *site.addresses)
    elif odd < 0.36:
        site.latency = chance.choice((2.0, 4.0))
    elif odd < 0.5:
        site.addresses = (*chance.choice(((), ("192.168.0.1",), site.addresses)), *before.addresses)
    if chance.random() < 0.2:
        site.crawl_delay = chance.choice((2.0, 5.0))
    ways: list[tuple[RobotsPhase, ...]] = [
        (),
        (),
        (RobotsPhase(float("inf"), 404),),
        (RobotsPhase(chance.choice((20.0, 60.0)), 503),),
        (RobotsPhase(20.0, None),),
        (RobotsPhase(20.0, site.robots_file()), RobotsPhase(90.0, CUT)),
        (RobotsPhase(float("inf"), f"http://{before.host}/robots.txt"),),
        (RobotsPhase(30.0, 500), RobotsPhase(float("inf"), f"http://{before.host}/robots.txt")),
        (RobotsPhase(float("inf"), f"https://{site.host}/robots.txt"),) if chance.random() < 0.0 else (),
    ]
    site.robots = chance.choice(ways)


def _healthy(site: Site) -> bool:
    return not (site.dead_until or site.unknown_until or site.robots) and site.addresses[0].startswith("11.")


def rules_of(web: Web, site: Site) -> Site | None:
    """Whose rules hold for a site in the end: its own, those of the site it redirects to, or nobody's."""
    for _ in range(6):
        answer = site.robots[-1].answer if site.robots and site.robots[-1].until == float("inf") else b""
        if isinstance(answer, int) and answer < 500:
            return None
        if not isinstance(answer, str) or answer == CUT:
            return site  # also what it said before it became unreachable
        site = web.sites[urlsplit(answer).netloc]
    return None

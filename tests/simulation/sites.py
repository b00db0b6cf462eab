"""Small webs made by hand, and crawls of them in which nothing may break."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from gregor.schemas.messages import Row
from tests.simulation.checker import check
from tests.simulation.crawl import Run
from tests.simulation.faults import Fault
from tests.simulation.resources import Flaky, Html, Link, Resource
from tests.simulation.scenarios import config, scripted
from tests.simulation.web import Site, Web

HOST = "h0.site.example"
OTHER = "h1.site.example"


def page(name: str, *links: str) -> Html:
    """A page with a text of its own."""
    return Html(" ".join(f"{name}{place * place}" for place in range(30)), tuple(map(Link, links)))


def site(resources: dict[str, Resource], host: str = HOST, **more: Any) -> Site:
    """A quick host with these pages."""
    return Site(host, (f"11.0.0.{ord(host[1])}",), latency=0.1, resources=resources, **more)


def star(count: int, **more: Resource) -> dict[str, Resource]:
    """A first page that links to ``count`` others, and to ``more``."""
    paths = [f"/p{number}" for number in range(count)]
    resources: dict[str, Resource] = {path: page(f"star{path[2:]}x") for path in paths}
    resources |= {f"/{name}": resource for name, resource in more.items()}
    return {"/": page("first", *paths, *(f"/{name}" for name in more)), **resources}


def chain(count: int) -> dict[str, Resource]:
    """Pages that each link to the next only."""
    paths = ["/", *(f"/c{number}" for number in range(1, count))]
    return {path: page(f"c{place}x", *paths[place + 1 : place + 2]) for place, path in enumerate(paths)}


def crawl(sites: Sequence[Site], *faults: Fault, workers: int = 1, at_once: bool = False, **settings: object) -> Run:
    """Run a crawl in which no invariant may break; ``at_once``: its visits are settled in one call."""
    run = scripted(Web(list(sites)), list(faults), workers=workers, settings=config(**settings), at_once=at_once)()
    happened = [fault for _, _, fault in run.world.faults.happened]
    if wrong := [*check(run), *(f"{fault} never happened" for fault in faults if fault not in happened)]:
        pytest.fail("\n".join(map(str, wrong)))
    return run


def row(run: Run, path: str, host: str = HOST) -> Row:
    """The row of a URL in the end."""
    return run.world.store.rows_by_key.values[f"http://{host}{path}"]


def requests(run: Run, path: str, host: str = HOST) -> list[float]:
    """When a URL was asked for."""
    return [exchange.start for exchange in run.web.log if (exchange.host, exchange.path) == (host, path)]


def flaky(*statuses: int, after: float | None = None) -> Flaky:
    """A page that fails first. No two are alike."""
    return Flaky(tuple((status, after) for status in statuses), page(f"late{next(_number)}x"))


_number = count()

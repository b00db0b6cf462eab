"""What a trap rule refused comes back once pages like it bring something new, also to a later owner; nothing is lost or
fetched twice for it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.simulation.checker import check
from tests.simulation.crawl import Run
from tests.simulation.faults import Fault
from tests.simulation.resources import Html, Link, Resource
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import HOST, OTHER, page, row, site
from tests.simulation.web import Site, Web

LAST = "/p/1000000007/0"


@dataclass
class Walled(Site):
    """Below /p/ all pages say the same and lead on without end, until `LAST` was asked for; then each has its words."""

    gone: bool = field(default=False)

    def resource(self, path: str) -> Resource:
        """What a path is."""
        if not path.startswith("/p/"):
            return super().resource(path)
        number = int(path.split("/")[2])
        self.gone = self.gone or path == LAST
        if self.gone:
            return page(f"honest{number}x")
        return Html("the same again", tuple(Link(f"/p/{10 * number + step}/{step}") for step in range(1, 8)))


def crawl(*faults: Fault) -> Run:
    walled = Walled(HOST, ("11.0.0.48",), latency=0.1, resources={"/": page("first", "/p/1/0", f"http://{OTHER}/")})
    other = site({"/": page("other", f"http://{HOST}{LAST}")}, OTHER, unknown_until=40.0)
    run = scripted(Web([walled, other]), list(faults), settings=config(delay=0.2, max_depth=None, partitions=1))()
    # I3 and I4 know what the web is in the end only.
    assert not [wrong for wrong in check(run) if wrong.invariant not in ("I3", "I4")]
    return run


def denials(run: Run) -> list[str]:
    """The URLs that were refused at some time, and those that are in the end."""
    rows = run.world.store.rows_by_key.values
    return [key for key, kept in rows.items() if kept.attempts and kept.attempts[0].outcome == "denied"]


def test_what_was_refused_is_fetched_once_the_shape_brings_something_new() -> None:
    run = crawl()
    refused = denials(run)
    assert len(refused) > 30
    kept = [run.world.store.rows_by_key.values[key] for key in refused]
    assert {(each.state, each.visits, each.rule) for each in kept} == {("fetched", 2, "")}
    asked = [exchange.url for exchange in run.web.log if exchange.path != "/robots.txt"]
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    ("op", "n", "when"),
    [("put_rows", 60, "after"), ("put_host", 8, "after"), ("put_entries", 6, "before"), ("put_entries", 9, "after")],
)
def test_a_later_owner_goes_on_with_what_its_record_holds(op: str, n: int, when: Any) -> None:
    run = crawl(Fault("die", "store", op, n, when))
    rows = run.world.store.rows_by_key.values
    left = [key for key in denials(run) if rows[key].state == "denied"]
    assert row(run, LAST).state == "fetched"
    assert len(left) <= len(denials(run)) // 4

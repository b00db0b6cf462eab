"""What pages show may be pages themselves: whichever is met first, every page is one, and nothing is fetched twice."""

from random import Random

import pytest

from tests.simulation import check_end, check_journal, check_requests
from tests.simulation.crawl import Run
from tests.simulation.faults import drawn
from tests.simulation.resources import File, Resource
from tests.simulation.scenarios import SESSION_TIMEOUT, config, scripted
from tests.simulation.sites import HOST, OTHER, site
from tests.simulation.web import Web

PAGES, PICTURES = 30, 10
SEED = f"http://{HOST}/p0"


def _url(name: str) -> str:
    return f"http://{(HOST, OTHER)[sum(name.encode()) % 2]}/{name}"


def _web(chance: Random) -> Web:
    """Pages that lead to all others, each by one link, and show pictures and other pages."""
    links: dict[int, list[int]] = {number: [] for number in range(PAGES)}
    for number in range(1, PAGES):
        links[chance.randrange(max(0, number - 4), number)].append(number)
    found: dict[str, dict[str, Resource]] = {HOST: {}, OTHER: {}}
    names = [*(f"p{number}" for number in range(PAGES)), *(f"i{number}" for number in range(PICTURES))]
    for number in range(PAGES):
        shown = "".join(f"<img src={_url(name)}>" for name in chance.sample(names, 3))
        led = "".join(f"<a href={_url(f'p{target}')}>on</a>" for target in links[number])
        words = " ".join(f"w{number}x{place * place}" for place in range(30))
        found[_url(f"p{number}").split("/")[2]][f"/p{number}"] = File(
            f"<p>{words}{shown}{led}".encode(), "text/html; charset=utf-8"
        )
    for number in range(PICTURES):
        found[_url(f"i{number}").split("/")[2]][f"/i{number}"] = File(f"picture {number}".encode(), "image/png")
    return Web([site(resources, host) for host, resources in found.items()])


def _crawled(seed: int) -> Run:
    chance = Random(f"requisites {seed}")
    faults = [drawn(chance, SESSION_TIMEOUT) for _ in range(seed % 4)]
    settings = config(
        requisites=True,
        max_depth=chance.choice((None, 40)),
        partitions=chance.choice((1, 4)),
        queue_size=chance.choice((4, 64)),
        delay=0.5,
    )
    run = scripted(_web(chance), faults, seed=seed, settings=settings, workers=1 + seed % 2, seeds=[SEED])()
    assert run.finished
    return run


@pytest.mark.parametrize("seed", range(8))
def test_every_page_is_one_and_every_picture_is_none(seed: int) -> None:
    run = _crawled(seed)
    broken = [*run.failures, *check_requests.polite(run), *check_requests.once(run), *check_end.settled(run)]
    assert not [*broken, *check_end.explained(run), *check_journal.watermarks(run), *check_journal.bounded(run)]
    rows = run.world.store.rows_by_key.values
    pages = {_url(f"p{number}") for number in range(PAGES)}
    assert {key for key, row in rows.items() if not row.requisite} == pages
    assert {row.state for key, row in rows.items() if key in pages} <= {"fetched", "duplicate"}

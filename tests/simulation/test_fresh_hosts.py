"""A crawl of many hosts that nothing is known of: pages come soon, and a robots.txt is asked for when it is needed."""

from tests.simulation.checker import check
from tests.simulation.scenarios import config, scripted
from tests.simulation.sites import page, site
from tests.simulation.web import Web

HOSTS = 150
DELAY = 1.0


def test_the_first_page_does_not_wait_for_the_robots_txt_of_all_hosts() -> None:
    names = [f"h{number}.site.example" for number in range(HOSTS)]
    sites = [site({"/": page(f"w{number}x")}, host=name) for number, name in enumerate(names)]
    settings = config(concurrency=2, delay=DELAY, queue_size=64, window=256, memory_urls=1000)
    run = scripted(Web(sites), [], seeds=[f"http://{name}/" for name in names], settings=settings)()
    assert not check(run)
    asked = sorted((exchange.start, exchange.path) for exchange in run.web.log)
    paths = [path for _, path in asked]
    assert paths.count("/") == HOSTS
    first = paths.index("/")
    assert asked[first][0] - asked[0][0] < 2 * DELAY
    for place in range(first, len(paths), 10):
        so_far = paths[:place]
        assert so_far.count("/robots.txt") <= so_far.count("/") + 2 * first, (
            "files are asked for long before they serve"
        )

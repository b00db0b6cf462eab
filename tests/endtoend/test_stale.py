"""What is stale goes while the crawl runs: rows, pages, bodies; and what is found again is new."""

import asyncio

from msgspec.structs import replace

from gregor.schemas.messages import stamp
from gregor.worker.compose.open_folder import opened
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import DROPPED
from tests.endtoend.site import Here


def test_what_was_not_visited_for_long_is_dropped_and_found_anew(here: Here, site: list[str]) -> None:
    data = site[:2]

    def pages() -> set[str]:
        return {line.rpartition("/")[2] for line in here.said("pages", *data).splitlines() if "http" in line}

    here.said("crawl", "http://www.test/", "--max-pages", "5", *site)
    assert {"", "1", "2", "3", "4"} <= pages()
    assert "dropped after" in here.said("explain", "http://www.test/1", *data, "--set", "stale_after=3600")
    here.said("crawl", *site, "--set", "stale_after=0.001", "--set", "max_pages=none")
    assert {"1", "9"} <= pages(), "none was dropped while others waited: it would have been found again"
    here.said("crawl", *site, "--set", "stale_after=0.001")  # it was over: nothing is left to visit
    assert pages() == set()
    assert here.said("export", "jsonl", *data) == ""
    here.said("crawl", "http://www.test/7", *site, "--set", "stale_after=3600")
    assert {"7", "8", "9"} <= pages(), "links to what was dropped are followed"
    here.said("check", *data)


def test_links_to_what_nobody_knows_are_a_fault_until_something_was_dropped(here: Here, site: list[str]) -> None:
    """Whatever `stale_after` says: it may have been set after the links were sent, or be set no more."""
    data, key = site[:2], "http://www.test/2"

    async def drop(count: int) -> None:
        engine = await opened(Config(data=data[1]))
        page = await engine.store.page(key, 1)
        if page is not None:
            await engine.seen.disown(page.fingerprint, key)
        await engine.store.drop(key, stamp(9, 1))
        record = await engine.store.partition(0)
        counts = {**record.counts, DROPPED: count}
        await engine.store.put_partition(replace(record, epoch=9, counts=counts), stamp(9, 2))
        await engine.close()

    here.said("crawl", "http://www.test/", "--max-pages", "5", *site)
    asyncio.run(drop(0))
    for more in ([], ["--set", "stale_after=3600"]):
        assert key in here.said("check", *data, *more, code=1)
    asyncio.run(drop(1))
    for more in ([], ["--set", "stale_after=3600"]):
        here.said("check", *data, *more)


def test_what_a_crawl_dropped_is_counted(here: Here, site: list[str]) -> None:
    async def dropped() -> int:
        engine = await opened(Config(data=site[1]))
        found = [(await engine.store.partition(number)).counts.get(DROPPED, 0) for number in range(64)]
        await engine.close()
        return sum(found)

    here.said("crawl", "http://www.test/", "--max-pages", "5", *site)
    assert asyncio.run(dropped()) == 0
    for more in (["--set", "max_pages=none"], []):
        here.said("crawl", *site, "--set", "stale_after=0.001", *more)
    assert asyncio.run(dropped()) > 0

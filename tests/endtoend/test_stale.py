"""What is stale goes while the crawl runs: rows, pages, bodies; and what is found again is new."""

import asyncio

from gregor.schemas.messages import stamp
from gregor.worker.compose.open_folder import opened
from gregor.worker.config.settings import Config
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


def test_links_to_what_was_dropped_are_no_fault(here: Here, site: list[str]) -> None:
    data, key = site[:2], "http://www.test/2"

    async def drop() -> None:
        engine = await opened(Config(data=data[1]))
        page = await engine.store.page(key, 1)
        assert page is not None
        await engine.seen.disown(page.fingerprint, key)
        await engine.store.drop(key, stamp(9, 1))
        await engine.close()

    here.said("crawl", "http://www.test/", "--max-pages", "5", *site)
    asyncio.run(drop())
    assert key in here.said("check", *data, code=1)
    here.said("check", *data, "--set", "stale_after=3600")

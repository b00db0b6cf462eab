"""Ranks of an index, as a crawl takes them up to order its visits."""

import asyncio
from pathlib import Path

from gregor.schemas.messages import url_fingerprint
from gregor.worker.commands.cli import main
from gregor.worker.compose.known_ranks import with_ranks
from gregor.worker.config.settings import Config
from gregor.worker.extract.crawled import NOTHING
from gregor.worker.links.known_ranks import ADVANCES, NOT_RANKED, KnownRanks
from tests.search.stored import crawl, link, page, store

HUB = "http://hub.example.org/"


def ranks(data: Path) -> KnownRanks:
    return with_ranks(NOTHING, Config(data=str(data))).judges.ranks


def test_a_crawl_takes_up_the_ranks_of_its_index_and_goes_without_where_there_are_none(tmp_path: Path) -> None:
    data = tmp_path / "d"

    async def fill() -> None:
        async with crawl(data) as engine:
            pages = [
                page(f"http://h{number}.example.org/", f"words {number}", 1, link(HUB, "hub")) for number in range(12)
            ]
            await store(engine, page(HUB, "a hub"), *pages)

    asyncio.run(fill())
    assert ranks(data) == NOT_RANKED
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert not ranks(data)  # they were not ranked yet
    assert main(["rank", "--data", str(data), "--top", "0"]) == 0
    ranked = ranks(data)
    assert dict(ranked.hosts) == {"hub.example.org": 15} and ranked.pages[url_fingerprint(HUB)] >= ADVANCES
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    assert ranks(data) == ranked
    (data / "index" / "current").write_bytes(b"no generation")
    assert ranks(data) == NOT_RANKED

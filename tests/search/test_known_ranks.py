"""Ranks of an index, as a crawl takes them up to order its visits."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

from gregor.schemas.messages import url_fingerprint
from gregor.worker.borders.errors import Unavailable
from gregor.worker.commands.cli import main
from gregor.worker.compose.known_ranks import kept_up, ranking
from gregor.worker.compose.open_folder import OpenFolder
from gregor.worker.extract.crawled import NOTHING
from gregor.worker.links.known_ranks import ADVANCES, HighestRanks, KnownRanks
from tests.search.stored import crawl, link, page, store

HUB = "http://hub.example.org/"


def ranks(data: Path) -> KnownRanks:
    async def begun() -> KnownRanks:
        _, ranks = ranking(NOTHING)
        async with crawl(data) as engine, kept_up(ranks, OpenFolder(data, engine)):
            return ranks

    return asyncio.run(begun())


def test_a_crawl_takes_up_the_ranks_of_its_index_and_goes_without_where_there_are_none(tmp_path: Path) -> None:
    data = tmp_path / "d"

    async def fill() -> None:
        async with crawl(data) as engine:
            pages = [
                page(f"http://h{number}.example.org/", f"words {number}", 1, link(HUB, "hub")) for number in range(12)
            ]
            await store(engine, page(HUB, "a hub"), *pages)

    asyncio.run(fill())
    assert ranks(data) == KnownRanks()
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert not ranks(data)  # they were not ranked yet
    assert main(["rank", "--data", str(data), "--top", "0"]) == 0
    ranked = ranks(data)
    assert dict(ranked.hosts) == {"hub.example.org": 15} and ranked.pages[url_fingerprint(HUB)] >= ADVANCES
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    assert ranks(data) == ranked
    (data / "index" / "current").write_bytes(b"no generation")
    assert ranks(data) == KnownRanks()


def test_a_crawl_takes_them_up_when_they_change_meanwhile(tmp_path: Path) -> None:
    ranks, answers = (
        KnownRanks(),
        [None, HighestRanks(2, [(HUB, 9)], [("a.test", 12)]), None, HighestRanks(3, [], [("b.test", 9)])],
    )
    asked, read = list[int](), threading.Event()

    class Engine:
        async def known_ranks(self, seen: int) -> HighestRanks | None:
            asked.append(seen)
            if len(asked) == 3:
                raise Unavailable("Cassandra", "away")
            if len(answers) == 1 and not read.is_set():
                return None
            return answers.pop(0) if answers else None

    async def run() -> None:
        async with kept_up(ranks, Engine(), every=0.001):  # type: ignore[arg-type]
            assert not ranks
            await asyncio.to_thread(until, lambda: bool(ranks))
            assert (ranks.hosts, ranks.pages) == ({"a.test": 12}, {url_fingerprint(HUB): 9})
            read.set()
            await asyncio.to_thread(until, lambda: "b.test" in ranks.hosts)

    asyncio.run(run())
    assert asked[:5] == [0, 0, 2, 2, 2] and (ranks.hosts, ranks.pages) == ({"b.test": 9}, {})


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.002)

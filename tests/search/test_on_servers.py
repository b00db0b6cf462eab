"""A crawl on servers is indexed from its events, by any number of workers, and searched."""

import asyncio
import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gregor.schemas.messages import Page
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_writer import BulkWriter, ignore, name_of, version_of
from gregor.search.documents import IndexedDocument
from gregor.search.ranking import Ranked
from gregor.worker.borders.reader import refuse
from gregor.worker.compose import ranks
from gregor.worker.compose.opensearch import searched as searched_index
from gregor.worker.compose.opensearch import shape_of
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.search.kills import run
from tests.search.on_servers import Crawl, follow
from tests.search.stored import link, page
from tests.search.test_index import document

A, B, C = "http://a.example.org/", "http://b.example.org/", "http://c.example.org/"


@pytest.fixture
def crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crawl]:
    names = ("kafka", "zookeeper", "redis", "cassandra", "opensearch")
    made = Crawl({name: request.getfixturevalue(name) for name in names}, tmp_path)
    assert made.run("init") == 0
    yield made
    schema_names = [generation.index for generation in schema.generations(made.client, shape_of(made.config))]
    for name in schema_names:
        made.client.ask("DELETE", f"/{name}")


def searched(crawl: Crawl, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert crawl.run("search", "--jsonl", *words) == 0
    return [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()]


def test_what_a_crawl_tells_is_found_and_what_is_gone_is_not(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = page(f"{A}hidden", "secret zebras", directives=("noindex",))
    crawl.settle(
        page(A, "A fox jumps", 1, link(B, "animals that bark")),
        page(f"{C}copy", "A fox jumps", 1, state="duplicate"),
        page(B, "Dogs sleep", 1, link(C, "quiet yaks")),
        page(C, "Cows graze"),
        hidden,
    )
    assert crawl.run("index", "--once") == 0
    assert searched(crawl, capsys, "fox") == [A] and searched(crawl, capsys, "bark") == [B]
    assert searched(crawl, capsys, "zebras") == [] and searched(crawl, capsys, "yaks") == [C]
    crawl.settle(page(A, "A cat jumps", 2), page(C, visit=2))
    crawl.settle(page(C, visit=3), state="gone")
    assert crawl.run("index", "--once") == 0
    assert searched(crawl, capsys, "fox") == [f"{C}copy"] and searched(crawl, capsys, "cat") == [A]
    assert searched(crawl, capsys, "bark") == [] and searched(crawl, capsys, "cows") == []  # the link went with it
    assert crawl.run("optout", "b.example.org", "--wait", "0") == 0
    assert searched(crawl, capsys, "dogs") == []
    before = crawl.documents()
    assert crawl.run("index", "--once", "--rebuild") == 0
    assert crawl.documents() == before == {A: 2, f"{C}copy": 1}
    (used,) = schema.generations(crawl.client, shape_of(crawl.config))
    assert used.number == 2


def test_what_differs_from_the_store_is_told_and_mended(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    def differing(*words: str) -> tuple[int, list[tuple[str, str]]]:
        capsys.readouterr()
        code = crawl.run("check", "--index", "--json", *words)
        places = [json.loads(line)["place"] for line in capsys.readouterr().out.splitlines()]
        return code, sorted((kind, key) for kind, key in places)

    crawl.settle(page(A, "A fox jumps"), page(f"{A}2", "A fox jumps", state="duplicate"), page(B, "Dogs sleep"))
    assert crawl.run("index", "--once") == 0
    assert differing() == (0, [])
    (generation,) = schema.generations(crawl.client, shape_of(crawl.config))
    name = generation.index
    strange = document("strange", "Strange")
    writer = BulkWriter(crawl.client, name, ignore)
    writer.put(strange, version_of(1, 1))
    writer.put(
        IndexedDocument(b"Dogs sleep".hex(), ((B, 7),), B, "b.example.org", "", "Dogs sleep"), version_of(1, 10**6)
    )
    writer.flush()
    crawl.client.ask("DELETE", f"/{name}/_doc/{name_of(b'A fox jumps'.hex())}", params={"refresh": "true"})
    told = [("foreign", strange.key), ("missing", A), ("missing", f"{A}2"), ("stale", B)]
    assert differing() == (1, told)
    assert differing("--mend")[1] == told and differing() == (0, [])


def test_ranks_are_kept_and_only_documents_of_another_step_are_written_anew(crawl: Crawl) -> None:
    crawl.settle(page(A, "A fox jumps"), page(f"{A}2", "A fox jumps", state="duplicate"), page(B, "Dogs sleep"))
    assert crawl.run("index", "--once") == 0

    def ranked(**buckets: int) -> tuple[int, dict[str, float]]:
        """How many were written anew, and what the index has then."""
        named = {"a": A, "b": B}
        documents = [Ranked(named[name], 0.1 + bucket / 100, bucket) for name, bucket in buckets.items()]
        changed = asyncio.run(ranks._put_on_servers(crawl.config, refuse, documents))
        return changed, {hit.key: hit.rank for hit in searched_index(crawl.config).documents()}

    assert ranked(a=15, b=0) == (1, {A: 1.0, B: 0.0})
    assert ranked(a=15, b=3) == (1, {A: 1.0, B: 0.2})
    assert ranked(a=15, b=3) == (0, {A: 1.0, B: 0.2})
    crawl.settle(page(B, "Dogs sleep", 2))
    assert crawl.run("index", "--once") == 0 and crawl.documents()[B] == 2
    assert ranked(b=3) == (1, {A: 0.0, B: 0.2})


def test_workers_share_the_partitions_and_nothing_is_lost_or_doubled_when_one_is_killed(crawl: Crawl) -> None:
    def some(first: int, visit: int) -> list[Page]:
        return [page(f"http://h{number}.org/", f"text {number} {visit}", visit) for number in range(first, first + 40)]

    crawl.settle(*some(0, 1))
    workers = [follow(crawl), follow(crawl)]
    try:
        until(lambda: len(crawl.documents()) == 40)
        for visit in (2, 3):
            crawl.settle(*some(0, visit), *some(40 * visit, 1))
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()
            workers = [workers[1], follow(crawl)]
        wanted = {one.key: one.visit for one in (*some(0, 3), *some(80, 1), *some(120, 1))}
        until(lambda: crawl.documents() == wanted)
        assert all(worker.poll() is None for worker in workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def until(holds: Callable[[], bool]) -> None:
    patience = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < patience
        time.sleep(0.2)


def test_nothing_is_lost_or_doubled_when_the_engine_is_killed(crawl: Crawl, opensearch: Service) -> None:
    assert run(crawl, stoppable(opensearch), 1, "node", random.Random(1)).is_right

"""A crawl on servers is indexed from its events, by any number of workers, and searched."""

import asyncio
import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from confluent_kafka.admin import AdminClient

from gregor.schemas.messages import Page, url_fingerprint
from gregor.schemas.topics import events
from gregor.search.adapters import opensearch_schema as schema
from gregor.search.adapters.opensearch_writer import BulkWriter, ignore, name_of, version_of
from gregor.search.documents import IndexedDocument
from gregor.search.ranking import Ranked, RankingResult
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.engine import keyspace
from gregor.worker.borders.reader import refuse
from gregor.worker.commands.cli import main
from gregor.worker.compose import ranks_on_servers
from gregor.worker.compose.cluster import OpenServers
from gregor.worker.compose.known_ranks import kept_up
from gregor.worker.compose.opensearch import searched as searched_index
from gregor.worker.compose.opensearch import shape_of
from gregor.worker.links.known_ranks import KnownRanks
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.search.kills import end, run
from tests.search.on_servers import PARTITIONS, Crawl, follow
from tests.search.stored import link, page
from tests.search.test_index import document
from tests.search.test_opensearch import more
from tests.search.test_records import line

A, B, C = "http://a.example.org/", "http://b.example.org/", "http://c.example.org/"


@pytest.fixture
def crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crawl]:
    names = ("kafka", "zookeeper", "redis", "cassandra", "opensearch")
    made = Crawl({name: request.getfixturevalue(name) for name in names}, tmp_path)
    assert made.run("init") == 0
    yield made
    for name in made.client.ask("GET", f"/{shape_of(made.config).alias}*", params={"filter_path": "*.aliases"}):
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


def test_a_damaged_row_is_told_and_the_others_are_taken_in(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    async def damage() -> None:
        cassandra = await Cassandra.connect(crawl.config, keyspace(crawl.config), {})
        try:
            await cassandra.write("INSERT INTO rows (key, data) VALUES (?, ?)", (A, b"not a row"))
        finally:
            await cassandra.close()

    crawl.settle(page(A, "A fox jumps"), page(B, "Dogs sleep"))
    asyncio.run(damage())
    assert crawl.run("index", "--once") == 1
    assert "is damaged" in capsys.readouterr().err
    assert searched(crawl, capsys, "dogs") == [B]


def test_ranks_are_kept_and_only_documents_of_another_step_are_written_anew(crawl: Crawl) -> None:
    crawl.settle(page(A, "A fox jumps"), page(f"{A}2", "A fox jumps", state="duplicate"), page(B, "Dogs sleep"))
    assert crawl.run("index", "--once") == 0

    def ranked(**buckets: int) -> tuple[int, dict[str, float]]:
        """How many were written anew, and what the index has then."""
        named = {"a": A, "b": B}
        documents = [Ranked(named[name], 0.1 + bucket / 100, bucket) for name, bucket in buckets.items()]
        changed = asyncio.run(ranks_on_servers.put(crawl.config, refuse, RankingResult(documents, [], 0, 0, 0.0)))
        return changed, {hit.key: hit.rank for hit in searched_index(crawl.config).documents()}

    assert ranked(a=15, b=0) == (1, {A: 1.0, B: 0.0})
    assert ranked(a=15, b=3) == (1, {A: 1.0, B: 0.2})
    assert ranked(a=15, b=3) == (0, {A: 1.0, B: 0.2})
    crawl.settle(page(B, "Dogs sleep", 2))
    assert crawl.run("index", "--once") == 0 and crawl.documents()[B] == 2
    assert ranked(b=3) == (1, {A: 0.0, B: 0.2})


def test_one_machine_ranks_what_is_on_servers_as_it_does_a_folder_and_workers_take_it_up(
    crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ranked(*words: str) -> list[dict[str, object]]:
        capsys.readouterr()
        assert main(["rank", "--jsonl", *words]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    async def taken_up() -> KnownRanks:
        ranks = KnownRanks()
        async with crawl.opened() as engine, kept_up(ranks, OpenServers(crawl.config, engine), every=0.1):
            assert not ranks
            await asyncio.to_thread(ranked, "--config", str(crawl.file))
            await asyncio.to_thread(until, lambda: bool(ranks))
        return ranks

    hub, shy = "http://hub.example.org/", "http://shy.example.org/"
    pages = [
        page(f"http://h{number}.example.org/", f"words {number}", 1, link(hub, ""), link(shy, "shy", nofollow=True))
        for number in range(12)
    ]
    web = [page(hub, "a hub"), page(f"{hub}2", "a hub", state="duplicate"), page(shy, "shy", 1, link(B, "b")), *pages]
    crawl.settle(*web)
    asyncio.run(more(tmp_path / "data", *web))
    assert crawl.run("index", "--once") == 0 and main(["index", "--once", "--data", str(tmp_path / "data")]) == 0
    known = asyncio.run(taken_up())
    assert known.hosts == {"hub.example.org": 15} and known.pages == dict.fromkeys(
        map(url_fingerprint, (hub, f"{hub}2")), 15
    )
    for words in ((), ("--nofollow", "0.5")):
        here = ranked("--data", str(tmp_path / "data"), *words)
        there = ranked("--config", str(crawl.file), *words)
        assert [host["host"] for host in here] == [host["host"] for host in there]
        assert [host["rank"] for host in here] == pytest.approx([host["rank"] for host in there], abs=1e-8)


def test_what_was_told_and_is_kept_no_more_is_told_anew(crawl: Crawl) -> None:
    crawl.settle(page(A, "A fox jumps"))
    assert crawl.run("index", "--once") == 0
    crawl.settle(page(B, "Dogs sleep"))
    forget_events(crawl)
    assert crawl.run("index", "--once") == 0 and crawl.documents() == {A: 1, B: 1}


def test_an_index_that_goes_away_under_its_workers_is_made_anew(crawl: Crawl) -> None:
    crawl.settle(page(A, "A fox jumps"))
    worker = follow(crawl)
    try:
        until(lambda: crawl.documents() == {A: 1})
        (generation,) = schema.generations(crawl.client, shape_of(crawl.config))
        crawl.client.ask("DELETE", f"/{generation.index}")
        crawl.settle(page(B, "Dogs sleep"))
        until(lambda: crawl.documents() == {A: 1, B: 1})
        for name in ("position", name_of(page(A, "A fox jumps").fingerprint.hex())):
            crawl.client.ask("DELETE", f"/{generation.index}/_doc/{name}", params={"refresh": "true"})
        until(lambda: crawl.documents() == {A: 1, B: 1})
        crawl.client.ask("PUT", f"/{generation.index}/_mapping", {"_meta": {"format": 1}})
        assert worker.wait(60) == 2 and crawl.run("index", "--once") == 2
    finally:
        end(worker)
    assert crawl.run("index", "--once", "--rebuild") == 0 and crawl.documents() == {A: 1, B: 1}


def forget_events(crawl: Crawl) -> None:
    """As Kafka does it with what is older than it keeps."""
    servers: dict[str, str | int | float | bool] = {"bootstrap.servers": ",".join(crawl.config.kafka)}
    topic = events(crawl.name)
    every = [TopicPartition(topic, number, OFFSET_END) for number in range(PARTITIONS)]
    client = AdminClient(servers)
    for deleted in client.delete_records(every).values():
        deleted.result(30)


def test_what_happened_is_found_by_several_that_take_it_in(
    crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def kept(place: str, *words: str) -> list[str]:
        return searched(crawl, capsys, "--in", place, *words)

    assert crawl.run("search", "--in", "logs", "away") == 2 and "--records" in capsys.readouterr().err
    crawl.settle(page(A, "A fox jumps"))
    crawl.settle(page(B, visit=1), state="gone")
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    for number, log in enumerate(logs):
        log.write_bytes(line(number, host="c.test"))
    words = ("index", "--records", "--data", str(tmp_path / "state"))
    assert crawl.run(*words, "--once", "--log", str(logs[0])) == 0
    assert crawl.run(*words[:-1], str(tmp_path / "other"), "--once", "--log", str(logs[1])) == 0
    assert kept("events", "type:gone") == [B] and kept("events", "host:a.example.org") == [A]
    assert kept("hosts", "a.example.org") == ["a.example.org"] and kept("deadletters", "route") == []
    assert len(kept("logs", "host:c.test", "away")) == 2
    followers = [follow(crawl), follow(crawl, *words[1:])]
    try:
        assert crawl.run("optout", "b.example.org", "--why", "their wish", "--wait", "0") == 0, "it is waited for"
    finally:
        end(*followers)
    assert kept("events", "type:gone") == []
    assert crawl.run(*words, "--once") == 0
    assert kept("orders", "wish")


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
        end(*workers)


def until(holds: Callable[[], bool]) -> None:
    patience = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < patience
        time.sleep(0.2)


def test_nothing_is_lost_or_doubled_when_the_engine_is_killed(crawl: Crawl, opensearch: Service) -> None:
    assert run(crawl, stoppable(opensearch), 1, "node", random.Random(1)).is_right

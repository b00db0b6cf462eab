"""`gregor import warc` into a crawl on real servers: the same as into a data folder, told to those who listen."""

import asyncio
import json
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from confluent_kafka import Consumer, TopicPartition

from gregor.schemas import topics
from gregor.schemas.events import ItemEvent
from gregor.worker.archives.take_in import TakesIn
from gregor.worker.borders.errors import DiskFull
from gregor.worker.commands import cli
from gregor.worker.compose import stored_findings
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.sources import load
from tests.cluster.conftest import need
from tests.cluster.servers import Servers
from tests.cluster.servers.__main__ import config as reaching
from tests.endtoend.test_commands import Output, bare
from tests.endtoend.test_import import archive, imported, pages
from tests.unit.archives.made import answer, gzipped, record

__all__ = ["bare"]

PARTITIONS = 4
RULES = """
[[item]]
name = "page"
[item.fields]
title = { css = "title", required = true }
[[item]]
name = "job"
match = "http://jobs.test/*"
each = "li"
id = "n"
[item.fields]
n = "::attr(id)"
title = "b"
"""


@pytest.fixture
def output(capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    return Output(capsysbinary)


@pytest.fixture
def file(servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of a crawl that was set up."""
    addresses = {name: need(servers, name).addresses for name in ("kafka", "zookeeper", "redis", "cassandra")}
    (tmp_path / "rules.toml").write_text(RULES)
    file = tmp_path / "gregor.toml"
    more = f'partitions = {PARTITIONS}\ncrawl = "c{uuid.uuid4().hex[:12]}"\nrules = ["{tmp_path / "rules.toml"}"]\n'
    file.write_text(f"{reaching(addresses)}\n{more}")
    assert cli.main(["init", "--config", str(file)]) == 0
    monkeypatch.chdir(tmp_path)
    return file


def test_it_is_what_an_import_into_a_folder_is(
    file: Path, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, servers = [str(archive(tmp_path / "x.warc.gz"))], ("--config", str(file))
    imported(output, *words, "--set", "rules=rules.toml", "--host", "a.test")
    folder = pages(output)
    output.bytes("optout", "b.test", "--wait", "0", *servers)
    settle, count = TakesIn._settle, 0

    async def fails(*arguments: Any) -> object:
        nonlocal count
        count += 1
        if count > 4:
            raise DiskFull("no space")
        return await settle(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TakesIn, "_settle", fails)
        output.bytes("import", "warc", *words, *servers, code=1)
    resumed = imported(output, *words, *servers)
    assert resumed["taken_in"].get("page", 0) and resumed["left_out"]["opted out"] == 1
    assert imported(output, *words, *servers)["taken_in"] == {}
    assert pages(output, *servers) == folder
    counts = json.loads(output.bytes("status", "--json", *servers))["counts"]
    assert (counts["pages"], counts["state fetched"]) == (2, 1)
    assert {event.url: event.change for event in told(file)} == {
        "http://a.test/": "changed",
        "http://a.test/copy": "new",
    }


def shop(path: Path, element: str, date: str, jobs: str, status: str = "200 OK") -> str:
    """What was recorded on a day: thirty pages, and one with jobs."""
    kept = [("jobs.test/", f"<title>Jobs</title>{jobs}", status)]
    kept += [(f"a.test/{number}", f"<{element}>Page {number} of its own</{element}>", "200 OK") for number in range(30)]
    made = [
        record(url=f"http://{url}", block=answer(body.encode(), status=code), date=date) for url, body, code in kept
    ]
    path.write_bytes(gzipped(made))
    return str(path)


def test_what_a_revisit_says_of_items_and_which_field_fell_away(file: Path, output: Output, tmp_path: Path) -> None:
    servers = ("--config", str(file))

    def said() -> list[list[Any]]:
        lines = map(json.loads, output.bytes("export", "jsonl", "items", *servers).splitlines())
        return sorted(
            [each["fields"]["title"], each["change"], *each["changed_fields"]]
            for each in lines
            if each["rule"] == "job"
        )

    def findings() -> list[str]:
        async def found() -> list[str]:
            doctor = stored_findings.examine(load(str(file), {}).config)
            return [finding.text async for finding in doctor if finding.what == "items"]

        return asyncio.run(found())

    first = shop(
        tmp_path / "1.warc.gz", "title", "2024-05-01T00:00:00Z", "<li id=1><b>a</b><li id=2><b>b</b><li id=3><b>c</b>"
    )
    imported(output, first, *servers)
    assert said() == [["a", "new"], ["b", "new"], ["c", "new"]]
    assert findings() == ["every required field of rules and extractors is found as before"]
    second = shop(
        tmp_path / "2.warc.gz", "h1", "2024-05-02T00:00:00Z", "<li id=4><b>d</b><li id=2><b>B</b><li id=1><b>a</b>"
    )
    imported(output, second, *servers)
    assert said() == [["B", "changed", "title"], ["a", "unchanged"], ["c", "gone"], ["d", "new"]]
    (away,) = findings()
    assert away.startswith("page: title is missing on ") and away.count("http://a.test/") == 3
    imported(output, shop(tmp_path / "3.warc.gz", "h1", "2024-05-03T00:00:00Z", "", "410 Gone"), *servers)
    assert said() == [["B", "gone"], ["a", "gone"], ["c", "gone"], ["d", "gone"]]
    assert Counter(event.change for event in told(file) if event.rule == "job") == {
        "new": 4,
        "changed": 1,
        "unchanged": 1,
        "gone": 4,
    }


def told(file: Path) -> list[ItemEvent]:
    """The items that were told, in order."""
    config = load(str(file), {}).config
    consumer = Consumer({"bootstrap.servers": ",".join(config.kafka), "group.id": uuid.uuid4().hex})
    try:
        topic = topics.items(config.crawl)
        ends = [consumer.get_watermark_offsets(TopicPartition(topic, n), timeout=30)[1] for n in range(PARTITIONS)]
        consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
        messages = consumer.consume(sum(ends), 60)
        return [msgspec.json.decode(message.value() or b"", type=ItemEvent) for message in messages]
    finally:
        consumer.close()


@contextmanager
def somebody_owns(file: Path, partition: int) -> Iterator[None]:
    """A partition, meanwhile; on a thread of its own, since commands hear signals on the main one."""

    async def own() -> None:
        engine = await engine_of(load(str(file), {}).config).open()
        try:
            lease = await engine.coordinator.acquire(partition, 0)
            assert lease is not None and lease.holds()
            owned.set()
            await asyncio.to_thread(done.wait)
        finally:
            await engine.close()

    owned, done = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, own())
        try:
            assert owned.wait(60)
            yield
        finally:
            done.set()
            running.result()


def test_nothing_is_taken_in_while_somebody_owns_a_partition(file: Path, output: Output, tmp_path: Path) -> None:
    words = [str(archive(tmp_path / "x.warc.gz")), "--config", str(file)]
    with somebody_owns(file, 2):
        said = output.refused("import", "warc", *words, "--set", "start_timeout=3")
    assert said.splitlines()[-1].endswith("partition 2 is owned by somebody who does not let go of it")
    assert imported(output, *words)["taken_in"]["page"] == 4

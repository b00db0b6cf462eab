"""Commands at a crawl that is not there, not reachable, or another one: one line, and exit code 2."""

import asyncio
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from gregor.partitioner.hashing import partition_of
from gregor.schemas import topics
from gregor.schemas.messages import Page, Ticket, encode
from gregor.worker.adapters.cluster import engine
from gregor.worker.commands import BAD_INPUT, FINISHED
from gregor.worker.commands.cli import main
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import replace
from gregor.worker.config.sources import load
from gregor.worker.web.canonical import CanonicalRules
from tests.cluster.conftest import stoppable
from tests.cluster.servers import Service
from tests.cluster.servers.__main__ import config as servers_config
from tests.cluster.servers.process import free_ports

PARTITIONS = 4
NAMES = {"kafka": "Kafka", "zookeeper": "ZooKeeper", "redis": "Redis", "cassandra": "Cassandra"}


class Crawl:
    """A crawl of its own on the servers; `run` is the command line with its config."""

    def __init__(self, services: Sequence[Service], folder: Path) -> None:
        self.name = f"start-{os.getpid()}-{id(self) % 10_000_000}"
        self.kafka = services[0].address
        self.file = folder / "gregor.toml"
        servers = servers_config({service.name: service.addresses for service in services})
        self.file.write_text(f'{servers}\ncrawl = "{self.name}"\npartitions = {PARTITIONS}\n')

    def run(self, command: str, *words: str) -> int:
        """The exit code of a command."""
        return main([command, *words, "--config", str(self.file)])

    def dead_letters(self) -> list[dict[str, Any]]:
        """What the topic of dead letters holds."""
        consumer = Consumer({"bootstrap.servers": self.kafka, "group.id": "t", "enable.partition.eof": True})
        consumer.assign([TopicPartition(topics.dead(self.name), number, 0) for number in range(PARTITIONS)])
        found, left = [], PARTITIONS
        while left:
            message = consumer.poll(60)
            assert message is not None, "Kafka is silent"
            error = message.error()
            if error is None:
                found.append(msgspec.json.decode(message.value() or b"", type=dict[str, Any]))
            elif error.code() == KafkaError._PARTITION_EOF:
                left -= 1
        consumer.close()
        return sorted(found, key=lambda event: str(event["source"]))


@pytest.fixture
def crawl(kafka: Service, zookeeper: Service, redis: Service, cassandra: Service, tmp_path: Path) -> Crawl:
    return Crawl((kafka, zookeeper, redis, cassandra), tmp_path)


@pytest.mark.parametrize(
    ("server", "more"),
    [*((name, "") for name in NAMES), ("redis", "redis_sentinel=gregor"), ("redis", "redis_cluster=true")],
)
def test_a_server_that_is_down_is_named_waited_for_and_given_up(
    crawl: Crawl, server: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crawl.run("init") == FINISHED
    port, own = free_ports(2)
    capsys.readouterr()
    away = ["--set", f"{server}=127.0.0.1:{port}", "--set", "start_timeout=10", "--set", "server_timeout=4"]
    away += ["--set", more] if more else []
    listens = ["--set", f"listen=127.0.0.1:{own}", "--set", "anonymous_read=yes"]
    with ThreadPoolExecutor(1) as pool:
        probed = pool.submit(_probed, own, f"{NAMES[server]} is away")
        assert crawl.run("worker", *away, *listens) == BAD_INPUT
    assert probed.result() == {"ok": False, "detail": f"{NAMES[server]} is away"}
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("gregor: ")]
    first, last = (line for line in lines if line.startswith(f"gregor: {NAMES[server]} is unavailable: "))
    assert f"; trying again at 127.0.0.1:{port} for " in first
    assert f"; see that it is up at 127.0.0.1:{port}, and that the settings {server}* fit it" in last


WRONG = {
    "redis_sentinel=gregor": "Redis refuses: unknown command 'SENTINEL'",
    "redis_cluster=true": "Redis is unavailable: ",
    "redis_tls=true": "Redis is unavailable: ",
    "redis_password_env=SECRET": "Redis is unavailable: AuthenticationError",
    "cassandra_tls=true": "Cassandra is unavailable: ",
    "kafka_security=ssl": "ssl://",
    "kafka_security=sasl_plaintext kafka_username=a kafka_password_env=SECRET": "Kafka is unavailable: _AUTHENTICATION",
}


def test_a_server_that_is_spoken_to_in_the_wrong_way_is_one_line(
    crawl: Crawl, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "horse-staple")
    assert crawl.run("init") == FINISHED
    capsys.readouterr()
    for wrong, told in WRONG.items():
        words = [f"--set={each}" for each in ("start_timeout=1", "server_timeout=2", *wrong.split())]
        assert crawl.run("worker", *words) == BAD_INPUT
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("gregor: ")]
        assert told in lines[-1]
        assert "horse-staple" not in "".join(lines)


def _probed(port: int, wanted: str) -> object:
    """What /healthz says as soon as it says ``wanted``, or at last."""
    said: object = None
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            answer = requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
        except requests.ConnectionError:
            time.sleep(0.05)  # it does not listen yet
            continue
        assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        said = answer.json()
        if wanted in answer.text:
            break
    return said


def test_the_doctor_asks_each_server(crawl: Crawl, redis: Service, capsys: pytest.CaptureFixture[str]) -> None:
    def findings() -> dict[str, str]:
        crawl.run("doctor", "--set", "server_timeout=3")
        lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
        return {what: f"{level} {text}" for level, what, text in lines}  # the last one of each

    assert {findings()[server] for server in NAMES} == {"ok answers as it is configured"}
    stoppable(redis).nodes[0].pause()
    try:
        found = findings()
    finally:
        redis.nodes[0].resume()
    assert found.pop("redis").startswith("fail Redis is unavailable: ")
    assert found["kafka"] == "ok answers as it is configured"


def test_the_doctor_says_what_a_crawl_that_is_not_of_this_version_needs(
    crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    def of_crawl() -> str:
        crawl.run("doctor", "--set", "server_timeout=3")
        (line,) = (line for line in capsys.readouterr().out.splitlines() if line.split()[1] == "crawl")
        return line

    before = of_crawl()
    assert before.startswith("warn") and "gregor init" in before
    assert crawl.run("init") == 0
    assert of_crawl().startswith("ok ")


def test_what_is_not_set_up_is_said(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl.run("worker") == BAD_INPUT
    assert "run `gregor init`" in capsys.readouterr().err


def test_a_crawl_is_set_up_once_and_never_mixed_with_another(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl.run("init") == FINISHED
    assert "Cassandra: keyspace" in capsys.readouterr().out
    assert crawl.run("init") == FINISHED
    told = capsys.readouterr().out
    assert "Cassandra: keyspace" not in told
    assert "Redis: nothing is evicted (maxmemory-policy noeviction); " in told
    seed = "http://a.example/"
    for command, *words in (["init"], ["worker"], ["status"], ["seed", seed], ["pages"]):
        assert crawl.run(command, *words, "--set", f"partitions={2 * PARTITIONS}") == BAD_INPUT, command
        told = capsys.readouterr().err
        assert (
            f"was made for partitions = {PARTITIONS}, not {2 * PARTITIONS}; it is fixed once per crawl: set it" in told
        )
    mixed = ["--set", "crawl=another", "--set", f"cassandra_keyspace=gregor_{crawl.name.replace('-', '_')}"]
    for command in ("init", "worker"):
        assert crawl.run(command, *mixed) == BAD_INPUT
        assert f"was made for crawl = {crawl.name}, not another" in capsys.readouterr().err


def test_what_cannot_be_read_is_a_dead_letter_with_its_offset(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert crawl.run("init") == FINISHED
    producer = Producer({"bootstrap.servers": crawl.kafka})
    later, nowhere = msgspec.msgpack.encode([99, "of a later version"]), encode(Ticket("http://a/", "http://a/", ""))
    foreign = next(f"h{i}" for i in range(99) if partition_of(f"h{i}", PARTITIONS) != 1)
    elsewhere = encode(Ticket(f"http://{foreign}/", f"http://{foreign}/", foreign))
    values = (b"\xc1 garbage", later, None, nowhere, elsewhere, b"x" * 900_000)
    for value in values:
        producer.produce(topics.frontier(crawl.name, 2), value, b"a.example", 1)
    producer.flush()
    assert crawl.run("worker") == FINISHED
    capsys.readouterr()
    assert crawl.run("deadletters", "--json") == FINISHED
    told = capsys.readouterr().out
    assert "unreadable" in told
    assert "partition 1, priority 2, offset 0" in told
    assert [event["source"] for event in crawl.dead_letters()] == [
        f"partition 1, priority 2, offset {offset}" for offset in range(len(values))
    ]


def test_pages_are_kept_as_long_as_configured(crawl: Crawl) -> None:
    assert crawl.run("init") == FINISHED
    config = replace(load(str(crawl.file), {}, ()).config, cassandra_retention=3600)
    page = Page("http://a.example/", "http://a.example/", "a.example", 1, "new", 200, 0.0)

    async def stored() -> list[tuple[int, ...]]:
        opened = await engine.open_engine(config, CanonicalRules().fingerprint(), "w", SystemClock(), os.environ)
        try:
            await opened.store.put_page(page, None, None, 1)
            return await opened.reader._cassandra.read("SELECT ttl(data) FROM pages")
        finally:
            await opened.close()

    ((left,),) = asyncio.run(stored())
    assert 0 < left <= 3600

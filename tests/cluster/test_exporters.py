"""Real servers behind the exporters: every query of the servers' dashboard and alerts finds its metrics and labels."""

import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import requests
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from monitoring.servers import SERVERS
from tests.cluster.servers import Missing, Node, Servers, cassandra, kafka, redis, zookeeper
from tests.cluster.servers.packages import jars, program
from tests.cluster.servers.process import Process, free_ports, listens

ROOT: Final = Path(__file__).parents[2]
_AGENT: Final = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
_ALERTS: Final = (ROOT / "monitoring" / "alerts.yml").read_text().partition("- name: gregor-servers")[2]
_METRIC: Final = re.compile(r'\b((?:node|kafka|org_apache|redis|jvm)_\w+|\w+)(?=\{job=~"gregor-|\{name=)')


def _agent(name: str, port: int) -> list[str]:
    """As the images of the deployments run it."""
    (jar,) = jars("jmx_exporter", (_AGENT,)).glob("jmx_prometheus_javaagent-*.jar")
    return [f"-javaagent:{jar}=127.0.0.1:{port}:{ROOT / 'monitoring' / 'exporters' / name}.yml"]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory, servers: Servers) -> Iterator[str]:
    """A Prometheus that has scraped servers of each kind; its address."""
    folder = tmp_path_factory.mktemp("exporters")
    ports = free_ports(9)
    targets = {
        "kafka": ports[:1],
        "cassandra": ports[1:2],
        "zookeeper": ports[2:5],
        "redis": ports[5:7],
        "node": ports[7:8],
    }
    nodes: list[Node] = []
    try:
        broker = kafka.start(folder, servers.guard, options=_agent("kafka", ports[0]))
        nodes += broker.nodes
        nodes += cassandra.start(folder, servers.guard, options=_agent("cassandra", ports[1])).nodes
        nodes += zookeeper.start(folder, servers.guard, count=3, metrics=ports[2:5]).nodes
        pair = redis.start(folder, servers.guard)
        nodes += pair.nodes
        exporter = program("prometheus-redis-exporter", "prometheus-redis-exporter")
        machine = program("prometheus-node-exporter", "prometheus-node-exporter")
        prometheus = program("prometheus", "prometheus")
    except Missing as error:
        for node in nodes:
            node.kill()
        pytest.skip(str(error))
    commands = [
        [exporter, "-redis.addr", address, "-web.listen-address", f"127.0.0.1:{port}"]
        for address, port in zip(pair.addresses, ports[5:7], strict=True)
    ]
    commands.append([machine, f"--web.listen-address=127.0.0.1:{ports[7]}"])
    config = folder / "prometheus.yml"  # JSON is YAML
    config.write_text(json.dumps(_config(targets)))
    address = f"127.0.0.1:{ports[8]}"
    commands.append(
        [
            prometheus,
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address={address}",
        ]
    )
    _work(broker.addresses[0])
    for number, command in enumerate(commands):
        nodes.append(process := Process(f"exporter{number}", command, folder, servers.guard))
        process.start()
    try:
        _wait(address, sum(map(len, targets.values())))
        yield address
    finally:
        for node in nodes:
            node.kill()


def _config(targets: dict[str, list[int]]) -> dict[str, object]:
    return {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [
            {"job_name": f"gregor-{name}", "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in ports]}]}
            for name, ports in targets.items()
        ],
    }


def _work(address: str) -> None:
    """Something to count: a topic that is written to."""
    settings: dict[str, str | int | float | bool] = {"bootstrap.servers": address, "log_level": 0}
    client = AdminClient(settings)  # which must live until the answer is there
    (made,) = client.create_topics([NewTopic("frontier", 2, 1)]).values()
    made.result()
    producer = Producer(settings)
    producer.produce("frontier", b"x")
    assert producer.flush(30) == 0


def _wait(address: str, targets: int) -> None:
    """Until all answer, and have been scraped often enough for a rate."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if listens(address) and len(_ask(address, "count_over_time((up == 1)[1m:1s]) >= 4")) >= targets:
            return
        time.sleep(0.5)
    pytest.fail(f"not all exporters answer: {_ask(address, 'up')}")


def _ask(address: str, query: str) -> list[dict[str, dict[str, str]]]:
    answer = requests.get(f"http://{address}/api/v1/query", params={"query": query}, timeout=30)
    if answer.status_code == 503:  # it starts
        return []
    assert answer.status_code == 200, f"{query}: {answer.text}"
    series: list[dict[str, dict[str, str]]] = answer.json()["data"]["result"]
    return series


def test_the_agent_is_the_one_that_deployments_take() -> None:
    """What they hold it against is what Maven gives; all name the same one."""
    try:
        (jar,) = jars("jmx_exporter", (_AGENT,)).glob("jmx_prometheus_javaagent-*.jar")
    except Missing as error:
        pytest.skip(str(error))
    sha256 = hashlib.sha256(jar.read_bytes()).hexdigest()
    for path in ("docker/compose.exporters.yaml", "terraform/modules/nodes/main.tf", "helm/gregor/values.yaml"):
        text = (ROOT / path).read_text()
        assert _AGENT in text and sha256 in text, path


# Where nothing is written there is no fsync to take the time of, and Redis has no bound unless it is given one.
_EMPTY: Final = {"ZooKeeper: time to write the log", "Redis: memory"}


def test_every_query_of_the_dashboard_has_data_under_its_labels(scraped: str) -> None:
    for panel in SERVERS.panels:
        for query in panel.queries:
            series = _ask(scraped, query.expr.replace("$__rate_interval", "10s"))
            assert series or panel.title in _EMPTY, f"{panel.title}: {query.expr}"
            for label in re.findall(r"{{(\w+)}}", query.legend):
                assert all(label in one["metric"] for one in series), f"{panel.title}: {label}"


def test_every_metric_that_is_named_exists(scraped: str) -> None:
    queries = " ".join([_ALERTS, *(query.expr for panel in SERVERS.panels for query in panel.queries)])
    named = set(_METRIC.findall(queries)) | set(re.findall(r"\b(?:node|kafka|org_apache|redis|jvm)_\w+", queries))
    assert len(named) > 30
    assert not [name for name in sorted(named) if not _ask(scraped, name)]


def test_what_alerts_select_by_name_exists(scraped: str) -> None:
    """The kind of an MBean is a label: a wrong one would leave an alert silent for ever."""
    selectors = re.findall(r"(?:kafka|org_apache)_\w+\{[^}]*\}", _ALERTS)
    assert len(selectors) >= 4
    assert not [selector for selector in selectors if not _ask(scraped, selector)]


def test_nothing_is_wrong_with_what_runs(scraped: str) -> None:
    """No alert's condition holds of healthy servers, but those of disk and memory, which are this machine's."""
    for name, expr in re.findall(r"- alert: (\w+)\n\s+expr: (?:>\n)?(.*?)\n\s+for:", _ALERTS, re.DOTALL):
        if "Disk" not in name and "ServerMemory" not in name:
            assert _ask(scraped, " ".join(expr.split())) == [], name

"""A real Prometheus scrapes a real crawl: every query of every dashboard has data under the labels of its legend."""

import asyncio
import contextlib
import json
import re
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import requests

from gregor.worker.inspect.index_metrics import INDEX_METRICS
from gregor.worker.inspect.metric_list import METRICS
from monitoring.panels import DASHBOARDS, Query
from tests.endtoend.operated import VIEWER, operated

PROMETHEUS = shutil.which("prometheus")
QUERIES = [query for board in DASHBOARDS for panel in board.panels for query in panel.queries]


@contextlib.asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[str]:
    """Its address. It scrapes once a second."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "token").write_text(VIEWER)
    scrape = {
        "job_name": "gregor",
        "authorization": {"credentials_file": str(folder / "token")},
        "static_configs": [{"targets": [target]}],
    }
    config = folder / "prometheus.yml"  # JSON is YAML
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}))
    assert PROMETHEUS is not None
    process = await asyncio.create_subprocess_exec(
        PROMETHEUS,
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield f"http://{address}"
    finally:
        process.terminate()
        await process.wait()


async def ask(server: str, query: str) -> list[dict[str, Any]]:
    """The answer now; nothing while the server starts."""
    try:
        answer = await asyncio.to_thread(requests.get, f"{server}/api/v1/query", params={"query": query}, timeout=10)
    except requests.ConnectionError:
        return []
    if answer.status_code == 503:
        return []
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]["result"]
    return found


def filled_in(query: Query) -> str:
    return query.expr.replace("$__rate_interval", "10s").replace("$crawl", "crawl").replace("$release", ".*")


def elsewhere(query: Query) -> bool:
    """Whether its series come from an index, or are there only once rules or a model have something to find."""
    return re.search(r"gregor_(index|items?|pages_classified|topic_pages)_", query.expr) is not None


def test_queries_of_other_series_ask_for_labels_that_these_have() -> None:
    metrics = {metric.series: metric for metric in (*METRICS, *INDEX_METRICS)}
    queries = [query for query in QUERIES if elsewhere(query)]
    assert queries
    for query in queries:
        (name,) = set(re.findall(r"gregor_\w+?(?=_bucket\b|\b)", query.expr))
        assert {*re.findall(r"{{(\w+)}}", query.legend)} <= {*metrics[name].labels, "instance"}, query


@pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed (Debian: prometheus)")
def test_every_query_has_data_under_its_labels(tmp_path: Path) -> None:
    async def case() -> None:
        async with (
            operated(tmp_path / "data", hosts=10, delay=0.5, ordering="opic") as worker,
            prometheus(tmp_path, worker.url[7:-1]) as server,
        ):
            async with asyncio.timeout(60):
                while not any(  # noqa: ASYNC110 - another process
                    float(one["value"][1]) >= 3 for one in await ask(server, "count_over_time(up[1m])")
                ):
                    await asyncio.sleep(0.2)
            for query in QUERIES:
                if elsewhere(query):
                    continue
                found = await ask(server, filled_in(query))
                assert found, query.expr
                for label in re.findall(r"{{(\w+)}}", query.legend):
                    assert all(label in one["metric"] for one in found), query
            (up,) = await ask(server, "up")
            assert up["value"][1] == "1"

    asyncio.run(case())

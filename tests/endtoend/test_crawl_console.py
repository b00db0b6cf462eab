"""The API of a whole crawl, from a process that owns nothing, over workers that are asked by theirs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.commands import cli
from tests.endtoend.consoled import consoled
from tests.endtoend.kept_site import START, crawled
from tests.endtoend.operated import OPERATOR, VIEWER


def test_the_workers_are_told_as_one(tmp_path: Path) -> None:
    async def run() -> None:
        async with consoled(tmp_path) as (console, _, __):
            async with asyncio.timeout(60):
                status = (await console.ask("GET", "/api/v1/status", VIEWER)).json()
                while status["now"]["partitions"] < 4 or status["counts"]["pages"] < 8:
                    await asyncio.sleep(0.2)
                    status = (await console.ask("GET", "/api/v1/status", VIEWER)).json()
            assert (status["now"]["worker"], status["now"]["state"]) == ("console", "crawling")
            assert "of 3 workers, 1 do not answer" in status["now"]["limiting"]
            hosts = (await console.ask("GET", "/api/v1/hosts", VIEWER, params={"sort": "host"})).json()["hosts"]
            assert [one["host"] for one in hosts] == [
                "h0.example",
                "h0.example",
                "h1.example",
                "h1.example",
                "h2.example",
            ]
            found = await console.ask("GET", "/api/v1/hosts", VIEWER, params={"search": "h2", "limit": 1})
            assert [one["host"] for one in found.json()["hosts"]] == ["h2.example"]
            found = await console.ask("GET", "/api/v1/hosts", VIEWER, params={"sort": "host", "order": "last"})
            assert found.json()["next"] == ""
            assert [one["host"] for one in found.json()["hosts"]] == [one["host"] for one in reversed(hosts)]
            visits = (await console.ask("GET", "/api/v1/recent", VIEWER)).json()["urls"]
            assert {one["url"].split("/")[2] for one in visits} >= {"h0.example", "h1.example", "h2.example"}
            assert status["outlook"]["disk_size"] > 0
            told = (await console.ask("GET", "/api/v1/workers", VIEWER)).json()
            assert ([one["name"] for one in told["workers"]], told["partitions"][0]["epoch"]) == (
                ["w0", "w1", "w2"],
                3,
            )
            assert b"process_cpu_seconds_total" in (await console.ask("GET", "/metrics", VIEWER)).content

    asyncio.run(run())


def test_it_reads_and_steers_without_a_worker_of_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        async with consoled(tmp_path) as (console, workers, crowd):
            await crawled(workers[0])
            page = (await console.ask("GET", "/api/v1/page", VIEWER, params={"url": f"{START}story"})).json()
            assert page["record"]["title"] == "A story"
            order = "/api/v1/orders/pause"
            assert (await console.ask("PUT", order, VIEWER, json={"why": "by test"})).status_code == 403
            assert (await console.ask("PUT", order, OPERATOR, json={"why": "by test"})).status_code == 200
            assert workers[0].runtime.services.coordinator.orders().paused
            (change,) = (await console.ask("GET", "/api/v1/changes", VIEWER)).json()["changes"]
            assert (change["what"], change["where"].partition(",")[0]) == ("pause", "API of console")
            assert (await console.ask("POST", "/api/v1/stop", OPERATOR)).status_code == 202
            await asyncio.wait_for(crowd.stopped.wait(), 30)

    asyncio.run(run())


def test_while_the_coordinator_is_away_it_tells_what_it_can(tmp_path: Path) -> None:
    async def run() -> None:
        async with consoled(tmp_path) as (console, _, crowd):
            assert (await console.ask("GET", "/api/v1/workers", VIEWER)).status_code == 200
            crowd.away = True
            assert (await console.ask("GET", "/api/v1/workers", VIEWER)).status_code == 503
            assert (await console.ask("GET", "/readyz", VIEWER)).json()["detail"] == "ZooKeeper is away"
            assert (await console.ask("GET", "/healthz", "")).status_code == 200
            await asyncio.sleep(1.1)  # for longer than an answer of all workers is kept
            status = (await console.ask("GET", "/api/v1/status", VIEWER)).json()
            assert status["now"]["state"] == "crawling"
            assert (await console.ask("GET", "/api/v1/hosts", VIEWER)).json()["hosts"]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say where the console listens"),
        (["--data", "/none", "--listen", "127.0.0.1:0"], "/none holds no crawl"),
        (["--set", "engine=cluster"], "say where the console listens"),
        (["--set", "engine=cluster", "--listen", "9100"], "must be ADDRESS:PORT"),
        (["--set", "engine=cluster", "--listen", "127.0.0.1:0", "--viewer-token-file", "/none"], "viewer_token_file"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["console", *words]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_what_a_worker_did_is_counted_after_it_is_gone(tmp_path: Path) -> None:
    async def run() -> None:
        async with consoled(tmp_path) as (console, _, crowd):

            async def counts() -> dict[str, Any]:
                counts: dict[str, Any] = (await console.ask("GET", "/api/v1/status", VIEWER)).json()["counts"]
                return counts

            async with asyncio.timeout(60):
                while (before := await counts())["pages"] < 20:  # noqa: ASYNC110 - it is another process's, as it were
                    await asyncio.sleep(0.5)
            assert before["states"]["fetched"] == before["pages"] == before["statuses"]["200"]
            assert before["requests"] >= before["pages"] > 0 and before["bytes"] > 0
            del crowd.workers[:]
            await asyncio.sleep(2.5)  # for longer than counts are good
            after = await counts()
            assert after["pages"] >= before["pages"] and after["requests"] >= before["requests"]

    asyncio.run(run())

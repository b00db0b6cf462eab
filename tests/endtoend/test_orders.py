"""Orders by way of the API, obeyed by a worker that crawls, kept over a restart."""

import asyncio
import math
from pathlib import Path

import msgspec
import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from gregor.worker.adapters.embedded import change_orders
from gregor.worker.base.errors import BadInput
from gregor.worker.orders.model import Orders
from tests.endtoend.operated import OPERATOR, VIEWER, Operated, operated, over

HOSTILE = "<script>alert(1)</script>"


def problem(answer: requests.Response, status: int) -> str:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().keys() == {"type", "title", "status", "detail"}
    detail: str = answer.json()["detail"]
    assert detail.endswith(".")
    assert "<" not in answer.text
    return detail


@over
async def test_pause_and_resume(worker: Operated) -> None:
    await worker.until(lambda: worker.asked("h0.example") > 2)
    for _ in range(2):
        answer = await worker.ask("PUT", "/api/v1/orders/pause", json={"why": HOSTILE, "who": "ann"})
        assert answer.status_code == 200
        assert answer.json()["kind"] == "pause"
    await worker.until(lambda: worker.runtime.stats.running == 0)
    assert (await worker.ask("GET", "/api/v1/status", VIEWER)).json()["now"]["state"] == "paused"
    before = worker.asked("h0.example")
    await asyncio.sleep(0.3)
    assert worker.asked("h0.example") == before
    found = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()["orders"]
    assert [(one["kind"], one["who"], one["why"]) for one in found] == [("pause", "ann", HOSTILE)]
    assert found[0]["at"] > 1e9
    for _ in range(2):
        assert (await worker.ask("DELETE", "/api/v1/orders/pause")).status_code == 204
    await worker.until(lambda: worker.asked("h0.example") > before)


@over
async def test_a_blocked_host_is_asked_nothing_and_others_go_on(worker: Operated) -> None:
    await worker.until(lambda: worker.asked("h0.example") > 2)
    assert (await worker.ask("PUT", "/api/v1/orders/block/H0.example")).status_code == 200
    await worker.until(lambda: not any(host.busy for o in worker.runtime.owned.values()
                                       for host in o.crawl.partition.hosts.values()))  # fmt: skip
    before, others = worker.asked("h0.example"), worker.asked("h1.example")
    await worker.until(lambda: worker.asked("h1.example") > others + 4)
    assert worker.asked("h0.example") == before
    found = (await worker.ask("GET", "/api/v1/hosts?state=blocked", VIEWER)).json()["hosts"]
    assert [host["host"] for host in found] == ["h0.example"]
    assert (await worker.ask("DELETE", "/api/v1/orders/block/h0.example")).status_code == 204
    assert (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()["orders"] == []


@over
async def test_a_domain_is_slowed_down(worker: Operated) -> None:
    await worker.until(lambda: worker.asked("h0.example") > 2)
    assert (await worker.ask("PUT", "/api/v1/orders/delay/*.example", json={"value": 60})).status_code == 200
    found = (await worker.ask("GET", "/api/v1/hosts", VIEWER)).json()["hosts"]
    assert {host["delay"] for host in found} == {60}
    await worker.until(lambda: all(host.next_turn > worker.runtime.stats.beat + 50
                                   for owned in worker.runtime.owned.values()
                                   for host in owned.crawl.partition.hosts.values()))  # fmt: skip
    before = worker.asked("h0.example")
    await asyncio.sleep(0.3)
    assert worker.asked("h0.example") == before
    assert worker.runtime.stats.too_close == 0


@over
async def test_stop(worker: Operated) -> None:
    assert (await worker.ask("POST", "/api/v1/stop", json={"why": "upgrade"})).status_code == 202
    await worker.until(lambda: worker.runtime.ending is not None)
    assert worker.runtime.ending is not None
    assert worker.runtime.ending.detail == "by order"
    answer = await worker.ask("GET", "/readyz", VIEWER)
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "detail": "it is stopping"}


def test_orders_outlive_the_worker(tmp_path: Path) -> None:
    async def first() -> None:
        async with operated(tmp_path) as worker:
            await worker.ask("PUT", "/api/v1/orders/pause")
            await worker.ask("PUT", "/api/v1/orders/delay/h1.example", json={"value": 1.5})

    async def second() -> None:
        async with operated(tmp_path) as worker:
            found = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()["orders"]
            assert [(one["kind"], one["target"], one["value"]) for one in found] == [
                ("pause", "", None),
                ("delay", "h1.example", 1.5),
            ]
            await asyncio.to_thread(change_orders, tmp_path, lambda _: Orders())
            await worker.until(lambda: worker.asked("h0.example") > 0)

    asyncio.run(first())
    asyncio.run(second())


@over
async def test_two_operators_never_undo_each_other(worker: Operated) -> None:
    await asyncio.gather(*(worker.ask("PUT", f"/api/v1/orders/block/b{number}.example") for number in range(20)))
    assert len((await worker.ask("GET", "/api/v1/orders", VIEWER)).json()["orders"]) == 20


@over
async def test_roles(worker: Operated) -> None:
    assert (await worker.ask("GET", "/healthz", "")).json() == {"ok": True, "detail": ""}
    assert (await worker.ask("GET", "/", "")).headers["content-type"].startswith("text/html")
    for path in ("/metrics", "/readyz", "/api/v1/status", "/api/v1/orders", "/api/v1/openapi.json", "/nothing"):
        answer = await worker.ask("GET", path, "")
        assert "token" in problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "operator" in problem(await worker.ask("PUT", "/api/v1/orders/pause", VIEWER), 403)
    assert "operator" in problem(await worker.ask("POST", "/api/v1/stop", VIEWER), 403)
    assert not worker.runtime.services.coordinator.orders().paused
    for token in ("", "x" * 30, VIEWER + "x", OPERATOR[:-1], "\xff\xfe"):
        answer = await worker.ask("GET", "/metrics", headers={"Authorization": f"Bearer {token}".encode("latin-1")})
        problem(answer, 401)


@over
async def test_wrong_tokens_are_looked_at_ten_times_a_minute(worker: Operated) -> None:
    for _ in range(10):
        problem(await worker.ask("GET", "/metrics", "wrong-token"), 401)
    answer = await worker.ask("GET", "/metrics", OPERATOR)
    problem(answer, 429)
    assert 0 < int(answer.headers["retry-after"]) <= 61
    assert (await worker.ask("GET", "/healthz", "")).status_code == 200


@over
async def test_what_is_wrong_gets_its_status_and_one_sentence(worker: Operated) -> None:
    ask = worker.ask
    assert "other methods" in problem(await ask("POST", "/api/v1/status"), 405)
    assert "nothing here" in problem(await ask("GET", f"/{HOSTILE}"), 404)
    problem(await ask("GET", "/metrics/"), 404)
    assert "at most" in problem(await ask("PUT", "/api/v1/orders/pause", data=b" " * 9000), 413)
    json = {"Content-Type": "application/json"}
    assert "body" in problem(await ask("PUT", "/api/v1/orders/pause", data=b"{", headers=json), 400)
    assert "body" in problem(await ask("PUT", "/api/v1/orders/pause", data=b'{"who": "\xff"}', headers=json), 400)
    assert "JSON" in problem(await ask("PUT", "/api/v1/orders/pause", data={"why": "form"}), 415).replace(
        "json", "JSON"
    )
    problem(await ask("PUT", "/api/v1/orders/pause", json={"why": 3}), 400)
    problem(await ask("PUT", "/api/v1/orders/pause", json={HOSTILE.replace("<", ""): 1}), 400)
    problem(await ask("PUT", "/api/v1/orders/delay/a.example", json={}), 400)
    problem(await ask("PUT", "/api/v1/orders/delay/a.example", json={"value": -1}), 400)
    assert "not a host" in problem(await ask("PUT", "/api/v1/orders/block/a%20b"), 400).lower()
    problem(await ask("GET", "/api/v1/hosts?limit=0"), 400)
    problem(await ask("GET", "/api/v1/hosts?colour=red"), 400)
    problem(await ask("GET", "/api/v1/hosts?limit=1&limit=2"), 400)
    assert "no query" in problem(await ask("GET", "/api/v1/status?colour=red"), 400)
    assert "no query" in problem(await ask("PUT", "/api/v1/orders/pause?why=quietly"), 400)
    problem(await ask("DELETE", "/api/v1/orders/unread/"), 404)
    assert (await ask("GET", "/api/v1/orders")).json()["orders"] == []


@over
async def test_status_hosts_and_metrics_tell_the_same(worker: Operated) -> None:
    await worker.until(lambda: worker.runtime.stats.pages > 10)
    await worker.ask("PUT", "/api/v1/orders/pause")
    await worker.until(lambda: worker.runtime.stats.running == 0 and worker.runtime.stats.limit == "paused")
    worker.runtime.stats.host_states_at = -math.inf  # states of hosts are counted anew once a second
    status = (await worker.ask("GET", "/api/v1/status", VIEWER)).json()
    text = (await worker.ask("GET", "/metrics", VIEWER)).text
    samples = {
        (sample.name, tuple(value for name, value in sample.labels.items() if name != "crawl")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["gregor_pages_total", ()] == status["counts"]["pages"]
    assert samples["gregor_requests_total", ()] == status["counts"]["requests"]
    assert samples["gregor_hosts", ("waiting",)] == status["now"]["hosts"]["waiting"] == 2
    assert samples["gregor_paused", ()] == samples["gregor_limit", ("paused",)] == 1
    assert samples["gregor_partitions_owned", ()] == 2
    assert samples["gregor_too_close_total", ()] == 0
    assert samples["gregor_politeness_margin", ()] >= 1
    assert samples["gregor_disk_free_bytes", ()] > 0
    assert samples["process_resident_memory_bytes", ()] > 0
    assert sum(value for (name, _), value in samples.items() if name == "gregor_frontier_lag_records") >= 1
    assert "example" not in text
    first = (await worker.ask("GET", "/api/v1/hosts?limit=1&sort=host", VIEWER)).json()
    second = (await worker.ask("GET", f"/api/v1/hosts?limit=5&after={first['next']}", VIEWER)).json()
    assert [first["hosts"][0]["host"], *(one["host"] for one in second["hosts"])] == ["h0.example", "h1.example"]
    assert second["next"] == ""


@over
async def test_a_scrape_does_not_wait_for_a_log_that_is_away(worker: Operated) -> None:
    back, log = asyncio.Event(), worker.runtime.services.log
    ends = log.ends

    async def late(partition: int) -> dict[int, int]:
        await back.wait()
        return await ends(partition)

    log.ends = late  # type: ignore[method-assign]
    answer = await worker.ask("GET", "/metrics", VIEWER)
    back.set()
    assert answer.status_code == 200
    assert "gregor_visits_total" in answer.text


async def _limited(worker: Operated) -> None:
    """More requests than are answered get 429; the crawl and /healthz do not notice."""
    answers = [await worker.ask("GET", "/api/v1/status", VIEWER) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused
    for answer in refused:
        problem(answer, 429)
        assert answer.headers["retry-after"] == "1"
    assert (await worker.ask("GET", "/healthz", "")).status_code == 200


def test_requests_beyond_the_rate_are_refused(tmp_path: Path) -> None:
    over(_limited, api_rate=2.0)(tmp_path)


async def _anonymous(worker: Operated) -> None:
    assert (await worker.ask("GET", "/api/v1/status", "")).status_code == 200
    problem(await worker.ask("PUT", "/api/v1/orders/pause", ""), 403)
    problem(await worker.ask("GET", "/api/v1/status", "", headers={"Host": "rebound.example"}), 401)


def test_anonymous_read_reads_only_and_only_by_a_loopback_name(tmp_path: Path) -> None:
    over(_anonymous, anonymous_read=True)(tmp_path)


def test_an_address_in_use_is_told(tmp_path: Path) -> None:
    async def twice() -> None:
        async with operated(tmp_path / "a") as worker:
            port = worker.url.rstrip("/").rpartition(":")[2]
            with pytest.raises(BadInput, match=r"listen 127\.0\.0\.1:\d+: Address already in use"):
                async with operated(tmp_path / "b", listen=f"127.0.0.1:{port}"):
                    raise AssertionError

    asyncio.run(twice())


@over
async def test_the_document_describes_what_there_is(worker: Operated) -> None:
    document = (await worker.ask("GET", "/api/v1/openapi.json", VIEWER)).json()
    assert document["openapi"] == "3.1.0"
    references = set()
    stack = [document]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            references |= {one["$ref"]} if "$ref" in one else set()
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references <= known
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            wanted = 401 if operation["security"] else 200
            answer = await worker.ask(method.upper(), path.replace("{host}", "a.example"), "")
            assert answer.status_code == wanted, path
    assert msgspec.json.encode(document)

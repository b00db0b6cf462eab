"""The console of a data folder: after the crawl, and beside one that has none."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import requests

from gregor.worker.adapters.embedded import standing_orders
from gregor.worker.compose import console
from gregor.worker.config.settings import Config
from tests.endtoend.kept_site import START, crawled
from tests.endtoend.operated import OPERATOR, SETTINGS, operated

Ask = Callable[..., Awaitable[requests.Response]]


async def shown(folder: Path, case: Callable[[Ask], Awaitable[None]], **settings: Any) -> None:
    """Run a case with the console of a folder, which ends by an order of its API."""
    token = folder.parent / "token"
    token.write_text(OPERATOR)
    of_tokens = {"viewer_token_env": "", "operator_token_env": "", "operator_token_file": str(token)}
    config = Config(data=str(folder), **{**SETTINGS, **of_tokens, "anonymous_read": True, **settings})
    stop, url = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        console.console(config, stop, lambda line: url.set_result(line.split()[4].partition("#")[0].rstrip(",")))
    )
    await asyncio.wait([serving, url], return_when=asyncio.FIRST_COMPLETED)
    assert not serving.done(), serving.exception()

    async def ask(method: str, path: str, **more: Any) -> requests.Response:
        headers = {} if method == "GET" else {"Authorization": f"Bearer {OPERATOR}"}
        where = f"{url.result()}api/v1/{path}"
        return await asyncio.to_thread(requests.request, method, where, headers=headers, timeout=30, **more)

    try:
        await case(ask)
        assert (await ask("POST", "stop")).status_code == 202
    finally:
        stop.set()
        await serving


def test_what_is_kept_is_shown_and_steered_after_the_crawl(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    async def case(ask: Ask) -> None:
        status = (await ask("GET", "status")).json()
        assert status["now"]["state"] == "stopped"
        assert status["counts"]["states"]["gone"] == 1
        assert status["counts"]["pages"] == sum(
            status["counts"]["states"].get(one, 0) for one in ("fetched", "duplicate")
        )
        assert status["counts"]["statuses"]["200"] == status["counts"]["pages_200"]
        waiting = [host["queued"] for host in (await ask("GET", "hosts")).json()["hosts"]]
        assert status["outlook"]["waiting"] == sum(waiting)
        assert status["outlook"]["disk_size"] > 0
        for path in ("hosts", "history", "recent", "orders", "changes", "workers", "deadletters", "openapi.json"):
            assert (await ask("GET", path)).status_code == 200, path
        assert len((await ask("GET", "workers")).json()["partitions"]) == 2
        assert {one["taker"] for one in (await ask("GET", "handovers")).json()["handovers"]} == {"worker-1"}
        page = (await ask("GET", "page", params={"url": f"{START}story"})).json()
        assert page["record"]["title"] == "A story"
        assert (await ask("GET", "pages", params={"state": "gone"})).json()["urls"][0]["url"] == f"{START}gone"
        order = await ask("PUT", "orders/block/h0.example", json={"why": "asked by mail"})
        assert (order.status_code, order.json()["why"]) == (200, "asked by mail")
        assert "block h0.example" in standing_orders(folder).by_name
        seeds = [{"url": "http://later.example/"}]
        assert (await ask("POST", "seeds", json={"seeds": seeds})).json() == {"count": 1}
        assert (await ask("POST", "recrawl", json={"urls": [START]})).json()["count"] == 1
        assert (await ask("POST", "deadletters/retry", json={})).json()["count"] == 1
        assert (await ask("POST", "deadletters/drop", json={})).json()["count"] == 0
        what = [one["what"].split()[0] for one in (await ask("GET", "changes")).json()["changes"]]
        assert what == ["drop", "retry", "recrawl", "seed", "block"]

    async def run() -> None:
        async with operated(folder, hosts=1, delay=0.01, retries=0) as worker:
            await crawled(worker)
        await shown(folder, case)

    asyncio.run(run())


def test_beside_a_crawl_it_takes_orders_only(tmp_path: Path) -> None:
    async def run() -> None:
        async with operated(tmp_path / "data") as worker:

            async def case(ask: Ask) -> None:
                assert (await ask("GET", "pages")).status_code == 200
                assert (await ask("PUT", "orders/pause", json={})).status_code == 200
                await worker.until(lambda: worker.engine.coordinator.orders().paused)
                refused = await ask("POST", "seeds", json={"seeds": [{"url": "http://later.example/"}]})
                assert refused.status_code == 400
                assert "is in use by process" in refused.json()["detail"]

            await shown(tmp_path / "data", case)

    asyncio.run(run())

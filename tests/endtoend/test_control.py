"""What is done once, by way of the API: seeds, another visit, dead letters; one effect a key; all of it on record."""

import asyncio
from pathlib import Path

import pytest

from gregor.schemas.messages import DeadLetter, Row
from gregor.worker.orders.model import REMEMBERED
from tests.endtoend.operated import VIEWER, Operated, operated, over
from tests.endtoend.test_orders import problem
from tests.memory_transport import Scripted


async def changes(worker: Operated) -> list[tuple[str, int]]:
    """What was changed, the oldest first."""
    found = (await worker.ask("GET", "/api/v1/changes?limit=1000", VIEWER)).json()["changes"]
    return [(one["what"], one["count"]) for one in reversed(found)]


async def row(worker: Operated, url: str) -> Row | None:
    return (await worker.engine.store.rows([url]))[0]


async def until_row(worker: Operated, url: str, state: str, visits: int = 0) -> Row:
    """Wait until a URL has a state, after so many visits."""
    async with asyncio.timeout(20):
        while True:
            found = await row(worker, url)
            if found is not None and found.state == state and found.visits >= visits:
                return found
            await asyncio.sleep(0.02)


def visits(worker: Operated, url: str) -> int:
    return sum(request.href == url for request in worker.transport.requests)


async def _seeds(worker: Operated) -> None:
    new = "http://new.example/start"
    worker.transport.script(new, Scripted(body=b"<a href=/next>on</a> a page of its own"))
    worker.transport.script("http://new.example/next", Scripted(body=b"another page"))
    given = [{"url": f"{new}#part", "label": "late", "priority": 2}, {"url": "http://h0.example/0"}]
    answer = await worker.ask("POST", "/api/v1/seeds", json={"seeds": given, "why": "asked for", "who": "ann"})
    assert (answer.status_code, answer.json()) == (200, {"count": 2})
    await worker.until_state(new)
    await worker.until_state("http://new.example/next")
    found = await row(worker, new)
    assert found is not None
    assert (found.label, found.state) == ("late", "fetched")
    assert visits(worker, "http://h0.example/0") == 1, "what the crawl knows already is not visited again"
    assert await changes(worker) == [(f"seed {new} http://h0.example/0", 2)]


def test_seeds_are_crawled_and_their_hosts_are_in_scope(tmp_path: Path) -> None:
    over(_seeds, scope="host")(tmp_path)


@over
async def test_another_visit_of_what_was_fetched(worker: Operated) -> None:
    url = "http://h0.example/0"
    await worker.until_state(url)
    body = {"urls": [url, "http://never.example/seen", f"{url}#again", url], "why": "it changed"}
    worker.transport.script(url, Scripted(status=404))
    for _ in range(2):
        answer = await worker.ask("POST", "/api/v1/recrawl", json=body, headers={"Idempotency-Key": '"one"'})
        assert answer.json() == {"count": 1, "unknown": ["http://never.example/seen"]}
    await worker.until(lambda: visits(worker, url) == 2)
    found = await until_row(worker, url, "gone")
    assert (found.visits, [one.outcome for one in found.attempts]) == (2, ["fetched", "status 404"])
    answer = await worker.ask("POST", "/api/v1/recrawl", json=body, headers={"Idempotency-Key": "two"})
    await worker.until(lambda: visits(worker, url) == 3)
    assert await changes(worker) == [(f"recrawl {url}", 1)] * 2
    assert worker.runtime.stats.too_close == 0


@over
async def test_a_recrawl_waits_for_what_was_ordered(worker: Operated) -> None:
    url = "http://h0.example/0"
    await worker.until_state(url)
    await worker.ask("PUT", "/api/v1/orders/block/h0.example")
    await worker.ask("POST", "/api/v1/recrawl", json={"urls": [url]})
    await worker.until(lambda: worker.asked("h1.example") > worker.asked("h0.example") + 20)
    assert visits(worker, url) == 1
    await worker.ask("DELETE", "/api/v1/orders/block/h0.example")
    await worker.until(lambda: visits(worker, url) == 2)


async def _dead(worker: Operated, number: int) -> str:
    """A URL that is given up."""
    url = f"http://h0.example/dead{number}"
    worker.transport.script(url, Scripted(status=500))
    await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": url}]})
    await worker.until_state(url)
    return url


async def _letters(worker: Operated) -> set[str]:
    return {letter.key async for letter in worker.reader.dead_letters()}


async def _dead_letters(worker: Operated) -> None:
    first, second, third = [await _dead(worker, number) for number in range(3)]
    assert await _letters(worker) == {first, second, third}
    answer = await worker.ask("POST", "/api/v1/deadletters/retry", json={"cause": "timeout"})
    assert answer.json() == {"count": 0, "more": False}
    worker.transport.script(first, Scripted(body=b"it is back"))
    answer = await worker.ask("POST", "/api/v1/deadletters/retry", json={"urls": [first], "cause": "status"})
    assert answer.json() == {"count": 1, "more": False}
    await worker.until(lambda: visits(worker, first) == 2)
    await until_row(worker, first, "fetched")
    assert await _letters(worker) == {second, third}
    assert (await worker.ask("POST", "/api/v1/deadletters/drop", json={"urls": [second]})).json()["count"] == 1
    assert (await worker.ask("POST", "/api/v1/deadletters/drop", json={"urls": [second]})).json()["count"] == 0
    assert await _letters(worker) == {third}
    found = await row(worker, second)
    assert found is not None
    assert found.state == "dead"
    assert (await worker.ask("POST", "/api/v1/deadletters/retry", json={})).json()["count"] == 1
    await worker.until(lambda: visits(worker, third) == 2)
    await until_row(worker, third, "dead", visits=2)
    assert await _letters(worker) == {third}, "given up once more, with a letter of its own"
    assert (f"retry dead letters of cause status {first}", 1) in await changes(worker)


def test_dead_letters_are_retried_or_dropped(tmp_path: Path) -> None:
    over(_dead_letters, retries=0)(tmp_path)


def test_many_letters_are_treated_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gregor.worker.operate.dead_letters.MOST", 2)

    async def case(worker: Operated) -> None:
        for number in range(3):
            letter = DeadLetter("", "", "", "unreadable", f"garbage {number}", 5.0, source="partition 0")
            await worker.engine.store.put_dead_letter(letter)
        assert (await worker.ask("POST", "/api/v1/deadletters/retry", json={})).json() == {"count": 0, "more": False}
        url = await _dead(worker, 0)
        assert (await worker.ask("POST", "/api/v1/deadletters/retry", json={})).json() == {"count": 1, "more": False}
        await until_row(worker, url, "dead", visits=2)
        await worker.ask("POST", "/api/v1/deadletters/drop", json={"urls": [url]})
        drop = "/api/v1/deadletters/drop"
        assert (await worker.ask("POST", drop, json={})).json() == {"count": 2, "more": True}
        assert (await worker.ask("POST", drop, json={})).json() == {"count": 1, "more": False}

    over(case, retries=0)(tmp_path)


@over
async def test_one_key_is_one_change(worker: Operated) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await worker.ask("PUT", "/api/v1/orders/delay/a.example", json={"value": 5}, headers=key)
    again = await worker.ask("PUT", "/api/v1/orders/delay/a.example", json={"value": 5}, headers=key)
    assert first.json() == again.json()
    other = await worker.ask("PUT", "/api/v1/orders/delay/a.example", json={"value": 6}, headers=key)
    assert "new key" in problem(other, 422)
    other = await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": "http://a.example/"}]}, headers=key)
    assert "new key" in problem(other, 422)
    assert (await worker.ask("DELETE", "/api/v1/orders/delay/a.example")).status_code == 204
    late = await worker.ask("PUT", "/api/v1/orders/delay/a.example", json={"value": 5}, headers=key)
    assert late.status_code == 200
    orders = (await worker.ask("GET", "/api/v1/orders", VIEWER)).json()
    assert (orders["orders"], orders["version"]) == ([], 2)
    problem(await worker.ask("PUT", "/api/v1/orders/pause", headers={"Idempotency-Key": "x" * 101}), 400)


@over
async def test_many_with_one_key_at_once_are_one(worker: Operated) -> None:
    body, key = {"seeds": [{"url": "http://a.example/"}]}, {"Idempotency-Key": "k"}
    answers = await asyncio.gather(*(worker.ask("POST", "/api/v1/seeds", json=body, headers=key) for _ in range(8)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert [answer.json() for answer in answers if answer.status_code == 200][:1] == [{"count": 1}]
    assert await changes(worker) == [("seed http://a.example/", 1)]


@over
async def test_every_change_is_on_record(worker: Operated) -> None:
    who = {"who": "ann", "why": "by <test>\n"}
    await worker.ask("PUT", "/api/v1/orders/block/b.example", json=who)
    await worker.ask("DELETE", "/api/v1/orders/block/b.example", json=who)
    await worker.ask("DELETE", "/api/v1/orders/block/b.example", json=who)
    await worker.ask("POST", "/api/v1/stop", json=who)
    found = (await worker.ask("GET", "/api/v1/changes", VIEWER)).json()
    assert found["next"] == 0
    assert [one["what"] for one in found["changes"]] == [
        "stop worker-1",
        "took back block b.example",
        "block b.example",
    ]
    assert {(one["who"], one["why"], one["where"]) for one in found["changes"]} == {
        ("ann", "by <test>\n", "API of worker-1, from 127.0.0.1")
    }
    assert all(one["at"] > 1e9 for one in found["changes"])


def test_the_record_goes_on_over_restarts_and_is_read_page_by_page(tmp_path: Path) -> None:
    total = 2 * REMEMBERED + 40

    async def whole() -> None:
        async with operated(tmp_path) as worker:
            for number in range(total):
                await worker.ask("PUT", f"/api/v1/orders/block/b{number}.example")
        async with operated(tmp_path) as worker:
            numbers: list[int] = []
            before = 0
            while True:
                page = (await worker.ask("GET", f"/api/v1/changes?limit=70&before={before}", VIEWER)).json()
                numbers += [one["number"] for one in page["changes"]]
                before = page["next"]
                if not before:
                    break
            assert numbers == list(range(total, 0, -1))
            names: list[str] = []
            after = ""
            while True:
                found = (await worker.ask("GET", f"/api/v1/orders?limit=100&after={after}", VIEWER)).json()
                names += [one["target"] for one in found["orders"]]
                after = found["next"].replace(" ", "%20")
                if not after:
                    break
            assert names == sorted(f"b{number}.example" for number in range(total))

    asyncio.run(whole())


@over
async def test_what_is_wrong_is_refused_whole(worker: Operated) -> None:
    async def refused(path: str, json: object, status: int = 400) -> str:
        answer = await worker.ask("POST", f"/api/v1/{path}", json=json)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert "<b>" not in answer.text
        detail: str = answer.json()["detail"]
        return detail

    second = await refused("seeds", {"seeds": [{"url": "http://a.example/"}, {"url": "mailto:<b>"}]})
    assert second == "Number 2 is not an http(s) URL."
    await refused("seeds", {"seeds": []})
    await refused("seeds", {"seeds": [{"url": "http://a.example/", "colour": "red"}]})
    await refused("seeds", {"seeds": [{"url": "http://a.example/", "priority": 9}]})
    await refused("seeds", {"seeds": [{"url": "http://a.example/"}] * 1001})
    await refused("seeds", {"seeds": [{"url": "http://a.example/" + "x" * 8000}] * 200}, 413)
    await refused("recrawl", {"urls": ["x"]})
    await refused("recrawl", {"urls": "http://a.example/"})
    await refused("deadletters/retry", {"cause": 3})
    await refused("deadletters/drop", {"urls": ["nonsense"]})
    for path in ("seeds", "recrawl", "deadletters/retry", "deadletters/drop", "stop"):
        answer = await worker.ask("POST", f"/api/v1/{path}", VIEWER, json={})
        assert "operator" in problem(answer, 403)
        assert "other methods" in problem(await worker.ask("PATCH", f"/api/v1/{path}"), 405)
    assert "one request at a time" in problem(
        await worker.ask("PUT", "/api/v1/orders/concurrency/a.example", json={"value": 2}), 400
    )
    assert await changes(worker) == []

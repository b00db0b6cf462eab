"""The endpoints that read what is kept: beside a worker that crawls, whatever sites said."""

import asyncio
import re
import time
from functools import partial
from typing import Any

from msgspec.structs import replace

from gregor.schemas.messages import DeadLetter, stamp
from gregor.schemas.parts import Takeover
from gregor.worker.run.takeover import KEPT_TAKEOVERS
from tests.endtoend.kept_site import HOST, HOSTILE, PROSE, START, crawled, publish_site
from tests.endtoend.operated import VIEWER, Operated, over

kept = partial(over, delay=0.01, retries=0, hosts=1)


async def read(worker: Operated, path: str, **parameters: Any) -> Any:
    answer = await worker.ask("GET", f"/api/v1/{path}", VIEWER, params=parameters)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


@kept
async def test_what_is_kept_is_told_as_it_is(worker: Operated) -> None:
    await crawled(worker)
    page = await read(worker, "page", url=START)
    assert (page["record"]["title"], page["record"]["state"], page["visit"], page["visits"]) == (
        HOSTILE,
        "fetched",
        1,
        1,
    )
    assert f"X-Hostile: {HOSTILE}" in page["response_head"]
    assert "text" not in page["record"]
    links = {link["url"]: link for link in page["links"]}
    assert links[f"{START}story"] == {
        "url": f"{START}story",
        "kind": "a",
        "nofollow": False,
        "fate": "sent",
        "text": HOSTILE,
    }
    assert page["links_total"] == len(page["links"])
    story = await read(worker, "page", url=f"{START}story", visit=1)
    assert PROSE in story["text"]
    assert not story["text_cut"]


@kept
async def test_near_duplicates_are_found_for_each_other(worker: Operated) -> None:
    await crawled(worker)
    near = await read(worker, "similar", url=f"{START}story")
    assert len(near["simhash"]) == 16
    found = {one["url"]: one for one in near["pages"]}
    assert f"{START}story" not in found
    assert found[f"{START}retold"]["title"] == "A story, retold"
    assert all(0.5 <= one["share"] <= 1 for one in found.values())
    assert (await read(worker, "similar", url=START))["pages"] == []


@kept
async def test_every_url_is_explained(worker: Operated) -> None:
    await crawled(worker)
    states = {
        path: (await read(worker, "explain", url=START + path))["state"] for path in ("", "gone", "fails", "none")
    }
    assert states == {"": "fetched", "gone": "gone", "fails": "dead", "none": None}
    story = await read(worker, "explain", url=f"{START}story")
    assert (story["discovered_via"], story["discovered_as"]) == (START, "a")
    assert story["attempts"][0]["owner"]
    assert story["robots"]["allows"]


@partial(over, delay=0.01, retries=0, hosts=1, max_links=1)
async def test_what_was_left_out_of_a_page_is_told(worker: Operated) -> None:
    await publish_site(worker)
    await worker.until_state(START)
    assert (await read(worker, "explain", url=START))["unread"] == "links"
    assert (await read(worker, "page", url=START))["record"]["unread"] == "links"
    metrics = (await worker.ask("GET", "/metrics", VIEWER)).text
    assert re.search(r'gregor_documents_unread_total\{[^}]*reason="links"[^}]*\} [1-9]', metrics)


@kept
async def test_urls_and_dead_letters_are_listed(worker: Operated) -> None:
    await crawled(worker)
    dead = await read(worker, "deadletters")
    assert dead["complete"]
    (cause,) = dead["causes"]
    assert (cause["count"], [one["url"] for one in cause["examples"]]) == (1, [f"{START}fails"])
    assert (await read(worker, "deadletters", cause="another"))["causes"] == []
    listed = await read(worker, "pages", host=HOST, state="gone")
    assert listed["complete"]
    assert [(one["url"], one["status"]) for one in listed["urls"]] == [(f"{START}gone", 410)]
    every = await read(worker, "pages", host=HOST)
    assert (every["complete"], every["next"]) == (True, "")
    found: list[Any] = []
    page: dict[str, Any] = {"next": ""}
    while page["next"] or not found:
        page = await read(worker, "pages", host=HOST, limit=2, after=page["next"])
        assert 1 <= len(page["urls"]) <= 2
        assert page["complete"] == (page["next"] == "")
        found += page["urls"]
    assert found == every["urls"]
    assert len(found) > 4


@kept
async def test_dead_letters_are_listed_in_pages(worker: Operated) -> None:
    """Whatever is forgotten meanwhile, and however many have the same time."""
    store = worker.engine.store
    letters = [
        DeadLetter("", "", "", "unreadable", str(number), number // 2 + 0.5, source="partition 0")
        for number in range(2500)
    ]
    await asyncio.gather(*map(store.put_dead_letter, letters))
    await store.put_dead_letter(DeadLetter("", "", "", "lost", "more", 9.0, source="partition 1"))
    every = await read(worker, "deadletters/list", limit=500)
    assert [one["cause"] for one in every["letters"]].count("lost") == 0
    found: list[Any] = []
    page: dict[str, Any] = {"next": ""}
    while page["next"] or not found:
        page = await read(worker, "deadletters/list", cause="unreadable", limit=450, after=page["next"])
        found += page["letters"]
        await store.drop_dead_letter(letters[int(found[-1]["detail"])])
    assert found[:500] == every["letters"]
    assert sorted(int(one["detail"]) for one in found) == list(range(2500))
    assert [one["at"] for one in found] == sorted((one["at"] for one in found), reverse=True)
    assert (await read(worker, "deadletters/list", cause="lost"))["next"] == ""
    for after in ("nonsense", "1.0", "1.0:2:3", "a:b"):
        answer = await worker.ask("GET", "/api/v1/deadletters/list", VIEWER, params={"after": after})
        assert (answer.status_code, answer.json()["detail"]) == (400, "After is not what an answer gave as next.")


@kept
async def test_hand_overs_are_remembered(worker: Operated) -> None:
    store = worker.engine.store
    await worker.until(lambda: len(worker.runtime.owned) == 2)
    assert (await worker.ask("PUT", "/api/v1/orders/drain/worker-1", json={})).status_code == 200
    await worker.until(lambda: not worker.runtime.owned)
    older = tuple(Takeover(f"worker-{number}", number, float(number)) for number in range(KEPT_TAKEOVERS))
    record = replace(await store.partition(0), epoch=99, takeovers=older)
    await store.put_partition(record, stamp(99, 1))
    assert (await worker.ask("DELETE", "/api/v1/orders/drain/worker-1", json={})).status_code == 204
    await worker.until(lambda: len(worker.runtime.owned) == 2)
    every = (await read(worker, "handovers", limit=500))["handovers"]
    assert len(every) == KEPT_TAKEOVERS + 2
    assert [one["at"] for one in every] == sorted((one["at"] for one in every), reverse=True)
    (newest, first) = [one for one in every if one["partition"] == 1]
    assert (first["giver"], first["taker"], first["epoch"]) == ("", "worker-1", 1)
    assert (newest["giver"], newest["taker"], newest["epoch"]) == ("worker-1", "worker-1", 2)
    newest = next(one for one in every if one["partition"] == 0)
    assert (newest["giver"], newest["taker"], newest["epoch"]) == (f"worker-{KEPT_TAKEOVERS - 1}", "worker-1", 100)
    found: list[Any] = []
    page: dict[str, Any] = {"next": ""}
    while page["next"] or not found:
        page = await read(worker, "handovers", limit=7, after=page["next"])
        found += page["handovers"]
    assert found == every
    one = await read(worker, "handovers", partition=1)
    assert one["handovers"] == [each for each in every if each["partition"] == 1]
    refused = await worker.ask("GET", "/api/v1/handovers", params={"after": "yesterday"})
    assert (refused.status_code, refused.json()["detail"]) == (400, "After is not what an answer gave as next.")


@kept
async def test_who_owns_what_is_told(worker: Operated) -> None:
    await worker.until(lambda: len(worker.runtime.owned) == 2)
    told = await read(worker, "workers")
    assert [(one["name"], one["partitions"]) for one in told["workers"]] == [("worker-1", 2)]
    assert [(one["partition"], one["owner"], one["epoch"]) for one in told["partitions"]] == [
        (0, "worker-1", 1),
        (1, "worker-1", 1),
    ]
    assert all(abs(one["since"] - time.time()) < 600 for one in told["partitions"])
    points = (await read(worker, "history"))["points"]
    assert points
    assert (await read(worker, "history", after=points[-1]["at"]))["points"] == []


@kept
async def test_the_last_visits_and_what_is_ahead_are_told(worker: Operated) -> None:
    await crawled(worker)
    visits = (await read(worker, "recent"))["urls"]
    assert {"url": f"{START}gone", "state": "gone", "status": 410} in [
        {name: one[name] for name in ("url", "state", "status")} for one in visits
    ]
    assert [one["at"] for one in visits] == sorted((one["at"] for one in visits), reverse=True)
    ahead = (await read(worker, "status"))["outlook"]
    assert ahead["waiting"] >= 0
    assert 0 < ahead["disk_free"] <= ahead["disk_size"]
    assert 0 < ahead["memory_used"] <= ahead["memory"]
    assert [one["host"] for one in (await read(worker, "hosts", sort="host", order="last"))["hosts"]][-1] == min(
        one["host"] for one in (await read(worker, "hosts"))["hosts"]
    )


@kept
async def test_what_cannot_be_read_is_refused(worker: Operated) -> None:
    for path, parameters, status in (
        ("page", {"url": "http://never.example/"}, 404),
        ("similar", {"url": "http://never.example/"}, 404),
        ("page", {"url": "mailto:a@b.example"}, 400),
        ("explain", {"url": ""}, 400),
        ("explain", {}, 400),
        ("page", {"url": START, "visit": 0}, 400),
        ("page", {"url": START, "visit": 2**63}, 400),
        ("changes", {"before": 2**63}, 400),
        ("handovers", {"partition": 2**64}, 400),
        ("page", {"url": START, "more": 1}, 400),
        ("pages", {"state": "nowhere"}, 400),
        ("pages", {"host": "a b"}, 400),
        ("pages", {"limit": 501}, 400),
        ("deadletters", {"examples": 0}, 400),
        ("history", {"after": "now"}, 400),
    ):
        answer = await worker.ask("GET", f"/api/v1/{path}", VIEWER, params=parameters)
        assert answer.status_code == status, (path, parameters)
        assert answer.headers["content-type"] == "application/problem+json"
        assert (await worker.ask("GET", f"/api/v1/{path}", "")).status_code == 401

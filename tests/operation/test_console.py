"""The console in a real browser beside a worker that crawls: every view, every action, every size."""

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gregor.schemas.messages import DeadLetter
from gregor.worker.orders.model import RULES
from tests.endtoend.consoled import consoled
from tests.endtoend.kept_site import HOST, HOSTILE, PROSE, START, crawled
from tests.endtoend.operated import OPERATOR, VIEWER, Operated
from tests.memory_transport import Scripted
from tests.operation.browser import (
    as_operator,
    begins_at,
    browser,
    decide,
    expect,
    go,
    log_in,
    needs_chromium,
    picture,
    shown,
)

pytestmark = needs_chromium
VIEWS = ("overview", "hosts", "pages", "dead", "workers", "orders", "changes", f"url={quote(START, safe='')}")
SIZES = [(380, 800, "light"), (380, 800, "dark"), (1600, 1000, "light"), (1600, 1000, "dark")]


@begins_at("overview", anonymous_read=False)
async def test_nothing_is_shown_without_a_token(worker: Operated, page: Any) -> None:
    await expect(page.locator("#message")).to_have_text("A bearer token is needed.")
    await expect(page.locator("main")).to_be_hidden()
    await log_in(page, "wrong-token-012345")
    await expect(page.locator("#message")).to_have_text("The token is not one of this crawl's.")
    await log_in(page, VIEWER)
    await expect(page.locator("#state")).to_have_text("crawling")
    await expect(page.get_by_label("Token")).to_be_hidden()
    await page.reload()
    await expect(page.locator("#state")).to_have_text("crawling")
    await go(page, "Orders")
    await page.locator("#kind").select_option("pause")
    await page.get_by_role("button", name="Give").click()
    await decide(page, "Yes")
    await expect(page.locator("#message")).to_have_text("This needs the token of an operator.")
    await expect(page.locator("#pending")).to_contain_text("Pause the whole crawl?")
    await expect(page.get_by_label("Token")).to_be_focused()
    await log_in(page, OPERATOR)
    await expect(page.locator("#message")).to_have_text("Done.")
    await expect(page.locator("#state")).to_have_text("paused")
    await expect(page.get_by_label("Token")).to_be_hidden()


@begins_at("hosts", delay=0.5)
async def test_what_was_refused_is_done_once_a_token_is_given_and_only_once(worker: Operated, page: Any) -> None:
    async def changes() -> list[tuple[str, str]]:
        return [(one["what"], one["why"]) for one in (await worker.ask("GET", "/api/v1/changes")).json()["changes"]]

    await page.get_by_role("button", name="block h0.example").click()
    await decide(page, "Yes", "asked by mail")
    await expect(page.locator("#pending")).to_contain_text("Send h0.example nothing more?")
    await page.get_by_role("button", name="Leave it undone").click()
    await page.get_by_role("button", name="block h1.example").click()
    await decide(page, "Yes", "by post")
    await log_in(page, VIEWER)
    await expect(page.locator("#pending")).to_contain_text("Send h1.example nothing more?")
    await log_in(page, OPERATOR)
    await expect(page.locator("#hosttable tbody")).to_contain_text("blocked")
    await page.get_by_role("button", name="delay h0.example").click()
    await page.get_by_role("dialog").get_by_label("Least delay").fill("7.5")
    await decide(page, "Yes")
    await expect(page.locator("#hosttable tbody")).to_contain_text("7.5 s")
    assert [why for _, why in await changes()] == ["", "by post"]


@begins_at("overview", delay=0.3)
async def test_the_overview_tells_how_fast_it_goes_and_why(worker: Operated, page: Any) -> None:
    await expect(page.locator("#limiting")).to_contain_text("What helps")
    await expect(page.locator("#charts figure")).to_have_count(7)
    await expect(page.locator("#charts polyline")).to_have_count(7)
    await expect(page.get_by_role("img", name="pages a second: now")).to_be_visible()
    for name in ("URLs waiting", "memory used", "time to the end", "disk free"):
        await expect(page.locator("#charts, #tiles").get_by_text(name, exact=True)).to_have_count(1)
    labels = await page.locator(":is(#charts, #tiles) .quiet").all_text_contents()
    assert len(labels) == len(set(labels)), "a figure is shown twice"
    assert not [(short, long) for short in labels for long in labels if short != long and long.startswith(f"{short},")]
    rights = await page.locator("#charts figure").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert abs(rights[-1] - max(rights)) < 2, "a row of charts is not full"
    await expect(page.locator("#recent tbody")).to_contain_text("http://h0.example/")  # the first may have gone by
    newest = page.locator("#recent tbody tr").first
    before = await newest.text_content()
    await expect(newest).not_to_have_text(before)
    await expect(page.locator("#states tbody")).to_contain_text("fetched")
    await expect(page.locator("#statuses tbody")).to_contain_text("200")
    await expect(page.locator("#errors tbody")).to_contain_text("none")
    await worker.ask("PUT", "/api/v1/orders/pause", json={})
    await expect(page.locator("#limiting")).to_contain_text("an order to pause")
    await page.get_by_role("link", name="blocked").click()
    await expect(page.locator("#hoststate")).to_have_value("blocked")


@begins_at("hosts", hosts=12, delay=0.5)
async def test_hosts_are_searched_sorted_slowed_down_and_blocked(worker: Operated, page: Any) -> None:
    await as_operator(worker, page)
    rows = page.locator("#hosttable tbody tr")
    await expect(rows).to_have_count(12)
    for head, way, first in (("host", "ascending", "h0.example"), ("host", "descending", "h9.example")):
        await page.get_by_role("button", name=head, exact=True).click()
        await expect(page.get_by_role("columnheader", name=head, exact=True)).to_have_attribute("aria-sort", way)
        await expect(rows.first).to_contain_text(first)
    await page.get_by_role("button", name="waiting URLs").click()
    await expect(page.get_by_role("columnheader", name="waiting URLs")).to_have_attribute("aria-sort", "descending")
    await page.get_by_role("button", name="host", exact=True).click()
    await expect(rows.first).to_contain_text("h0.example")
    await page.locator("#hostsearch").fill("h1")
    await expect(rows).to_have_count(3)
    await page.locator("#hostsearch").fill("h11")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="delay h11.example").click()
    await page.get_by_role("dialog").get_by_label("Least delay").fill("7.5")
    await decide(page, "Yes", "asked by mail")
    await expect(rows.first).to_contain_text("7.5 s")
    await page.get_by_role("button", name="block h11.example").click()
    await decide(page, "No")
    await worker.ask("PUT", "/api/v1/orders/delay/h11.example", json={"value": 9.5, "why": "asked by mail"})
    await expect(rows.first).to_contain_text("9.5 s")
    await expect(page.get_by_role("button", name="block h11.example")).to_be_focused()
    await page.get_by_role("button", name="block h11.example").click()
    await decide(page, "Yes", HOSTILE)
    await expect(rows.first).to_contain_text("blocked")
    await page.locator("#hostsearch").fill("")
    await page.locator("#hoststate").select_option("blocked")
    await expect(rows).to_have_count(1)
    orders = {(one["kind"], one["why"]) for one in (await worker.ask("GET", "/api/v1/orders")).json()["orders"]}
    assert orders == {("delay", "asked by mail"), ("block", HOSTILE)}
    await page.locator("#hostsearch").fill("no such host")
    await expect(page.locator("#hosttable tbody")).to_contain_text("no host is like that")
    await expect(rows).to_have_count(1)


@begins_at("hosts", hosts=12, delay=0.5)
async def test_an_answer_that_comes_late_changes_nothing(worker: Operated, page: Any) -> None:
    held, slow = asyncio.Event(), re.compile(r"/hosts\?.*search=h1(&|$)")

    async def hold(route: Any) -> None:
        await held.wait()
        await route.continue_()

    await as_operator(worker, page)
    rows = page.locator("#hosttable tbody tr")
    await expect(rows).to_have_count(12)
    await page.route(slow, hold)
    async with page.expect_request(slow):
        await page.locator("#hostsearch").fill("h1")
    await page.locator("#hostsearch").fill("h11")
    await expect(rows).to_have_count(1)
    async with page.expect_response(slow):
        held.set()
    await page.evaluate("new Promise(requestAnimationFrame)")
    assert await rows.count() == 1


@begins_at("orders", delay=0.2)
async def test_orders_are_given_and_taken_back_once_confirmed(worker: Operated, page: Any) -> None:
    async def standing() -> list[str]:
        found = (await worker.ask("GET", "/api/v1/orders")).json()["orders"]
        return sorted(one["kind"] for one in found)

    await as_operator(worker, page)
    orders = page.locator("#ordertable tbody")
    await expect(orders).to_contain_text("none stand")
    await page.locator("#target").fill("H0.Example")
    await page.get_by_role("button", name="Give").click()
    await decide(page, "No")
    assert await standing() == []
    await page.get_by_role("button", name="Give").click()
    await decide(page, "Yes", HOSTILE)
    await expect(orders).to_contain_text("h0.example")
    await expect(orders).to_contain_text(HOSTILE)
    await page.locator("#kind").select_option("delay")
    await page.locator("#value").fill("2.5")
    await page.locator("#target").fill("*.example")
    await page.get_by_role("button", name="Give").click()
    await decide(page, "Yes")
    await expect(orders).to_contain_text("2.5")
    assert await standing() == ["block", "delay"]
    await page.locator("#target").fill("a b")
    await page.get_by_role("button", name="Give").click()
    await decide(page, "Yes")
    await expect(page.locator("#message")).to_contain_text("Not a host")
    for name in ("take back block h0.example", "take back delay *.example"):
        await page.get_by_role("button", name=name).click()
        await decide(page, "Yes")
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    assert await standing() == []


@begins_at("orders")
async def test_every_kind_of_order_can_be_given(worker: Operated, page: Any) -> None:
    await as_operator(worker, page)
    for kind, rule in RULES.items():
        target = {"crawl": "*", "worker": "worker-9"}.get(rule.of[0], "x.example")
        await page.locator("#kind").select_option(kind)
        if kind != "pause":
            await page.locator("#target").fill("*.x.example" if kind == "concurrency" else target)
        if rule.unit:
            await page.locator("#value").fill("3")
        await page.get_by_role("button", name="Give").click()
        await decide(page, "Yes", f"to try {kind}")
        await expect(page.locator("#ordertable tbody")).to_contain_text(f"to try {kind}")
    given = (await worker.ask("GET", "/api/v1/orders")).json()["orders"]
    assert [one["kind"] for one in given] == list(RULES)
    assert [one["value"] for one in given] == [3.0 if rule.unit else None for rule in RULES.values()]


@begins_at("pages", hosts=1, retries=0)
async def test_a_page_is_shown_as_text_with_its_way_and_its_likes(worker: Operated, page: Any) -> None:
    await crawled(worker)
    await page.locator("#pagestate").select_option("fetched")
    await page.locator("#pagehost").fill(HOST)
    await page.get_by_role("button", name="List").click()
    await expect(page.locator("#pagenote")).to_contain_text("URLs")
    await expect(page.locator("#pageactions button")).to_have_count(0)
    await page.get_by_role("link", name=START, exact=True).click()
    await expect(page.locator("#h-url")).to_have_text(START)
    await expect(page.locator("#explanation")).to_contain_text("given as a seed")
    await expect(page.locator("#attempts tbody")).to_contain_text("worker-1")
    await expect(page.locator("#record")).to_contain_text(HOSTILE)
    await expect(page.locator("#answer")).to_contain_text(f"X-Hostile: {HOSTILE}")
    assert await page.locator("main img, main script, main iframe").count() == 0
    await page.get_by_text("Links (").click()
    await expect(page.locator("#links tbody")).to_contain_text(HOSTILE)
    assert await page.locator("a:not([href^='#'])").count() == 0
    await page.get_by_role("link", name=f"{START}story").click()
    await expect(page.locator("#text")).to_contain_text(PROSE[:200])
    await expect(page.locator("#explanation")).to_contain_text(START)
    await expect(page.locator("#similar tbody")).to_contain_text("A story, retold")
    await expect(page.locator("#similar td.number").first).to_have_text(re.compile("^[0-9]+ %$"))
    await expect(page.locator("#similar bdi[dir=auto]").first).to_contain_text("A story")
    await page.get_by_role("link", name=f"{START}retold").click()
    await expect(page.locator("#record")).to_contain_text("nearly the same as")
    await go(page, "Pages")
    await page.locator("#url").fill("http://kept.example/gone")
    await page.keyboard.press("Enter")
    await expect(page.locator("#explanation")).to_contain_text("410")
    await expect(page.locator("#stored")).to_be_hidden()
    await go(page, "Pages")
    await page.locator("#url").fill(HOSTILE)
    await page.get_by_role("button", name="Explain").click()
    await expect(page.locator("#message")).to_contain_text("This is not an http(s) URL")


@begins_at("dead", hosts=1, retries=0)
async def test_what_was_given_up_is_told_by_cause(worker: Operated, page: Any) -> None:
    await crawled(worker)
    await page.reload()
    await expect(page.locator("#deadnote")).to_have_text("1 URL, by cause.")
    await expect(page.locator("#causes tbody")).to_contain_text("status 500")
    await expect(page.locator("#causes p").first).to_have_text("The server answered with an error.")
    await page.get_by_role("link", name=f"{START}fails").click()
    await expect(page.locator("#explanation")).to_contain_text("dead")
    await as_operator(worker, page)
    await go(page, "Given up")
    worker.transport.script(f"{START}fails", Scripted(body=b"now it works"))
    await page.get_by_role("button", name="retry all of status").click()
    await decide(page, "Yes")
    await expect(page.locator("#message")).to_have_text("1 URL to be visited again.")
    await expect(page.locator("#deadnote")).to_have_text("Nothing was given up.")
    await page.goto(f"{worker.url}#url={quote(START + 'fails', safe='')}")
    async with asyncio.timeout(30):
        while await page.locator("#explanation").get_by_text("fetched, 200").count() == 0:
            await page.reload()
            await expect(page.locator("#explanation")).to_contain_text("state")


@begins_at("dead", hosts=1, retries=0)
async def test_all_that_was_given_up_is_shown_page_by_page(worker: Operated, page: Any) -> None:
    for number in range(105):
        letter = DeadLetter("", "", "", "unreadable", f"garbage {number}", 5.0 + number, source="partition 0")
        await worker.engine.store.put_dead_letter(letter)
    await page.reload()
    rows, more = page.locator("#causes tbody tr"), page.get_by_role("button", name="show more of unreadable")
    await expect(rows).to_have_count(5)
    await more.evaluate("button => { button.click(); button.click(); }")  # nothing is shown twice
    await expect(rows).to_have_count(100)
    await expect(rows.first).to_contain_text("garbage 104")
    await more.click()
    await expect(rows).to_have_count(105)
    await expect(rows.last).to_contain_text("garbage 0")
    await expect(more).to_be_hidden()


@begins_at("dead", hosts=1, retries=0)
async def test_what_was_given_up_is_forgotten_one_by_one(worker: Operated, page: Any) -> None:
    await crawled(worker)
    await as_operator(worker, page)
    await page.get_by_role("button", name=f"forget {START}fails").click()
    await decide(page, "Yes", "it never worked")
    await expect(page.locator("#deadnote")).to_have_text("Nothing was given up.")
    await go(page, "Changes")
    await expect(page.locator("#changetable tbody")).to_contain_text("drop dead letters")
    await expect(page.locator("#changetable tbody")).to_contain_text("it never worked")


@begins_at("pages", hosts=1, retries=0)
async def test_urls_are_seeded_and_visited_again(worker: Operated, page: Any) -> None:
    await as_operator(worker, page)
    worker.transport.script("http://new.example/", Scripted(body=b"<title>A new page</title>new"))
    await page.goto(f"{worker.url}#url={quote('http://unknown.example/', safe='')}")
    await expect(page.locator("#explanation")).to_contain_text("never met")
    await page.get_by_role("button", name="add http://unknown.example/ as a seed").click()
    await decide(page, "Yes")
    await expect(page.locator("#message")).to_have_text("1 seed published.")
    await go(page, "Pages")
    await page.get_by_text("Add seeds").click()
    await page.get_by_label("URLs, one a line").fill("http://new.example/\n\nhttp://new.example/other")
    await page.get_by_role("button", name="Add").click()
    await decide(page, "Yes", "wanted")
    await expect(page.locator("#message")).to_have_text("2 seeds published.")
    await worker.until_state("http://new.example/")
    await page.goto(f"{worker.url}#url={quote('http://new.example/', safe='')}")
    await expect(page.locator("#record")).to_contain_text("A new page")
    worker.transport.script("http://new.example/", Scripted(body=b"<title>A newer page</title>newer"))
    await page.get_by_role("button", name="visit http://new.example/ again").click()
    await decide(page, "Yes")
    async with asyncio.timeout(30):
        while await page.locator("#record").get_by_text("A newer page").count() == 0:
            await page.reload()
            await expect(page.locator("#record")).to_contain_text("title")
    await page.locator("#visit").select_option("1")
    await expect(page.locator("#record")).not_to_contain_text("A newer page")


@begins_at("pages", hosts=3, delay=0.01)
async def test_many_pages_are_turned_over(worker: Operated, page: Any) -> None:
    await worker.until(lambda: worker.runtime.stats.pages > 110)
    await page.get_by_role("button", name="List").click()
    rows = page.locator("#pagetable tbody tr")
    await expect(rows).to_have_count(100)
    note, first = page.locator("#pagenote"), await rows.first.text_content()
    await page.get_by_role("button", name="Next page").click()
    await expect(note).to_contain_text("further on")
    await expect(rows.first).not_to_have_text(first)
    await page.get_by_role("button", name="First page").click()
    await expect(note).not_to_contain_text("further on")
    await expect(rows).to_have_count(100)
    await expect(rows.first).to_have_text(first)


@begins_at("workers", partitions=8)
async def test_workers_and_partitions_are_mapped(worker: Operated, page: Any) -> None:
    await expect(page.locator("#workertable tbody")).to_contain_text("worker-1")
    await expect(page.locator("#map li")).to_have_count(8)
    await expect(page.locator("#map li").first).to_have_text("0e1")
    await expect(page.locator("#handovers tbody tr")).to_have_count(8)
    await as_operator(worker, page)
    await page.get_by_role("button", name="drain worker-1").click()
    await decide(page, "Yes")
    await expect(page.locator("#state")).to_have_text("drained")
    await expect(page.locator("#map .nobody")).to_have_count(8)
    await go(page, "Orders")
    await page.get_by_role("button", name="take back drain worker-1").click()
    await decide(page, "Yes")
    await go(page, "Workers")
    await expect(page.locator("#map .nobody")).to_have_count(0)
    await expect(page.locator("#handovers tbody tr")).to_have_count(16)
    await expect(page.locator("#handovers tbody tr").first).to_contain_text("worker-1worker-1")
    await page.get_by_role("button", name="stop worker-1").click()
    await decide(page, "Yes")
    await worker.until(lambda: worker.runtime.ending is not None)


def test_a_console_of_the_whole_crawl_shows_every_worker(tmp_path: Path) -> None:
    async def run() -> None:
        async with consoled(tmp_path) as (console, _, __), browser() as page:
            await page.goto(f"{console.url}#workers")
            await log_in(page)
            await expect(page.locator("#workertable tbody tr")).to_have_count(3)
            await expect(page.locator("#map li")).to_have_text(["0e3", "1nobody"])
            await expect(page.locator("#handovers tbody tr")).to_have_count(2)
            await expect(page.get_by_role("button", name="stop")).to_have_count(0)
            await go(page, "Overview")
            await expect(page.locator("#limiting")).to_contain_text("of 3 workers, 1 do not answer")
            await go(page, "Hosts")
            await expect(page.locator("#hosttable tbody tr")).to_have_count(5)

    asyncio.run(run())


@begins_at("overview", anonymous_read=False)
async def test_it_works_by_keyboard(worker: Operated, page: Any) -> None:
    await page.get_by_label("Token").press_sequentially(OPERATOR)
    await page.keyboard.press("Enter")
    await expect(page.locator("#state")).to_have_text("crawling")
    await page.get_by_role("link", name="Overview").focus()
    for _ in range(6):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Orders")).to_be_focused()
    await page.locator("#kind").focus()
    await page.keyboard.type("pause")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    assert (await worker.ask("GET", "/api/v1/orders")).json()["orders"] == []
    await page.get_by_role("button", name="Give").press("Enter")
    await expect(page.get_by_role("dialog").get_by_label("Why")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    assert (await worker.ask("GET", "/api/v1/orders")).json()["orders"] == []
    await page.get_by_role("button", name="Give").press("Enter")
    await page.keyboard.type("by keyboard")
    await page.keyboard.press("Enter")
    await expect(page.locator("#state")).to_have_text("paused")


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_it_can_be_read_at_every_size(tmp_path: Path, width: int, height: int, scheme: str) -> None:
    async def case(worker: Operated, page: Any) -> None:
        await crawled(worker)
        await worker.ask("PUT", "/api/v1/orders/block/*.bad.example", json={"why": HOSTILE, "who": "ann"})
        for view in VIEWS:
            name = view.partition("=")[0]
            await page.goto(f"{worker.url}#{view}")
            await expect(page.locator(f"#view-{name} :is(td, figure)").first).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, view
            assert not re.search(r"\[object |undefined|NaN|`", await page.locator("main").inner_text()), view
            for row in (await page.locator(f"#view-{name} .short tbody tr:visible").all())[:3]:
                tops = await row.locator("td").evaluate_all(
                    "cells => cells.map(cell => cell.getBoundingClientRect().top)"
                )
                assert len(set(tops)) == 1, f"{view}: a word and its number stand in two lines"
            await picture(page, f"{name}-{width}-{scheme}")

    shown(tmp_path, case, size=(width, height), scheme=scheme, delay=0.3, hosts=4, retries=0)


@begins_at("overview", complains=True)
async def test_a_worker_that_is_gone_is_told(worker: Operated, page: Any) -> None:
    await expect(page.locator("#state")).to_have_text("crawling")
    await page.route("**/api/**", lambda route: route.abort())
    await expect(page.locator("#message")).to_contain_text("The worker does not answer.")
    await expect(page.locator("#message code")).to_have_text("gregor console")
    await page.unroute("**/api/**")
    await expect(page.locator("#state")).to_have_text("crawling")
    await expect(page.locator("#message")).to_have_text("")


@begins_at("overview", complains=True)
async def test_what_a_site_could_bring_in_is_not_run(worker: Operated, page: Any) -> None:
    """The policy itself: markup that some fault let in would load and run nothing."""
    await expect(page.locator("#state")).to_have_text("crawling")
    asked: list[str] = []
    page.on("requestfinished", lambda request: asked.append(request.url))
    for kind in ("script", "img", "iframe"):
        await page.evaluate(
            "([kind, url]) => { const made = document.createElement(kind);"
            " try { made.src = url } catch { made.setAttribute('data-refused', '') } document.body.append(made) }",
            [kind, f"{worker.url}healthz?{kind}"],
        )
    async with page.expect_request_finished(lambda request: "allowed" in request.url):
        await page.evaluate("url => fetch(url).then(answer => answer.text())", f"{worker.url}healthz?allowed")
    assert [url for url in asked if "healthz" in url] == [f"{worker.url}healthz?allowed"]
    with pytest.raises(Exception, match=r"TrustedHTML|Trusted"):
        await page.evaluate("document.body.innerHTML = '<b>x</b>'")

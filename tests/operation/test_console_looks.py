"""How the console looks in a real browser: tables, words, spaces, and what it shows after the end of a crawl."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gregor.worker.compose.console import console
from gregor.worker.config.settings import Config
from tests.endtoend.operated import Operated, operated
from tests.operation.browser import as_operator, begins_at, browser, expect, go, needs_chromium

pytestmark = needs_chromium


@asynccontextmanager
async def kept(folder: Path) -> AsyncIterator[str]:
    """The URL of a console of a data folder that no worker crawls."""
    stop, told = asyncio.Event(), asyncio.get_running_loop().create_future()
    config = Config(data=str(folder), listen="127.0.0.1:0", anonymous_read=True, linger=True)
    serving = asyncio.create_task(console(config, stop, told.set_result))
    try:
        await asyncio.wait((serving, told), return_when=asyncio.FIRST_COMPLETED)
        yield re.findall(r"http://127[0-9.:]+/", told.result())[0]
    finally:
        stop.set()
        await serving


@begins_at("pages", hosts=3, delay=0.5, size=(1600, 1000))
async def test_a_table_breaks_no_word_wraps_no_date_and_sorts_by_its_heads(worker: Operated, page: Any) -> None:
    long = "http://new.example/" + "a-very-long-name/" * 20
    await as_operator(worker, page)
    await worker.ask("POST", "/api/v1/seeds", json={"seeds": [{"url": long}]})
    await worker.until_state(long)
    await worker.until(lambda: worker.runtime.stats.pages > 5)
    await page.get_by_role("button", name="List").click()
    rows = page.locator("#pagetable tbody tr")
    await expect(page.locator("#pagetable")).to_contain_text(long)
    lines = await page.locator("#pagetable td:not(:first-child)").evaluate_all(
        "cells => cells.map(cell => { const range = document.createRange(); range.selectNodeContents(cell);"
        " return new Set([...range.getClientRects()].map(line => line.top)).size })"
    )
    assert max(lines) == 1
    await page.get_by_role("button", name="URL", exact=True).click()
    await expect(rows.first).to_contain_text("http://h0.example/0")
    await page.get_by_role("button", name="URL", exact=True).click()
    await expect(page.get_by_role("button", name="URL", exact=True)).to_be_focused()
    await expect(rows.first).to_contain_text(long)
    await page.get_by_role("button", name="status").click()
    await expect(page.get_by_role("columnheader", name="status")).to_have_attribute("aria-sort", "ascending")
    numbers = [int(text or 0) for text in await page.locator("#pagetable td.number").all_text_contents()]
    known = [number for number in numbers if number]
    assert known == sorted(known)
    assert numbers == known + [0] * numbers.count(0)


@begins_at("overview")
async def test_words_are_explained_and_no_band_is_empty(worker: Operated, page: Any) -> None:
    for view in ("overview", "hosts", "pages", "workers"):
        await page.goto(f"{worker.url}#{view}")
        await page.locator(f"#view-{view} .words summary").press("Enter")
        await expect(page.locator(f"#view-{view} .words dd").first).to_be_visible()
        assert await page.locator(f"#view-{view} .words dd:empty").count() == 0
        top = await page.evaluate(
            "view => [...document.querySelectorAll(`#view-${view} > :not(.unseen)`)][0].getBoundingClientRect().top"
            " - document.querySelector('nav').getBoundingClientRect().bottom",
            view,
        )
        assert 0 < top < 25, view


def test_what_is_kept_is_shown_after_the_end(tmp_path: Path) -> None:
    async def run() -> None:
        async with operated(tmp_path, hosts=1, retries=0) as worker:
            await worker.until(lambda: worker.runtime.stats.pages > 5)
        async with kept(tmp_path) as url, browser() as page:
            await page.goto(url)
            await expect(page.locator("#state")).to_have_text("stopped")
            await expect(page.locator("#limiting code")).to_have_text("gregor crawl")
            await expect(page.locator("#tiles")).to_contain_text("pages stored")
            await expect(page.locator("#statuses tbody")).to_contain_text("200")
            await expect(page.locator("#recent tbody")).to_contain_text("http://h0.example/")
            for empty in ("#charts", "#hostsnow"):
                await expect(page.locator(empty)).to_be_hidden()
            await go(page, "Hosts")
            await expect(page.locator("#hosttable tbody")).to_contain_text("h0.examplewaiting1")
            await go(page, "Workers")
            await expect(page.locator("#workertable tbody")).to_contain_text("no worker is there")
            await expect(page.locator("#map")).to_be_hidden()
            assert "`" not in await page.locator("main").text_content()

    asyncio.run(run())

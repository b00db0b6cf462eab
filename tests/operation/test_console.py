"""The console in a real browser (Debian's Chromium, driven by Playwright) beside a worker that crawls."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract.operated import OPERATOR, VIEWER, Operated, operated

api = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
PICTURES = os.environ.get("GREGOR_TEST_PICTURES")
"""A folder for screenshots, for people to look at."""
HOSTILE = "<img src=x onerror=alert(1)>"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (Debian: chromium)")
Case = Callable[[Operated, Any], Awaitable[None]]


@asynccontextmanager
async def browser(**settings: Any) -> AsyncIterator[Any]:
    """A page of its own; whatever the browser complains of fails the test."""
    async with api.async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await (await chromium.new_context(**settings)).new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.set_default_timeout(10_000)
        try:
            yield page
        finally:
            await chromium.close()
        unexpected = [text for text in complaints if not re.search(r"status of 40[013] ", text)]
        assert unexpected == []


def shown(
    folder: Path, case: Case, *, size: tuple[int, int] = (1280, 900), scheme: str = "light", **changes: Any
) -> None:
    """Run a case; it begins at the console's page."""

    async def run() -> None:
        view = {"width": size[0], "height": size[1]}
        async with operated(folder, **changes) as worker, browser(viewport=view, color_scheme=scheme) as page:
            await page.goto(worker.url)
            await case(worker, page)

    asyncio.run(run())


async def log_in(page: Any, token: str = OPERATOR) -> None:
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Use it").click()


async def decide(page: Any, answer: str) -> None:
    await page.get_by_role("dialog").get_by_role("button", name=answer).click()


def test_nothing_is_shown_without_a_token(tmp_path: Path) -> None:
    async def case(worker: Operated, page: Any) -> None:
        await api.expect(page.locator("#message")).to_have_text("A bearer token is needed.")
        assert not await page.locator("main").is_visible()
        await log_in(page, "wrong-token-012345")
        await api.expect(page.locator("#message")).to_have_text("The token is not one of this crawl's.")
        await log_in(page, VIEWER)
        await api.expect(page.locator("#state")).to_have_text("crawling")
        await api.expect(page.get_by_label("Token")).to_be_hidden()
        await page.reload()
        await api.expect(page.locator("#state")).to_have_text("crawling")
        await page.get_by_role("button", name="Pause crawl").click()
        await decide(page, "Yes")
        await api.expect(page.locator("#message")).to_have_text("This needs the token of an operator.")
        await log_in(page, OPERATOR)
        await page.get_by_role("button", name="Pause crawl").click()
        await decide(page, "Yes")
        await api.expect(page.locator("#state")).to_have_text("paused")

    shown(tmp_path, case)


def test_orders_are_given_and_taken_back_once_confirmed(tmp_path: Path) -> None:
    async def case(worker: Operated, page: Any) -> None:
        standing = worker.runtime.tools.services.coordinator.orders
        await log_in(page)
        orders = page.locator("#orders tbody")
        await page.get_by_label("Host or *.domain").fill("H0.Example")
        await page.get_by_label("Why").fill(HOSTILE)
        await page.get_by_role("button", name="Block host").click()
        await decide(page, "No")
        assert not standing().standing
        await page.get_by_role("button", name="Block host").click()
        await decide(page, "Yes")
        await api.expect(orders).to_contain_text("h0.example")
        await api.expect(orders).to_contain_text(HOSTILE)
        assert standing().of("block").keys() == {"h0.example"}
        await page.get_by_label("Delay, seconds").fill("2.5")
        await page.get_by_label("Host or *.domain").fill("*.example")
        await page.get_by_role("button", name="Set delay").click()
        await decide(page, "Yes")
        await api.expect(orders).to_contain_text("2.5")
        assert standing().of("delay") == {"*.example": 2.5}
        await page.get_by_label("Host or *.domain").fill("a b")
        await page.get_by_role("button", name="Block host").click()
        await decide(page, "Yes")
        await api.expect(page.locator("#message")).to_contain_text("Not a host")
        for name in ("take back block h0.example", "take back delay *.example"):
            await page.get_by_role("button", name=name).click()
            await decide(page, "Yes")
            await api.expect(page.get_by_role("button", name=name)).to_have_count(0)
        assert not standing().standing
        await page.get_by_role("button", name="block h1.example").click()
        await decide(page, "Yes")
        await api.expect(orders).to_contain_text("h1.example")
        await page.get_by_label("State").select_option("blocked")
        await api.expect(page.locator("#hosts tbody tr")).to_have_count(1)
        await page.get_by_role("button", name="Stop worker").click()
        await decide(page, "Yes")
        await worker.until(lambda: worker.runtime.ending is not None)

    shown(tmp_path, case, delay=0.2)


def test_it_works_by_keyboard(tmp_path: Path) -> None:
    async def case(worker: Operated, page: Any) -> None:
        await page.get_by_label("Token").press_sequentially(OPERATOR)
        await page.keyboard.press("Enter")
        await api.expect(page.locator("#state")).to_have_text("crawling")
        await page.get_by_label("Why").focus()
        for _ in range(3):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Escape")
        assert not worker.runtime.tools.services.coordinator.orders().paused
        await page.get_by_role("button", name="Pause crawl").press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await api.expect(page.locator("#state")).to_have_text("paused")

    shown(tmp_path, case)


@pytest.mark.parametrize(("width", "height", "scheme"), [(380, 800, "light"), (380, 800, "dark"), (1600, 1000, "dark")])
def test_it_can_be_read_at_every_size(tmp_path: Path, width: int, height: int, scheme: str) -> None:
    async def case(worker: Operated, page: Any) -> None:
        await worker.until(lambda: worker.runtime.stats.pages > 3)
        await worker.ask("PUT", "/api/v1/orders/block/*.bad.example", json={"why": HOSTILE, "who": "ann"})
        await api.expect(page.locator("#hosts tbody")).to_contain_text("h0.example")
        await api.expect(page.locator("#states tbody")).to_contain_text("fetched")
        await api.expect(page.locator("#orders tbody")).to_contain_text(HOSTILE)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        if PICTURES:
            await page.screenshot(path=Path(PICTURES) / f"console-{width}-{scheme}.png", full_page=True)

    shown(tmp_path, case, size=(width, height), scheme=scheme, anonymous_read=True, delay=0.3, hosts=4)


def test_a_worker_that_is_gone_is_told(tmp_path: Path) -> None:
    async def case(worker: Operated, page: Any) -> None:
        await api.expect(page.locator("#state")).to_have_text("crawling")
        await page.route("**/api/**", lambda route: route.abort())
        await api.expect(page.locator("#message")).to_have_text("The worker does not answer.")
        await page.unroute("**/api/**")
        await api.expect(page.locator("#state")).to_have_text("crawling")
        await api.expect(page.locator("#message")).to_have_text("")

    async def run() -> None:
        async with operated(tmp_path, anonymous_read=True) as worker, api.async_playwright() as playwright:
            chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = await chromium.new_page()
            await page.goto(worker.url)
            await case(worker, page)
            await chromium.close()

    asyncio.run(run())

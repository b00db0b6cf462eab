"""A real browser (Debian's Chromium, driven by Playwright) at the console of a worker that crawls."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.endtoend.operated import OPERATOR, Operated, operated

api = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
expect = api.expect
CHROMIUM: Final = shutil.which("chromium")
PICTURES: Final = os.environ.get("GREGOR_TEST_PICTURES")
"""A folder for screenshots, for people to look at."""
PATIENCE: Final = 30_000
"""Milliseconds that what is expected may take on a slow machine."""
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (Debian: chromium)")
Case = Callable[[Operated, Any], Awaitable[None]]
api.expect.set_options(timeout=PATIENCE)


@asynccontextmanager
async def browser(*, complains: bool = False, **settings: Any) -> AsyncIterator[Any]:
    """A page of its own. Whatever the browser complains of fails the test, and so does a request to elsewhere."""
    async with api.async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await (await chromium.new_context(**settings)).new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.on("request", lambda asked: complaints.append(asked.url) if "//127.0.0.1:" not in asked.url else None)
        page.set_default_timeout(PATIENCE)
        try:
            yield page
        finally:
            await chromium.close()
        unexpected = [text for text in complaints if not re.search(r"status of 40[0134] ", text)]
        assert complains or unexpected == []


def shown(
    folder: Path,
    case: Case,
    *,
    view: str = "overview",
    size: tuple[int, int] = (1280, 900),
    scheme: str = "light",
    complains: bool = False,
    **changes: Any,
) -> None:
    """Run a case; it begins at a view of the console, and reads without a token."""

    async def run() -> None:
        sizes = {"width": size[0], "height": size[1]}
        async with (
            operated(folder, **{"anonymous_read": True, **changes}) as worker,
            browser(viewport=sizes, color_scheme=scheme, complains=complains) as page,
        ):
            await page.goto(f"{worker.url}#{view}")
            await case(worker, page)

    asyncio.run(run())


def begins_at(view: str, **settings: Any) -> Callable[[Callable[[Operated, Any], Awaitable[None]]], Any]:
    """Make a test of a case that begins at a view."""

    def of(case: Callable[[Operated, Any], Awaitable[None]]) -> Callable[[Path], None]:
        def test(tmp_path: Path) -> None:
            shown(tmp_path, case, view=view, **settings)

        test.__name__, test.__doc__ = case.__name__, case.__doc__
        return test

    return of


async def go(page: Any, tab: str) -> None:
    """Choose a view."""
    await page.get_by_role("navigation").get_by_role("link", name=tab).click()


async def log_in(page: Any, token: str = OPERATOR) -> None:
    """Give a token where one is asked for."""
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Use it").click()


async def as_operator(worker: Operated, page: Any) -> None:
    """Be an operator from the next request on."""
    await page.evaluate("token => sessionStorage.setItem('token', token)", OPERATOR)
    await page.reload()


async def decide(page: Any, answer: str, why: str = "") -> None:
    """Answer the console's question."""
    dialog = page.get_by_role("dialog")
    if why:
        await dialog.get_by_label("Why").fill(why)
    await dialog.get_by_role("button", name=answer).click()


async def picture(page: Any, name: str) -> None:
    """Take a screenshot, if somebody wants to look at it."""
    if PICTURES:
        await page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)

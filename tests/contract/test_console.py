"""The console in a real browser (Debian's Chromium) beside a worker that crawls."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.contract.operated import operated

CHROMIUM = shutil.which("chromium")
HOSTILE = "<img src=x onerror=alert(1)>"


async def rendered(url: str, folder: Path) -> tuple[str, str]:
    """The page as it is after some seconds of its own time, and what the browser complained of."""
    assert CHROMIUM is not None
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=8000")
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *flags,
        f"--user-data-dir={folder}",
        "--dump-dom",
        url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    return out.decode(), "\n".join(line for line in err.decode().splitlines() if "CONSOLE" in line)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (Debian: chromium)")
def test_it_shows_the_crawl_and_asks_for_a_token_where_one_is_needed(tmp_path: Path) -> None:
    async def open_to_all() -> None:
        async with operated(tmp_path / "a", hosts=3, delay=0.3, anonymous_read=True) as worker:
            await worker.ask("PUT", "/api/v1/orders/block/*.bad.example", json={"why": HOSTILE, "who": "ann"})
            await worker.until(lambda: worker.runtime.stats.pages > 3)
            page, complaints = await rendered(worker.url, tmp_path / "browser a")
            assert complaints == ""
            for text in (
                "crawling",
                "Limited by",
                "h0.example",
                "h2.example",
                "*.bad.example",
                "fetched",
                "pages a second",
            ):
                assert text in page
            shown = page.partition("<script>")[0]
            assert HOSTILE not in shown
            assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in shown
            assert 'id="login" hidden' in shown

    async def closed() -> None:
        async with operated(tmp_path / "b") as worker:
            page, _ = await rendered(worker.url, tmp_path / "browser b")
            shown = page.partition("<script>")[0]
            assert 'id="main" hidden' in shown
            assert 'id="login" hidden' not in shown
            assert "h0.example" not in shown

    asyncio.run(open_to_all())
    asyncio.run(closed())

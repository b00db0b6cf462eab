"""Search in the console: the tab that asks the API, and the page beside it that needs no script."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.endtoend.described import check
from tests.endtoend.operated import OPERATOR
from tests.endtoend.test_folder_console import Ask, shown
from tests.operation.browser import browser, expect, needs_chromium
from tests.search.stored import crawl, page, store

EVIL = '<img src=x onerror="alert(1)">'
PAGES = (
    page("http://a.example.org/1", "A quick fox jumps over the harbour.", title="Fox one"),
    page("http://a.example.org/2", f"Another fox at the harbour {EVIL}", title=f"Fox two {EVIL}"),
    page("http://a.example.org/3", "A third fox at the harbour", title="Fox three"),
    page("http://b.example.org/", "The harbour fox museum", title="Harbour museum"),
    *(page(f"http://h{number}.example.org/", f"many {number} words", title=f"Many {number}") for number in range(13)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an index."""
    made = tmp_path_factory.mktemp("console") / "data"

    async def fill() -> None:
        async with crawl(made) as engine:
            await store(engine, *PAGES)

    asyncio.run(fill())
    line = [sys.executable, "-m", "gregor", "index", "--once", "--data", str(made)]
    assert subprocess.run(line, check=False).returncode == 0
    return made


def test_the_page_that_needs_no_script_stands_beside_the_console(folder: Path) -> None:
    async def case(ask: Ask) -> None:
        answer = await ask("GET", "../../search/", params={"q": "fox"})
        assert answer.status_code == 200 and "<mark>fox</mark>" in answer.text and 'action="."' in answer.text
        described = (await ask("GET", "../../search/opensearch.xml")).text
        assert described.count("/search/?q={searchTerms}") == 1 and "/search/search.json?q=" in described
        assert (await ask("GET", "../../search/search.json", params={"q": "fox"})).json()["total"] == 4
        by_api = await ask("GET", "search", params={"q": "fox"})
        name = by_api.json()["hits"][0]["id"]
        check(answer := await ask("GET", "search/why", params={"id": name, "q": "fox"}))
        why = answer.json()
        assert why["parts"] and why["score"] == pytest.approx(by_api.json()["hits"][0]["score"], abs=0.02)
        explained = (await ask("GET", "explain", params={"url": why["url"]})).json()
        assert why["crawled"] == explained and explained["state"] == "fetched"
        like = (await ask("GET", "search", params={"like": name})).json()
        assert like["like"]["id"] == name and name not in [hit["id"] for hit in like["hits"]]
        assert (await ask("GET", "search", params={"like": "nothing"})).status_code == 404
        check(await ask("GET", "search/logs", params={"q": "x"}))
        copied = folder.parent / "records"
        line = [sys.executable, "-m", "gregor", "index", "--once", "--records", "--data", str(copied)]
        shutil.copytree(folder, copied)
        assert (await asyncio.to_thread(subprocess.run, line, check=False)).returncode == 0
        shutil.copytree(copied / "index" / "records", folder / "index" / "records")
        check(events := await ask("GET", "search/events", params={"q": "host:b.example.org"}))
        assert [hit["url"] for hit in events.json()["hits"]] == ["http://b.example.org/"]
        shutil.rmtree(folder / "index" / "records")

    asyncio.run(shown(folder, case))


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(380, "dark"), (1600, "light")])
def test_the_tab_in_a_browser(folder: Path, width: int, scheme: str) -> None:
    async def case(ask: Ask) -> None:
        url = (await ask("GET", "status")).url.partition("/api/")[0]
        async with browser(viewport={"width": width, "height": 900}, color_scheme=scheme) as tab:
            await looked_at(tab, url)
            assert await tab.evaluate("document.documentElement.scrollWidth") <= width

    asyncio.run(shown(folder, case))


@needs_chromium
def test_a_browser_without_scripts_logs_in_to_the_search_page_and_the_console_does_so_for_it(folder: Path) -> None:
    async def case(ask: Ask) -> None:
        url = (await ask("GET", "status")).url.partition("/api/")[0]
        async with browser(java_script_enabled=False) as tab:
            await tab.goto(f"{url}/search/?q=fox")
            await tab.get_by_label("Token").fill("wrong-token-012345")
            await tab.keyboard.press("Enter")
            await expect(tab.get_by_role("alert")).to_have_text("The token is not one of this crawl's.")
            await tab.get_by_label("Token").fill(OPERATOR)
            await tab.get_by_role("button", name="Use it").click()
            await expect(tab.get_by_role("heading", name="Search: fox")).to_be_visible()
            await expect(tab.locator("mark").first).to_have_text("fox")
            await tab.get_by_role("link", name="Stored text").first.click()
            await expect(tab.locator("pre")).to_contain_text("fox")
        async with browser() as tab:
            await tab.goto(f"{url}/#token={OPERATOR}")
            await tab.goto(f"{url}/#search=fox")
            await tab.get_by_role("button", name="Open as a page of its own").click()
            await expect(tab.get_by_role("heading", name="Search: fox")).to_be_visible()

    asyncio.run(shown(folder, case, anonymous_read=False))


async def looked_at(tab: Any, url: str) -> None:
    await tab.goto(f"{url}/#search={quote('foxx harbor')}")
    await tab.get_by_role("link", name="fox harbour").click()
    await expect(tab.locator("#hits > li")).to_have_count(3)  # two of a host, and one
    await expect(tab.get_by_label("Words")).to_have_value("fox harbour")
    await expect(tab.locator("#hits mark").first).to_be_visible()
    assert await tab.locator("#hits img").count() == 0
    await tab.get_by_role("button", name="why Harbour museum is here").click()
    await expect(tab.locator("#hits table tbody tr").first).to_be_visible()
    await tab.get_by_role("button", name="pages like Harbour museum").click()
    await expect(tab.locator("#searchnotes")).to_contain_text("Pages like http://b.example.org/")
    await tab.locator("#place").select_option("/events")
    await expect(tab.locator("#searchnotes code")).to_have_text("gregor index --records")
    await tab.locator("#place").select_option("")
    await tab.get_by_label("Words").fill("many words")
    await tab.keyboard.press("Enter")
    await expect(tab.locator("#hits > li")).to_have_count(10)
    await tab.get_by_role("button", name="Next hits").click()
    await expect(tab.locator("#hits > li")).to_have_count(3)
    await tab.get_by_role("link", name="Many").first.click()
    await expect(tab.locator("#text")).to_contain_text("words")

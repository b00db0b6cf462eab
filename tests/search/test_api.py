"""Search by the API of a console."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.endtoend.described import check
from tests.endtoend.test_folder_console import Ask, shown
from tests.search.stored import crawl, page, store


def test_viewers_search_by_the_api(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    async def case(ask: Ask) -> None:
        answer = await ask("GET", "search", params={"q": "fox"})
        check(answer)
        assert answer.status_code == 404 and "gregor index" in answer.json()["detail"]
        line = [sys.executable, "-m", "gregor", "index", "--once", "--data", str(folder)]
        assert (await asyncio.to_thread(subprocess.run, line, check=False)).returncode == 0
        answer = await ask("GET", "search", params={"q": "fox -cat before:x", "page": 1})
        check(answer)
        (hit,) = answer.json()["hits"]
        assert (hit["url"], hit["snippet"][1]) == ("http://a.example.org/", {"text": "fox", "marked": True})
        assert answer.json()["hints"] and answer.json()["total"] == 1
        check(wrong := await ask("GET", "search", params={"page": "many"}))
        assert wrong.status_code == 400

    async def run() -> None:
        async with crawl(folder) as engine:
            await store(
                engine, page("http://a.example.org/", "A fox."), page("http://b.example.org/", "A cat and a fox.")
            )
        await shown(folder, case)

    asyncio.run(run())

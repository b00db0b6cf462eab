"""The process that indexes a crawl beside it: it is begun again when it ends, and ends with the crawl."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gregor.worker.commands.cli import main
from gregor.worker.compose.following import Follower
from gregor.worker.config.settings import Config
from tests.endtoend.site import Here, Web, here, web
from tests.search.stored import crawl, page, store

__all__ = ["here", "web"]
BEGINS = "import sys, pathlib; file = pathlib.Path({file!r}); file.write_text(file.read_text() + 'x');"
WAITS = BEGINS + "sys.stdin.readline()"


def begun(tmp_path: Path, code: str) -> tuple[Path, Follower, list[str]]:
    file, told = tmp_path / "begun", list[str]()
    file.write_text("")
    return file, Follower((sys.executable, "-c", code.format(file=str(file))), told.append, pause=0.01), told


async def until_begun(file: Path, times: int) -> None:
    def look() -> None:
        deadline = time.monotonic() + 30
        while len(file.read_text()) < times:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    await asyncio.to_thread(look)


def test_a_killed_process_is_begun_again_and_ends_when_the_crawl_is_over(tmp_path: Path) -> None:
    file, follower, told = begun(tmp_path, WAITS)

    async def run() -> None:
        follower.begin()
        for times in (1, 2):
            await until_begun(file, times)
            assert follower.process is not None
            os.kill(follower.process.pid, signal.SIGKILL)
        await until_begun(file, 3)
        await follower.end()
        assert follower.process is not None and follower.process.returncode == 0

    asyncio.run(run())
    assert file.read_text() == "xxx" and len(told) == 2 and "signal 9" in told[0]


@pytest.mark.parametrize(("kills", "begins"), [(2, 3), (99, 4)])
def test_one_that_is_killed_when_the_crawl_is_over_is_begun_again(tmp_path: Path, kills: int, begins: int) -> None:
    dies = f"; import os; len(file.read_text()) > {kills} or os.kill(os.getpid(), 9)"
    file, follower, told = begun(tmp_path, WAITS + dies)

    async def run() -> None:
        follower.begin()
        await until_begun(file, 1)
        await follower.end()

    asyncio.run(run())
    assert len(file.read_text()) == begins and ("gregor index --once" in told[-1]) is (kills > begins)


def test_what_would_be_refused_again_is_not_begun_again(tmp_path: Path) -> None:
    file, follower, told = begun(tmp_path, BEGINS + "sys.exit(2)")

    async def run() -> None:
        follower.begin()
        await until_begun(file, 1)
        await follower.end()

    asyncio.run(run())
    assert file.read_text() == "x" and "gregor index" in told[0]


def filled(folder: Path) -> None:
    async def fill() -> None:
        async with crawl(folder) as engine:
            await store(engine, page("http://a.example.org/", "A fox."))

    asyncio.run(fill())


@pytest.mark.parametrize("how", ["over", "gone"])
def test_it_ends_with_who_began_it(tmp_path: Path, how: str) -> None:
    filled(tmp_path / "data")
    line = [sys.executable, "-m", "gregor", "index", "--beside", "--data", str(tmp_path / "data")]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin is not None
    if how == "over":
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(30) == 0  # though the input is open
        assert main(["search", "--data", str(tmp_path / "data"), "fox"]) == 0
    process.stdin.close()
    assert process.wait(30) == 0
    assert process.stderr is not None
    process.stderr.close()


def test_what_is_crawled_is_found_at_the_end(web: Web, here: Here) -> None:
    web.page("a.test/", "<title>Harbour</title><h1>Ships</h1><a href=/second>on</a>")
    web.page("a.test/second", "<title>Museum</title>ferries and <a href=/third>more</a>")
    report = here.report("http://a.test/", *web.flags, "--index")
    assert report["pages"] == 2
    assert "http://a.test/second" in here.said("search", *web.flags[:2], "ferries")
    here.report("http://a.test/", *web.flags, "--index")  # a crawl that is over is indexed all the same
    (Path(web.flags[1]) / "index" / "current").write_text("1 99\n")
    assert "--rebuild" in here.said("crawl", "http://a.test/", *web.flags, "--index", code=2)


def test_a_killed_crawl_takes_its_index_with_it(web: Web) -> None:
    web.page("a.test/", "".join(f"<a href=/{number}>{number}</a>" for number in range(500)))
    for number in range(500):
        web.page(f"a.test/{number}", f"<title>{number}</title>page {number}")
    line = [sys.executable, "-m", "gregor", "crawl", "http://a.test/", *web.flags, "--index", "--set", "delay=0.05"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        lock = Path(web.flags[1]) / "index" / "lock"
        writer = until_there(lock)
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 30
        while Path(f"/proc/{writer}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)


def until_there(lock: Path) -> int:
    """The process that writes an index."""
    deadline = time.monotonic() + 30
    while not lock.exists() or not lock.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(lock.read_text())


def test_it_is_for_a_crawl_on_one_machine(here: Here) -> None:
    assert Config().on_one_machine
    assert "beside the workers" in here.said("crawl", "http://a.test/", "--index", "--set", "engine=cluster", code=2)

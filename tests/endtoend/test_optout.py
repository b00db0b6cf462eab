"""`gregor optout`: nothing more is asked of a host, nothing of it is kept, and nothing of others is lost."""

import asyncio
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import PartitionRecord, decode
from gregor.worker.adapters.embedded import open_engine, open_reader, standing_orders
from gregor.worker.commands import cli
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.settings import Config
from gregor.worker.frontier.counts import STATE, of_kind, total
from gregor.worker.links.configured import canonical_rules
from gregor.worker.operate.erase import Erased, until_nothing_is_left
from gregor.worker.settle.rows import OPTED_OUT
from tests.endtoend import small_web
from tests.endtoend.operated import OPERATOR, VIEWER, Operated, operated
from tests.endtoend.small_web import FAST, PAGES, SLOW, SmallWeb

GONE, STAYS = FAST[0], FAST[1]


def gregor(data: Path, *words: str, code: int = 0) -> None:
    assert cli.main([words[0], "--data", str(data), *words[1:]]) == code


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return msgspec.json.decode(capsys.readouterr().out.splitlines()[-1])


def crawled(web: SmallWeb, folder: Path, *seeds: str) -> Path:
    command, *words = web.command_line(folder)
    assert cli.main([command, *seeds, *words, "--exclude", f"*{SLOW}*"]) == 0
    return folder / "data"


def urls(data: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    gregor(data, "pages", "--json")
    found = [msgspec.json.decode(line) for line in capsys.readouterr().out.splitlines()]
    return {one["url"]: one for one in found}


def exported(data: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    gregor(data, "export", "jsonl")
    return {msgspec.json.decode(line)["url"] for line in capsys.readouterr().out.splitlines()}


def counted(data: Path) -> tuple[dict[str, int], dict[str, int]]:
    """The totals as they are kept, and as they are counted anew."""
    connection = sqlite3.connect(data / "crawl.db")
    kept = dict(
        zip(("pages", "pages_200", "bytes"), connection.execute("SELECT * FROM totals").fetchone(), strict=True)
    )
    newest = "SELECT status, size, max(visit) FROM pages GROUP BY key"
    pages = connection.execute(newest).fetchall()
    anew = {
        "pages": len(pages),
        "pages_200": sum(status == 200 for status, _, _ in pages),
        "bytes": sum(size for _, size, _ in pages),
    }
    states = "SELECT state, count(*) FROM rows GROUP BY state"
    kept |= dict(connection.execute("SELECT state, urls FROM states WHERE urls > 0"))
    anew |= dict(connection.execute(states))
    records = [decode(data, PartitionRecord).counts for (data,) in connection.execute("SELECT data FROM partitions")]
    connection.close()
    owners = total(records)  # what is told while the crawl runs
    assert {name: owners[name] for name in ("pages", "pages_200", "bytes")} == {
        name: kept[name] for name in ("pages", "pages_200", "bytes")
    }
    assert {name: count for name, count in of_kind(owners, STATE).items() if count} == dict(states_of(anew))
    return kept, anew


def states_of(counts: dict[str, int]) -> dict[str, int]:
    """Those of URLs by their states."""
    return {name: count for name, count in counts.items() if name not in ("pages", "pages_200", "bytes")}


def rows_naming(data: Path, host: str) -> dict[str, int]:
    """In how many entries of each table a host is named, wherever that can be read."""
    connection = sqlite3.connect(data / "crawl.db")
    tables = {"pages": "key", "contents": "key", "sketches": "key", "robots": "origin", "dead_letters": "data"}
    found = {
        table: connection.execute(f"SELECT count(*) FROM {table} WHERE instr({column}, ?)", (host,)).fetchone()[0]
        for table, column in tables.items()
    }
    keys = "SELECT count(*) FROM sketch_keys WHERE id NOT IN (SELECT id FROM sketches)"
    found["keys of nothing"] = connection.execute(keys).fetchone()[0]
    connection.close()
    return found


def test_nothing_of_the_host_is_kept_and_nothing_of_others_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_web.serving() as web:
        data = crawled(web, tmp_path)
        before, pages_before = urls(data, capsys), exported(data, capsys)
        assert rows_naming(data, GONE)["pages"] > PAGES
        gregor(data, "optout", f"http://{GONE}/", "--why", "asked by mail", "--wait", "0", "--json")
        output = capsys.readouterr()
        assert "\r" not in output.err
        erased = msgspec.json.decode(output.out)
        assert erased["pages"] == sum(f"//{GONE}/" in url for url in pages_before)
        assert PAGES <= erased["bodies"] <= erased["pages"]
        assert erased["robots"] == 1

        after = urls(data, capsys)
        assert after.keys() == before.keys()
        for url, record in after.items():
            if record["host"] == GONE:
                assert (record["state"], record["rule"]) == ("denied", OPTED_OUT)
                assert not record["title"]
                assert not record["links"]
            else:
                assert record == before[url]
        assert exported(data, capsys) == {url for url in pages_before if f"//{GONE}/" not in url}
        assert not any(rows_naming(data, GONE).values())
        kept, anew = counted(data)
        assert kept == anew

        with monkeypatch.context() as terminal:
            terminal.setattr(sys.stderr, "isatty", lambda: True)
            gregor(data, "optout", GONE, "--why", "asked again", "--wait", "0")
        output = capsys.readouterr()
        assert re.search(r"looking at pages: [1-9]\d*\r", output.err) and output.err.endswith("\r\x1b[K")
        assert output.out == f"deleted of {GONE}: 0 pages, 0 bodies, 0 urls, 0 robots, 0 dead letters\n"

        asked = len(web.log)
        crawled(web, tmp_path, f"http://{GONE}/", f"http://{GONE}/new", f"http://{STAYS}/new")
        assert {one.host for one in web.log[asked:]} & {GONE} == set()
        assert (STAYS, "/new") in {(one.host, one.path) for one in web.log[asked:]}
        assert urls(data, capsys)[f"http://{GONE}/new"]["rule"] == OPTED_OUT
        assert not any(rows_naming(data, GONE).values())
    assert standing_orders(data).by_name[f"optout {GONE}"].why == "asked again"


def test_a_body_that_another_host_has_too_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_web.serving() as web:
        data = crawled(web, tmp_path)
    for number, host in enumerate(FAST):
        copies = [url for url in urls(data, capsys) if url.endswith("/copy") and f"//{host}/" in url]
        assert len(copies) == 1
        for other in FAST[number:]:
            capsys.readouterr()
            gregor(data, "show", f"http://{other}/copy", "--body")
            assert "The same words" in capsys.readouterr().out
        gregor(data, "optout", host, "--wait", "0")
    gregor(data, "optout", SLOW, "--wait", "0")
    connection = sqlite3.connect(data / "crawl.db")
    for table in ("pages", "bodies", "contents", "sketches", "sketch_keys"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    connection.close()
    assert not [file for file in (data / "bodies").rglob("*") if file.is_file()]


def test_a_domain_opts_out_and_may_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_web.serving() as web:
        data = crawled(web, tmp_path)
    gregor(data, "optout", "*.test", "--wait", "0")
    assert exported(data, capsys) == set()
    assert "optout *.test" in standing_orders(data).by_name
    gregor(data, "optout", "*.test", "--undo")
    assert standing_orders(data).by_name == {}


@pytest.mark.parametrize("host", ["*", "a b", "http://"])
def test_what_is_no_host_is_refused(tmp_path: Path, host: str) -> None:
    gregor(tmp_path, "optout", host, code=2)


def test_without_a_crawl_nothing_is_deleted(tmp_path: Path) -> None:
    gregor(tmp_path / "none", "optout", "a.test", code=2)


def test_beside_a_crawl_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIEW", VIEWER)
    monkeypatch.setenv("OPERATE", OPERATOR)
    folder = tmp_path / "data"

    async def case(worker: Operated) -> None:
        await worker.until(lambda: worker.asked("h0.example") > 5)
        flags = ("--set", "operator_token_env=OPERATE", "--api", worker.url, "--wait", "1")
        await asyncio.to_thread(gregor, folder, "optout", "h0.example", "--why", "by test", *flags)
        asked, other = worker.asked("h0.example"), worker.asked("h1.example")
        await worker.until(lambda: worker.asked("h1.example") > other + 5)
        assert worker.asked("h0.example") == asked
        assert not any(rows_naming(folder, "h0.example").values())
        reader = await open_reader(folder)
        rows = [row async for row in reader.rows(None, "h0.example")]
        await reader.close()
        assert {(row.state, row.rule) for row in rows} == {("denied", OPTED_OUT)}
        assert {(row.attempts, row.via, row.label) for row in rows} == {((), "", "")}

    async def run() -> None:
        async with operated(folder) as worker:
            await case(worker)

    asyncio.run(run())


def test_a_claim_of_a_visit_whose_page_was_erased_before_it_is_found(tmp_path: Path) -> None:
    asyncio.run(_empty_folder(tmp_path))
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        for number, host in enumerate(("gone.test", "a.gone.test", "stays.test")):
            database.execute("INSERT INTO contents VALUES (?, ?)", (bytes([number]) * 16, f"http://{host}/"))
    gregor(tmp_path, "optout", "*.gone.test", "--why", "by test", "--wait", "0")
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        assert database.execute("SELECT key FROM contents").fetchall() == [("http://stays.test/",)]


async def _empty_folder(folder: Path) -> None:
    rules = canonical_rules(Config()).fingerprint()
    await (await open_engine(folder, Config().partitions, rules, SystemClock())).close()


def test_it_goes_on_until_a_pass_that_all_have_heard_of_finds_nothing() -> None:
    now, passes = 0.0, [Erased(), Erased(pages=3), Erased(bodies=1), Erased()]
    slept: list[float] = []

    async def erase() -> Erased:
        nonlocal now
        now += 1.0
        return passes.pop(0)

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        slept.append(seconds)

    erased = asyncio.run(until_nothing_is_left(erase, 10.0, lambda: now, sleep))
    assert erased == Erased(pages=3, bodies=1)
    assert passes == []
    assert slept == [9.0, 0.0, 0.0]

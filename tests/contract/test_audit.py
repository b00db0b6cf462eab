"""`gregor audit`: a real crawl is clean; a store that was doctored is caught."""

from pathlib import Path

import msgspec
import pytest

from gregor.schemas.messages import Attempt, RobotsRecord, Row
from gregor.schemas.parts import RequestStart
from gregor.worker.adapters.embedded import open_reader
from gregor.worker.adapters.sorting import Sorted
from gregor.worker.commands import cli
from gregor.worker.inspect import audit_crawl
from gregor.worker.inspect.audit import Findings, requests_of
from gregor.worker.inspect.audit_crawl import audit
from tests.contract.world import World, run
from tests.endtoend import small_web
from tests.endtoend.operated import Operated, over
from tests.endtoend.small_web import CRAWL_DELAY, DELAY, FAST, SLOW, SmallWeb
from tests.memory_transport import Scripted

HOST, AT = "a.example", 1_800_000_000.0
ROBOTS = RobotsRecord(f"http://{HOST}", "parsed", AT, AT + 9, b"User-agent: *\nDisallow: /private", 200, agent="gregor")


def row(path: str, at: float, host: str = HOST) -> Row:
    url = f"http://{host}{path}"
    attempt = Attempt(at + 1, "fetched", 200, 0.5, "worker", (RequestStart(at, 2.0, 5.0, AT),))
    return Row(url, url, host, 1, "fetched", "fetched", 200, attempts=(attempt,))


async def audited(world: World, *rows: Row, host: str | None = None) -> Findings:
    engine = await world.open()
    await engine.store.put_rows(rows, 1)
    await engine.store.put_robots(ROBOTS, 1)
    await world.again()
    with Sorted() as sorting:
        return await audit(await world.reader(), sorting, "gregor", host)


@run
async def test_a_polite_store_is_clean(world: World) -> None:
    findings = await audited(world, row("/b", AT + 15), row("/a", AT + 10), row("/", AT + 5))
    assert (findings.listed, findings.requests, findings.hosts) == ([], 3, 1)
    assert [round(margin.share, 3) for margin in findings.margins] == [1.0]


@run
async def test_a_request_under_disallow_is_caught(world: World) -> None:
    findings = await audited(world, row("/", AT + 5), row("/private/x", AT + 10))
    assert [(one.kind, one.url) for one in findings.listed] == [("disallowed", f"http://{HOST}/private/x")]
    assert findings.listed[0].detail == "robots.txt line 2: Disallow: /private"


@run
async def test_two_requests_too_near_are_caught(world: World) -> None:
    findings = await audited(world, row("/", AT + 5), row("/b", AT + 9.9), row("/", AT + 8, "b.example"))
    assert [(one.kind, one.url, one.host) for one in findings.listed] == [("too near", f"http://{HOST}/b", HOST)]
    assert findings.margins[0].gap == pytest.approx(4.9)
    assert findings.unkept == 1


@run
async def test_a_host_is_judged_whole_however_few_requests_are_read_at_a_time(world: World) -> None:
    rows = [row(path, AT + at) for path, at in (("/", 5), ("/b", 9.9), ("/c", 15), ("/private/x", 20), ("/d", 24.9))]
    rows += [row("/", AT + number, f"h{number}.example") for number in range(3)]
    whole = await audited(world, *rows)
    assert whole.requests == 8 and whole.violations.total() == 3
    reader, asked = await world.reader(), list[str]()
    read = reader.robots

    async def robots(origin: str) -> RobotsRecord | None:
        asked.append(origin)
        return await read(origin)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "robots", robots)
        patch.setattr(audit_crawl, "_TOGETHER", 1)
        patch.setattr(audit_crawl, "_TOLD_EACH", 1)
        said: list[tuple[str, int]] = []
        with Sorted() as sorting:
            assert await audit(reader, sorting, "gregor", tell=lambda *words: said.append(words)) == whole
    assert sorted(asked) == sorted({f"http://{each.host}" for each in rows}), "once"
    assert said == [(what, count) for what in ("looking at URLs", "judging requests") for count in range(1, 9)]


@run
async def test_one_host_may_be_judged_alone(world: World) -> None:
    findings = await audited(world, row("/private", AT + 5), row("/", AT, "b.example"), host="b.example")
    assert (findings.requests, findings.listed) == (1, [])


def crawled(web: SmallWeb, folder: Path, *more: str) -> Path:
    assert cli.main([*web.command_line(folder), *more]) == 0
    return folder / "data"


def test_a_real_crawl_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_web.serving() as web:
        data = crawled(web, tmp_path)
        requests = len(web.log)
    capsys.readouterr()
    assert cli.main(["audit", "--data", str(data), "--json"]) == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert (told["violations"], told["listed"], told["untold"], told["unkept"]) == (0, [], 0, 0)
    assert told["requests"] == requests  # every single one that the server saw
    delays = {margin["host"]: margin["delay"] for margin in told["margins"]}
    assert delays == {**dict.fromkeys(FAST, DELAY), SLOW: CRAWL_DELAY}
    assert all(margin["share"] > 0.99 for margin in told["margins"])
    assert cli.main(["audit", "--data", str(data)]) == 0
    assert "no violations" in capsys.readouterr().out


def test_a_crawl_that_reads_no_robots_txt_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small_web.serving() as web:
        data = crawled(web, tmp_path, "--max-pages", "2", "--set", "robots=ignore")
    capsys.readouterr()
    assert cli.main(["audit", "--data", str(data)]) == 1
    assert "no robots.txt was read" in capsys.readouterr().out


def test_without_a_crawl_there_is_nothing_to_judge(tmp_path: Path) -> None:
    assert cli.main(["audit", "--data", str(tmp_path / "none")]) == 2


def test_a_crawl_delay_that_another_origin_asks_for_holds_from_its_first_page_on(tmp_path: Path) -> None:
    """http and https are one host with two robots.txt; what the second asks for was known to an earlier owner."""
    other = "https://h0.example"

    async def case(worker: Operated) -> None:
        store, now = worker.engine.store, worker.engine.coordinator.now()
        body = b"User-agent: *\nCrawl-delay: 1.5"
        await store.put_robots(RobotsRecord(other, "parsed", now, now + 999, body, 200, body, now), 1)
        worker.transport.script(f"{other}/", Scripted(body=b"<title>here</title>"))
        await worker.until(lambda: worker.asked("h0.example") > 5)
        seeds = {"seeds": [{"url": f"{other}/", "priority": 1}]}
        assert (await worker.ask("POST", "/api/v1/seeds", json=seeds)).status_code == 200
        await worker.until_state(f"{other}/")
        reader = await open_reader(tmp_path)
        with Sorted() as sorting:
            findings = await audit(reader, sorting, "gregor")
        rows = [row async for row in reader.rows(None, "h0.example")]
        await reader.close()
        assert findings.listed == []
        pages = sorted((one.asked.at, one.href) for row in rows for one in requests_of(row) if one.href)
        at = next(number for number, (_, href) in enumerate(pages) if href == f"{other}/")
        assert pages[at][0] - pages[at - 1][0] >= 1.5 - 1e-3

    over(case, hosts=1)(tmp_path)

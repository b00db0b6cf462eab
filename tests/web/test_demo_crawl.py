"""The bundled web, crawled by the command line: every page ends in the state that its recording is there to show."""

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from gregor.worker.demo.__main__ import demo
from gregor.worker.demo.server import serving
from tests.web import crawler, make_demo

LIMIT_SECONDS = 60.0
STATES = {
    f"{make_demo.TOWN}/": "fetched",
    f"{make_demo.TOWN}/visit": "redirected",
    f"{make_demo.TOWN}/private/ledger.html": "denied",
    f"{make_demo.TOWN}/news/00.html": "gone",
    f"{make_demo.LIBRARY}/books/unlisted.html": "fetched",
    f"{make_demo.MUSEUM}/ships/?sort=age": "denied",
    f"{make_demo.MUSEUM}/ships/dora-plan.html": "gone",
    f"{make_demo.MUSEUM}/guestbook.html": "fetched",
    f"{make_demo.FERRY}/old": "redirected",
    f"{make_demo.FERRY}/timetable": "fetched",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    table, data = folder / "hosts.table", folder / "data"
    options = {"scope": "any", "delay": 0, "delay_factor": 0, "max_crawl_delay": 0.05, "sitemaps": True}
    with serving() as web:
        table.write_text("\n".join(web.host_table_lines))
        ended = crawler.crawl(
            [*web.seeds, "--host-table", str(table), *crawler.arguments(options)], data, LIMIT_SECONDS
        )
    assert ended.status == 0, ended.said()
    records = [json.loads(line) for line in crawler.pages(data)]
    assert len({record["url"] for record in records}) == len(records)
    return {record["url"]: record for record in records}


def test_every_url_ends_in_its_state(crawled: dict[str, dict[str, Any]]) -> None:
    assert {url: crawled.get(url, {}).get("state") for url in STATES} == STATES
    assert {record["state"] for record in crawled.values()} == {"fetched", "duplicate", "redirected", "denied", "gone"}


def test_the_same_page_under_two_urls_is_stored_once(crawled: dict[str, dict[str, Any]]) -> None:
    pair = [crawled[f"{make_demo.LIBRARY}{path}"] for path in ("/catalogue.html", "/index/books")]
    original, copy = sorted(pair, key=lambda record: str(record["state"]), reverse=True)
    assert (original["state"], copy["state"], copy["duplicate_of"]) == ("fetched", "duplicate", original["url"])
    assert original["sha256"] == copy["sha256"]


def test_a_nofollow_link_is_stored_and_not_followed(crawled: dict[str, dict[str, Any]]) -> None:
    tickets = f"{make_demo.FERRY}/tickets?from=town"
    links = {link["url"]: link for link in crawled[f"{make_demo.TOWN}/"]["links"]}
    assert links[tickets] == {"url": tickets, "kind": "a", "nofollow": True}
    assert tickets not in crawled


def test_a_legacy_charset_is_decoded(crawled: dict[str, dict[str, Any]]) -> None:
    timetable = crawled[f"{make_demo.FERRY}/timetable"]
    assert (timetable["title"], timetable["charset"]) == ("Fahrplan für Gäste", "windows-1252")


def test_every_recorded_page_that_may_be_visited_is(crawled: dict[str, dict[str, Any]]) -> None:
    visible = {url for url, record in crawled.items() if record["state"] in ("fetched", "duplicate")}
    recorded = {
        one.url
        for one in (*make_demo.town(), *make_demo.library(), *make_demo.museum(), *make_demo.ferry())
        if one.status.startswith("200") and not one.url.endswith((".txt", ".xml"))
    }
    assert recorded - visible == {f"{make_demo.TOWN}/private/ledger.html", f"{make_demo.FERRY}/tickets?from=town"}


def test_a_second_demonstration_leaves_the_first_its_web(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "data.hosts"
    table.write_text("a.test 127.0.0.1:1\n")
    with table.open("a") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        assert demo(str(tmp_path / "data")) == 2
    assert table.read_text() == "a.test 127.0.0.1:1\n"
    assert "another demonstration crawls into" in capfd.readouterr().err

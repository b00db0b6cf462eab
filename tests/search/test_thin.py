"""Thin answers: which they are, what they lead to, and how much of it."""

import argparse
import asyncio
import json
import queue
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests

from gregor.search.borders import Answer, Hit, Unusable
from gregor.search.query import ParsedQuery, parse
from gregor.search.thin import OrderAllowance, wish
from gregor.worker.base.errors import BadInput
from gregor.worker.commands import api_client, ordering
from gregor.worker.commands.cli import main
from gregor.worker.commands.thin_answers import ThinAnswers, following
from gregor.worker.compose.engine import engine_of
from gregor.worker.config.sources import load
from gregor.worker.orders.model import By, record
from tests.search.stored import crawl, page, store

DAY = 86400.0
NOW = 1e9


def hits(*ages: float) -> tuple[Hit, ...]:
    """Documents of these ages in days, each of its own host."""
    urls = [f"http://h{number}.test/" for number in range(len(ages))]
    return tuple(
        Hit(url, url, 1, (url,), url, url[7:-1], "", "", "", NOW - age * DAY, 1, 1.0)
        for url, age in zip(urls, ages, strict=True)
    )


@pytest.mark.parametrize(
    ("query", "answer", "hosts", "visits", "why"),
    [
        ("fox", Answer(hits(1, 1, 1, 1, 1), 5), None, 0, ""),
        ("fox", Answer(hits(1), 1), ("h0.test",), 0, "few results for: fox"),
        ("fox", Answer(hits(40, 50, 60, 70, 80), 50), (), 5, "old results for: fox"),
        ("fox", Answer(hits(40, 50, 60, 70, 80, 2), 50), None, 0, ""),
        ("fox", Answer(hits(*[40] * 30), 50), (), 10, "old results for: fox"),
        ("fox", Answer(hits(40), 1), ("h0.test",), 1, "few and old results for: fox"),
        ("fox", Answer(hits(1, 1, 1, 1), 4), ("h0.test", "h1.test", "h2.test"), 0, "few results for: fox"),
        ("fox", Answer((), 0), (), 0, "few results for: fox"),
        ("fox cat", Answer(hits(40, 40), 2, any_word=True), (), 0, "few results for: fox cat"),
        (
            "fox host:a.test -host:b.test",
            Answer((), 0),
            ("a.test",),
            0,
            "few results for: fox host:a.test -host:b.test",
        ),
        ("fox site:a.test", Answer((), 0), ("*.a.test",), 0, "few results for: fox site:a.test"),
        ("fox", Answer(hits(1), 1, partial=True), None, 0, ""),
        ("host:a.test", Answer((), 0), None, 0, ""),
        ("", Answer((), 0), None, 0, ""),
    ],
)
def test_what_a_thin_answer_asks_for(
    query: str, answer: Answer, hosts: tuple[str, ...] | None, visits: int, why: str
) -> None:
    wished = wish(parse(query), answer, NOW, 30 * DAY)
    if hosts is None:
        assert wished is None
    else:
        assert wished is not None and (wished.hosts, len(wished.visits), wished.why) == (hosts, visits, why)


def test_no_more_than_so_many_an_hour_and_once_a_day_for_a_query() -> None:
    now = 0.0
    allowance = OrderAllowance(5, lambda: now)
    assert (allowance.take(3), allowance.take(3), allowance.take(1)) == (3, 2, 0)
    assert allowance.is_new("fox") and not allowance.is_new("fox") and allowance.is_new("cat")
    now = 3601.0
    assert allowance.take(9) == 5 and not allowance.is_new("fox")
    now = DAY + 1
    assert allowance.is_new("fox")
    assert all(allowance.is_new(f"query {number}") for number in range(10_001)) and allowance.is_new("cat")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with an index of pages of several hosts."""
    now = time.time()
    aged = [("a.test", 1.0), ("a.test", 1.0), ("b.test", 90.0), ("c.test", 1.0)]
    pages = [
        msgspec.structs.replace(page(f"http://{host}/{number}", f"fox {host[0]}words"), fetched_at=now - days * DAY)
        for number, (host, days) in enumerate(aged)
    ]

    async def fill() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, *pages)

    asyncio.run(fill())
    assert main(["index", "--once", "--data", str(tmp_path / "d")]) == 0
    return tmp_path / "d"


def orders(data: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert main(["orders", "--json", "--data", str(data)]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {order["name"]: f"{order['who']}: {order['why']}" for order in said}


def test_hosts_of_few_results_are_ordered_first_and_listed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--data", str(data))
    assert main(["search", "awords", *place]) == 0
    assert orders(data, capsys) == {}  # unless that is wanted
    assert main(["priority", "c.test", "3", "--why", "mine", *place]) == 0
    assert main(["search", "--thin-orders", "2", "fox", *place]) == 0
    given = orders(data, capsys)
    assert given.pop("priority c.test").endswith("mine")  # a person's order stays
    assert given == {f"priority {host}.test": "search: few results for: fox" for host in "ab"}
    assert main(["search", "--thin-orders", "2", "zebra", "host:nowhere.test", *place]) == 0
    assert len(orders(data, capsys)) == 3
    assert main(["orders", "--take-back", "priority a.test", *place]) == 0
    assert main(["search", "--thin-orders", "1", "awords", *place]) == 0
    assert "priority a.test" not in orders(data, capsys)  # so many stand already


def test_old_results_are_visited_again_by_the_crawl_that_runs(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, Any]] = []

    def by_api(arguments: Any, method: str, path: str, body: Any = None) -> Any:
        asked.append((method, path, body))
        return {"orders": [], "unread": [], "next": ""} if method == "GET" else {"count": 1, "unknown": []}

    monkeypatch.setattr(api_client, "by_api", by_api)
    words = ["search", "--thin-orders", "2", "bwords", "--data", str(data)]
    assert main(words) == 0
    why = "few and old results for: bwords"
    assert [request for request in asked if request[0] != "GET"] == [
        ("PUT", "/api/v1/orders/priority/b.test", {"who": "search", "why": why, "value": 2}),
        ("POST", "/api/v1/recrawl", {"urls": ["http://b.test/2"], "who": "search", "why": why}),
    ]
    asked.clear()
    assert main([*words, "--old-after", "100d"]) == 0
    assert not [request for request in asked if request[0] == "POST"]


def test_visits_that_searches_asked_for_are_listed_for_a_day(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--data", str(data))
    now = time.time()
    for url, who, at in (("a", "search", now), ("b", "ann", now), ("c", "search", now - 2 * DAY)):
        by = By(who, at, "old results for: fox")
        engine_of(load(None, {"GREGOR_DATA": str(data)}).config).change_orders(
            partial(record, what=f"recrawl http://{url}.test/2", by=by, count=1)
        )
    assert orders(data, capsys) == {"recrawl http://a.test/2": "search: old results for: fox"}
    assert main(["orders", *place]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "no orders stand"
    assert lines[1].split()[:2] == ["recrawl", "http://a.test/2"] and lines[1].endswith("search old results for: fox")
    assert len(lines) == 2


def test_the_search_page_gives_orders_too(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        sys.executable,
        "-m",
        "gregor",
        "search",
        "--serve",
        "127.0.0.1:0",
        "--thin-orders",
        "3",
        "--data",
        str(data),
    ]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]
        assert requests.get(f"{url}search.json", params={"q": "cwords"}, timeout=30).json()["total"] == 1
        patience = time.monotonic() + 30
        while "priority c.test" not in orders(data, capsys):
            assert time.monotonic() < patience
            time.sleep(0.1)
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.parametrize(
    "words", [["--thin-orders", "-1"], ["--thin-orders", "x"], ["--thin-orders", "1", "--old-after", "never"],
              ["--thin-orders", "1", "--in", "logs"]]
)  # fmt: skip
def test_what_cannot_be_is_one_line(data: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    capsys.readouterr()
    try:
        code: object = main(["search", "fox", *words, "--data", str(data)])
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err


class LostAtFirst:
    """An index that is gone when it is opened first, and has a document of every host from then on."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0

    def __call__(self) -> Any:
        self.opened += 1
        if self.opened == 1:
            raise Unusable("the index is gone")
        return self

    def search(self, asked: ParsedQuery, limit: int) -> Answer:
        return Answer(hits(1), 1)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch) -> "queue.Queue[str]":
    """The hosts that are ordered first."""
    targets: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(ordering, "in_force", lambda _: ([], []))
    monkeypatch.setattr(ordering, "ordered", lambda arguments, kind, host, value: targets.put(host))
    return targets


def test_an_index_that_is_gone_meanwhile_is_one_line_and_the_next_answer_is_ordered(
    ordered: "queue.Queue[str]", capsys: pytest.CaptureFixture[str]
) -> None:
    index = LostAtFirst()
    thin = ThinAnswers(argparse.Namespace(thin_orders=5, old_after="30d"), index)

    async def run() -> str:
        async with following(thin) as on_answer:
            assert on_answer is not None
            for word in ("fox", "cat"):
                now = time.time() - NOW
                (hit,) = hits(-now / DAY)
                on_answer(parse(word), Answer((hit,), 1))
            return await asyncio.to_thread(ordered.get, timeout=30)

    assert asyncio.run(run()) == "h0.test" and (index.opened, index.closed) == (2, 1)
    assert "no order was given for few results for: fox: the index is gone" in capsys.readouterr().err


def test_a_command_whose_index_is_gone_meanwhile_has_bad_input(ordered: "queue.Queue[str]") -> None:
    thin = ThinAnswers(argparse.Namespace(thin_orders=5, old_after="30d"), LostAtFirst())
    wished = wish(parse("fox"), Answer(hits(1), 1), NOW, 30 * DAY)
    assert wished is not None
    with pytest.raises(BadInput, match="the index is gone"):
        thin.give(wished)
    assert ordered.empty()

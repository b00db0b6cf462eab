"""`gregor crawl --every` visits all again when that is due; `gregor changes` and the report tell what came of it."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.worker.commands.scheduled import Round
from tests.endtoend.site import Here, Web
from tests.endtoend.test_kill_and_resume import PATIENCE, gregor


@pytest.fixture(autouse=True)
def pages(web: Web) -> None:
    web.page("a.test/", '<a href="/1">x</a><a href="/2">x</a>')  # which is sent each time
    web.page("a.test/1", "first", ETag='"one"')
    web.page("a.test/2", "second", ETag='"one"')


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def crawling(web: Web, reports: list[dict[str, Any]], *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A crawl that stays; it is stopped by a signal, whether it waits or works, and then its ``reports`` are read."""
    with gregor("crawl", "--json", *words, *web.flags) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3, errors
        reports += [json.loads(line) for line in out.splitlines()]


def waits(process: "subprocess.Popen[bytes]") -> None:
    """Until it has made its run."""
    assert process.stderr is not None
    for line in process.stderr:
        if b"the next run is due" in line:
            return


def times(web: Web, place: str) -> int:
    return sum(asked == place for asked, _ in web.asked)


def test_all_is_visited_again_when_it_is_due(web: Web, here: Here) -> None:
    reports = list[dict[str, Any]]()
    with crawling(web, reports, "http://a.test/", "--every", "1s"):
        until(lambda: times(web, "a.test/2") >= 2)
        web.page("a.test/1", "first, but otherwise", ETag='"two"')
        web.page("a.test/2", status=410)
        web.page("a.test/", '<a href="/1">x</a><a href="/3">another</a>')
        web.page("a.test/3", "third")
        until(lambda: times(web, "a.test/3") >= 3)  # the round before is whole
    assert reports[0]["changes"] == {"new": 3}
    assert {"new": 1, "changed": 2, "gone": 1}.items() <= sum_of([report["changes"] for report in reports[1:]]).items()
    changed = [line.split() for line in here.said("changes", "--since", "1h", *web.flags[:2]).splitlines()[1:]]
    assert sorted((line[0], line[-1]) for line in changed) == [
        ("new", "http://a.test/"),
        ("new", "http://a.test/1"),
        ("new", "http://a.test/3"),
    ], "what came and went within the hour is neither"
    assert "3 new, 0 changed, 0 gone since" in here.err


def sum_of(counts: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(count.get(name, 0) for count in counts) for name in ("new", "changed", "gone")}


def test_credentials_of_a_seed_hold_for_all_runs(web: Web) -> None:
    with crawling(web, [], "http://me:secret@a.test/", "--every", "1s"):
        until(lambda: times(web, "a.test/2") >= 2)
    assert all("Authorization" in headers for place, headers in web.asked if not place.endswith("/robots.txt"))


def test_of_missed_rounds_one_is_made_and_one_cut_short_goes_on(web: Web, here: Here, tmp_path: Path) -> None:
    here.report("http://a.test/", *web.flags)
    rounds = tmp_path / "data" / "rounds.json"
    web.paths()
    for last in (Round(time.time() - 7.5 * 3600, asked=True), Round(time.time())):
        rounds.write_bytes(msgspec.json.encode(last))
        with crawling(web, [], "--every", "1h") as process:
            waits(process)
        assert sorted(web.paths()) == ["a.test/", "a.test/1", "a.test/2"], last
    with crawling(web, [], "--every", "1h") as process:
        waits(process)
    assert web.paths() == [], "it is not due"


def test_what_is_new_changed_or_gone(web: Web, here: Here, tmp_path: Path) -> None:
    def listed(*words: str) -> list[tuple[str, str, int | None]]:
        lines = here.said("changes", *words, "--json", *web.flags[:2]).splitlines()
        changes = [json.loads(line) for line in lines]
        return sorted((change["change"], change["url"], change["version_before"]) for change in changes)

    here.report("http://a.test/", *web.flags)
    every = [("new", f"http://a.test/{name}", None) for name in ("", "1", "2")]
    assert listed("--cursor", str(tmp_path / "cursor")) == every
    assert listed("--since", "1h") == every
    between = datetime.now(UTC).isoformat()
    web.page("a.test/1", "first, but otherwise", ETag='"two"')
    web.page("a.test/2", status=410)
    said = here.said("recrawl", "--all", "--now", *web.flags[:2])
    assert "  changes    changed 1, unchanged 1, gone 1" in said
    some = [("changed", "http://a.test/1", 1), ("gone", "http://a.test/2", 1)]
    assert listed("--since", between) == some
    assert listed("--since", between, "--only", "gone") == some[1:]
    assert listed("--since", between, "--host", "b.test") == []


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["crawl", "--every", "soon", "http://a.test/"], "--every wants an interval such as 6h"),
        (["crawl", "--every", "1d", "--set", "max_bytes=9", "http://a.test/"], "goes without max_bytes"),
        (["changes"], "say since when"),
        (["changes", "--since", "1d", "--cursor", "x"], "say since when"),
        (["changes", "--since", "soon"], "--since wants an age"),
        (["changes", "--since", "1d", "--host", "a b"], "is no host"),
    ],
)
def test_wrong_input(words: list[str], part: str, web: Web, here: Here) -> None:
    here.report("http://a.test/", *web.flags)
    assert part in here.said(*words, *web.flags[:2], code=2)

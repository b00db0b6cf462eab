"""When a crawl brought nothing, its exit code is 1 and it says why and what would help."""

import contextlib
import re
import sqlite3
import time
from pathlib import Path

import msgspec
import pytest

from gregor.schemas.messages import PartitionRecord, RobotsRecord, Row, decode
from gregor.worker.adapters.embedded.queries import decode_page
from gregor.worker.compose.process import SystemClock
from gregor.worker.config.credentials import basic
from tests.endtoend.site import Here, Web


def test_a_name_that_does_not_exist(web: Web, names: str, here: Here) -> None:
    flags = [*web.flags[:2], *web.flags[4:], "--resolver", names]  # without a host table
    report = here.report("http://nowhere.test/", *flags, code=1)
    assert "http://nowhere.test/ is dead" in here.err
    assert report["exit_code"] == 1
    assert "does not exist" in report["detail"]


@pytest.mark.parametrize(
    ("status", "headers", "part"),
    [
        (404, {}, "is gone (status 404)"),
        (401, {}, "the server wants credentials"),
        (500, {}, "is dead (status 500). Once the cause is mended, `gregor deadletters --retry` asks again"),
        (
            301,
            {"Location": "http://www.a.test/"},
            "redirects to http://www.a.test/, which is out of scope (scope host)",
        ),
    ],
)
def test_the_only_seed_brings_nothing(status: int, headers: dict[str, str], part: str, web: Web, here: Here) -> None:
    web.page("a.test/", "", status, **headers)
    for _ in range(2):
        report = here.report("http://a.test/", *web.flags, code=1)
        assert part in here.err
        assert part in report["detail"]
    assert "no page came of it" in here.said("crawl", "http://a.test/", *web.flags, code=1) or status


def test_a_seed_that_robots_txt_denies(web: Web, here: Here) -> None:
    web.page("a.test/robots.txt", "User-agent: *\nDisallow: /", Content_Type="text/plain")
    here.report("http://a.test/", *web.flags, code=1)
    assert "http://a.test/ is denied (denied, robots.txt line 2: Disallow: /)" in here.err
    assert "`gregor recrawl http://a.test/` asks again" in here.err


def test_one_good_seed_is_enough(web: Web, here: Here) -> None:
    web.page("b.test/", "there")
    assert here.report("http://a.test/", "http://b.test/", *web.flags)["exit_code"] == 0
    assert here.report("http://a.test/", *web.flags, code=1)["exit_code"] == 1, "none of those that were given"
    assert here.report(*web.flags)["exit_code"] == 0


def test_a_redirect_that_is_followed_is_no_failure(web: Web, here: Here) -> None:
    web.page("a.test/", "", 301, Location="http://www.a.test/")
    web.page("www.a.test/", "there")
    assert here.report("http://a.test/", *web.flags, "--scope", "domain")["exit_code"] == 0


def test_a_budget_of_nothing_is_no_failure(web: Web, here: Here) -> None:
    assert here.report("http://a.test/", *web.flags, "--max-pages", "0")["exit_code"] == 0


def test_a_program_finds_it_too(web: Web, here: Here) -> None:
    said = here.said("crawl", "--json", "http://a.test/", *web.flags, code=1)
    report = msgspec.json.decode(said)
    assert (report["reason"], report["exit_code"]) == ("finished", 1)


@pytest.mark.parametrize(
    "words",
    [
        ["orders", "--take-back", "nonsense"],
        ["orders", "--take-back", "block other.test"],
        ["unblock", "other.test"],
        ["delay", "other.test", "none"],
        ["budget", "*", "none"],
        ["resume"],
        ["undrain", "nobody"],
        ["drain", "nobody"],
        ["optout", "other.test", "--undo"],
    ],
)
def test_taking_back_what_does_not_stand_fails(words: list[str], web: Web, here: Here) -> None:
    web.page("a.test/", "there")
    here.report("http://a.test/", *web.flags)
    here.said("block", "bad.test", *web.flags[:2])
    here.said(*words, *web.flags[:2], code=1)
    assert here.err.startswith("gregor: no ")
    assert len(here.said("orders", *web.flags[:2]).splitlines()) == 1
    here.said("orders", "--take-back", "block bad.test", *web.flags[:2])
    assert here.said("orders", *web.flags[:2]) == "no orders stand\n"


def test_a_reason_for_going_on_is_kept(web: Web, here: Here) -> None:
    web.page("a.test/", "there")
    here.report("http://a.test/", *web.flags)
    here.said("pause", *web.flags[:2])
    here.said("resume", "--why", "it is night", *web.flags[:2])
    assert "it is night" in here.said("orders", "--audit", *web.flags[:2])


def test_a_try_that_fails_is_named_while_nothing_else_is_done(web: Web, names: str, here: Here) -> None:
    flags = [*web.flags[:2], *web.flags[4:], "--resolver", names, "--set", "progress_interval=0.05"]
    here.report("http://nowhere.test/", *flags, "--set", "failure_ttl=1", code=1)  # one more try, a second later
    lines = [line for line in here.err.splitlines() if "limited by" in line]
    assert any("http://nowhere.test/robots.txt: nxdomain: the name does not exist" in line for line in lines)
    assert not any("politeness" in line for line in lines)


def test_credentials_in_a_seed_are_used_for_its_origin_in_this_run(web: Web, here: Here, tmp_path: Path) -> None:
    web.page("a.test/", '<a href="/more">more</a><a href="http://b.test/">other</a>')
    web.page("a.test/more", "more")
    web.page("b.test/", "another host")
    here.report("http://me:secr%25et@a.test/", *web.flags, "--scope", "any")
    given = {place: headers.get("Authorization") for place, headers in web.asked}
    assert given["a.test/"] == given["a.test/more"] == basic("me", "secr%et")
    assert given["b.test/"] is None
    assert "are used in this run alone, for http://a.test" in here.err
    assert "instead of those of a [[host]] table" not in here.err
    secrets = b"secr%", basic("me", "secr%et").encode()
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not [data for data in files if any(secret in data for secret in secrets)]
    with contextlib.closing(sqlite3.connect(web.folder / "data" / "crawl.db")) as connection:
        pages = [decode_page(*record) for record in connection.execute("SELECT key, data FROM pages")]
    assert sorted(b"Authorization: ***" in page.request_head for page in pages) == [False, True, True]
    assert not [page for page in pages if secrets[1] in page.request_head]
    line = here.said("recrawl", "http://me:secr%25et@a.test/", *web.flags[:2], code=2)
    assert "username_env and password_env of a [[host]] table, and http://a.test/ as the seed" in line
    assert "secr" not in line


@pytest.mark.parametrize("days", [5 * 365, 20])
def test_a_clock_that_was_ahead_is_told_of_and_its_dates_are_set_back(
    days: int, web: Web, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.page("a.test/", "there")
    seed = ("http://a.test/", *web.flags, "--set", "revisit=100000")
    with monkeypatch.context() as ahead:
        ahead.setattr(SystemClock, "wall", lambda _: time.time() + days * 86400)
        here.report(*seed, "--set", "revisit_min=100000", "--max-time", "1")
        assert "days ahead" not in here.err
    folder = web.flags[:2]
    here.report(*folder, "--max-time", "0.1")
    if days > 30:  # no wrong clock of now explains that
        assert f"were {days}.0 days ahead of this machine's clock" in here.err
    else:
        assert f"the dates of this crawl are {days}.0 days ahead of this machine's clock" in here.err
        assert f"clock: its dates are {days}.0 days ahead" in here.said("check", *folder, code=1)
        here.said("check", "--mend", *folder)
    looked = here.said("check", *folder)
    assert re.match(r"looked at 1 page, 1 body, 1 ticket, 1 row, \d+ other records in .*\nall is whole", looked)
    now, times = time.time(), dates_in(web.folder / "data" / "crawl.db")
    assert {"rows", "pages", "robots", "calendar", "partitions"} <= set(times)
    assert not {name: at for name, at in times.items() if not now - 600 < at < now + 200_000}
    here.report(*folder, "--max-time", "0.1")
    assert "days ahead" not in here.err


def dates_in(database: Path) -> dict[str, float]:
    """The latest time in a table that has any, unix seconds."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = [decode(data, Row) for (data,) in connection.execute("SELECT data FROM rows")]
        pages = [decode_page(*record) for record in connection.execute("SELECT key, data FROM pages")]
        records = [decode(data, RobotsRecord) for (data,) in connection.execute("SELECT data FROM robots")]
        owned = [decode(data, PartitionRecord) for (data,) in connection.execute("SELECT data FROM partitions")]
        (calendar,) = connection.execute("SELECT max(bucket) FROM calendar").fetchone()
    return {
        "rows": max(max(row.due, row.first_seen, *(one.at for one in row.attempts)) for row in rows),
        "pages": max(page.fetched_at for page in pages),
        "robots": max(max(record.fetched_at, record.expires) for record in records),
        "calendar": calendar,
        "partitions": max(taken.at for record in owned for taken in record.takeovers),
    }

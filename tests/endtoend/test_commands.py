"""The reading commands over a crawl with one URL of every kind, and the crawl command over real pages on loopback."""

import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import Attempt, DeadLetter, HostRecord, Link, RobotsRecord, Ticket
from gregor.schemas.parts import Failing
from gregor.worker.borders.reader import Waiting
from gregor.worker.commands import cli
from gregor.worker.compose.embedded import Embedded
from gregor.worker.web.urls import Urls
from tests.endtoend.site import Here, Site
from tests.reading import AT, MemoryReader, page, row, ticket

LINKS = [Link("http://a.test/copy", "a"), Link("http://b.test/\x1b", "a", fate="scope: scope host")]
LINKS += [Link("http://a.test/private", "a", True, "nofollow")]


def every_kind() -> MemoryReader:
    one = page("http://a.test/", links=LINKS, label="first", canonical="http://a.test/c", directives=("noindex",))
    copy = page("http://a.test/copy", state="duplicate", duplicate_of="http://a.test/", via="http://a.test/", depth=1)
    image = page("http://b.test/image", b"\x00\xff", content_type="image/png", title=None, truncated="size", text="")
    moved = row(ticket("http://a.test/moved"), "redirected", status=301, target="http://a.test/")
    attempts = (Attempt(AT, "connect", 0, 0.25, "worker-1"), Attempt(AT + 60, "connect", 0, 0.25, "worker-2"))
    dead = row(ticket("http://c.test/dead"), "dead", attempts=attempts, via="http://a.test/", link="a", depth=1)
    denied = row(ticket("http://a.test/denied"), "denied", rule="robots.txt line 2: Disallow: /denied")
    later = row(ticket("http://a.test/later"), "waiting", due=AT + 90)
    in_log = [Waiting(ticket("http://b.test/new", label="second", via="http://a.test/", link="a"), "log")] * 2
    in_calendar = Waiting(ticket("http://a.test/later", kind="retry", visit=1), "calendar", AT + 90)
    wake = Waiting(Ticket("", "", "b.test", kind="wake"), "calendar", AT)
    return MemoryReader(
        [row(one), row(copy, "duplicate", via="http://a.test/", link="a"), row(image), moved, dead, denied, later],
        [one, copy, image],
        [b"<p>one", b"\x00\xff"],
        [*in_log, in_calendar, wake],
        [
            DeadLetter("http://c.test/dead", "http://c.test/dead", "c.test", "connect", "refused\n", AT, 1),
            DeadLetter("http://c.test/dead", "http://c.test/dead", "c.test", "connect", "refused\n", AT + 60, 2),
            DeadLetter("http://a.test/", "http://a.test/", "a.test", "timeout", "was dead, is not", AT, 1),
            DeadLetter("", "", "", "unreadable", "no ticket", AT, source="partition 1"),
        ],
        [RobotsRecord("http://a.test", "parsed", AT, AT, b"User-agent: *\nDisallow: /private", 200)],
        [
            HostRecord(
                "c.test", not_before=AT + 120, failures=2, failing=(Failing("http://c.test", 2, AT + 120, "refused"),)
            )
        ],
    )


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GREGOR_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened(_: Embedded) -> tuple[MemoryReader, Urls]:
        return every_kind(), Urls()

    monkeypatch.setattr(Embedded, "read", opened)


class Output:
    """What a command left."""

    def __init__(self, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
        self._captured = capsysbinary

    def bytes(self, *words: str, code: int = 0) -> bytes:
        assert cli.main(words) == code
        return self._captured.readouterr().out

    def refused(self, *words: str) -> str:
        assert cli.main(words) == 2
        captured = self._captured.readouterr()
        assert captured.out == b""
        return captured.err.decode()

    def errors(self) -> str:
        """What was said on standard error since somebody asked."""
        return self._captured.readouterr().err.decode()

    def text(self, *words: str, code: int = 0) -> str:
        return self.bytes(*words, code=code).decode()

    def json(self, *words: str) -> list[Any]:
        return [msgspec.json.decode(line) for line in self.bytes(*words).splitlines()]


@pytest.fixture
def output(crawl: None, capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    return Output(capsysbinary)


def test_pages_lists_every_url_once(output: Output) -> None:
    found = {one["url"]: one["state"] for one in output.json("pages", "--jsonl")}
    assert found == {
        "http://a.test/": "fetched",
        "http://a.test/copy": "duplicate",
        "http://b.test/image": "fetched",
        "http://a.test/moved": "redirected",
        "http://c.test/dead": "dead",
        "http://a.test/denied": "denied",
        "http://a.test/later": "waiting",
        "http://b.test/new": "waiting",
    }
    assert len(output.json("pages", "--json")) == len(found)
    assert len(output.text("pages").splitlines()) == len(found) + 1


def test_pages_has_the_fields_that_others_read(output: Output) -> None:
    first, copy, image, *_ = output.json("pages", "--jsonl")
    assert {name: first[name] for name in ("url", "status", "state", "depth", "charset", "title", "label")} == {
        "url": "http://a.test/",
        "status": 200,
        "state": "fetched",
        "depth": 0,
        "charset": "utf-8",
        "title": "One",
        "label": "first",
    }
    assert first["fetched_at"] == "2023-11-14T22:13:20.250Z"
    assert first["links"][2] == {"url": "http://a.test/private", "kind": "a", "nofollow": True}
    assert "text" not in first
    assert (first["truncated"], image["truncated"]) == (False, True)
    assert (first["duplicate_of"], copy["duplicate_of"]) == (None, "http://a.test/")
    assert first["sha256"] == copy["sha256"]


@pytest.mark.parametrize(
    ("words", "urls"),
    [
        (["--state", "waiting"], ["http://a.test/later", "http://b.test/new"]),
        (["--state", "waiting", "--host", "b.test"], ["http://b.test/new"]),
        (["--state", "dead"], ["http://c.test/dead"]),
        (["--host", "C.test:80"], ["http://c.test/dead"]),
        (["--host", "http://c.test/x"], ["http://c.test/dead"]),
        (["--status", "301"], ["http://a.test/moved"]),
        (["--label", "second"], ["http://b.test/new"]),
        (["--mime", "image/*"], ["http://b.test/image"]),
        (["--mime", "text/html"], ["http://a.test/", "http://a.test/copy"]),
        (["--limit", "1"], ["http://a.test/"]),
        (["--limit", "0"], []),
    ],
)
def test_pages_filters(output: Output, words: list[str], urls: list[str]) -> None:
    assert [one["url"] for one in output.json("pages", "--jsonl", *words)] == urls


@pytest.mark.parametrize("command", ["pages", "audit"])
@pytest.mark.parametrize("host", ["", "*", "*.test", "a b", "a.test/x"])
def test_what_is_no_host_is_not_looked_for(output: Output, command: str, host: str) -> None:
    told = output.refused(command, "--host", host)
    assert told == f"gregor: {host!r} is no host: write www.example.org, or www.example.org:8080\n"


def test_show(output: Output) -> None:
    (found,) = output.json("show", "http://A.test:80/#x", "--json")
    assert (found["url"], found["text"], found["canonical"], found["directives"]) == (
        "http://a.test/",
        "one",
        "http://a.test/c",
        ["noindex"],
    )
    assert output.bytes("show", "http://b.test/image", "--body") == b"\x00\xff"
    assert output.text("show", "http://a.test/", "--text") == "one\n"
    assert "scope: scope host" in output.text("show", "http://a.test/", "--links")
    assert "\x1b" not in output.text("show", "http://a.test/", "--links")
    headers = output.text("show", "http://a.test/", "--headers")
    assert "Authorization: ***" in headers
    assert "word" not in headers
    assert "cut because of" in output.text("show", "http://b.test/image")
    (waiting,) = output.json("show", "http://b.test/new", "--json")
    assert (waiting["state"], waiting["label"]) == ("waiting", "second")
    assert output.bytes("show", "http://a.test/nowhere", code=1) == b""
    assert output.bytes("show", "http://a.test/denied", "--body", code=1) == b""


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\u2028\x9b31m\r\n<script>"


def hostile() -> MemoryReader:
    """Every text that a site decides is made to take over a terminal."""
    href, head = "http://a.test/hostile", f"HTTP/1.1 200 {HOSTILE[:20]}\r\nX: {HOSTILE[:20]}\r\n\r\n".encode()
    texts: dict[str, Any] = dict.fromkeys(
        ("title", "text", "content_type", "encoding", "canonical", "truncated", "label"), HOSTILE
    )
    texts |= dict.fromkeys(("language", "tls_fault", "duplicate_of", "near_duplicate_of", "via", "address"), HOSTILE)
    links = [Link(f"{href}{HOSTILE}", "a", text=HOSTILE, fate=HOSTILE)]
    one = page(href, links=links, response_head=head, request_head=head, directives=(HOSTILE,), **texts)
    attempts = (Attempt(AT, HOSTILE, 0, 0.25, HOSTILE),)
    dead = row(ticket(f"{href}dead", label=HOSTILE), "dead", attempts=attempts, rule=HOSTILE, via=href, target=HOSTILE)
    waits = Waiting(ticket(f"{href}new", label=HOSTILE, via=href), "log")
    other = row(ticket(f"http://a.test/{HOSTILE}"), "dead", attempts=attempts)
    letter = DeadLetter(other.key, other.href, "a.test", HOSTILE, HOSTILE, AT, 1, source=HOSTILE)
    robots = RobotsRecord("http://a.test", "parsed", AT, AT, f"User-agent: *\nDisallow: /{HOSTILE}".encode(), 200)
    return MemoryReader([row(one), dead, other], [one], [b"<p>one"], [waits], [letter], [robots])


@pytest.mark.parametrize("path", ["", "dead", "new", "nowhere"])
def test_what_sites_send_takes_over_no_terminal(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def opened(_: Embedded) -> tuple[MemoryReader, Urls]:
        return hostile(), Urls()

    monkeypatch.setattr(Embedded, "read", opened)
    url = f"http://a.test/hostile{path}"
    for words in (["pages"], ["deadletters"], ["explain"], ["show"], ["show", "--headers"], ["show", "--links"]):
        line = words if words[0] in ("pages", "deadletters") else [*words, url]
        assert cli.main(line) in (0, 1)
        told = capsys.readouterr()
        assert path or "\\x1b" in told.out, line
        for text in (told.out + told.err).split("\n"):
            assert text.isprintable(), (line, text)


def test_explain_what_was_settled(output: Output) -> None:
    (dead,) = output.json("explain", "http://c.test/dead", "--json")
    assert [one["owner"] for one in dead["attempts"]] == ["worker-1", "worker-2"]
    assert (dead["discovered_via"], dead["discovered_as"], dead["owner"]) == ("http://a.test/", "a", "worker-2")
    assert dead["host_not_before"] == "2023-11-14T22:15:20.250Z"
    text = output.text("explain", "http://c.test/dead")
    assert "attempt 2: 2023-11-14T22:14:20.250Z connect in 0.250 s, by worker-2" in text
    assert "(failures: 2, refused)" in text
    assert "robots.txt line 2" in output.text("explain", "http://a.test/denied")


def test_explain_names_the_page_of_the_same_content(output: Output) -> None:
    (copy,) = output.json("explain", "http://a.test/copy", "--json")
    assert (copy["state"], copy["duplicate_of"], copy["near_duplicate_of"]) == ("duplicate", "http://a.test/", None)
    assert "same content as http://a.test/\n" in output.text("explain", "http://a.test/copy")


def test_explain_what_waits(output: Output) -> None:
    (later,) = output.json("explain", "http://a.test/later", "--json")
    assert later["next_due"] == "2023-11-14T22:14:50.250Z"
    assert later["waiting"] == [{"where": "calendar", "kind": "retry", "due": "2023-11-14T22:14:50.250Z"}]
    (new,) = output.json("explain", "http://b.test/new", "--json")
    assert (new["state"], new["discovered_via"], new["waiting"][0]["where"]) == ("waiting", "http://a.test/", "log")


def test_explain_what_was_never_fetched(output: Output) -> None:
    (private,) = output.json("explain", "http://a.test/private", "--json")
    assert (private["state"], private["rule"]) == ("denied", "nofollow")
    assert private["mentions"] == [{"page": "http://a.test/", "kind": "a", "fate": "nofollow"}]
    told = output.text("explain", "http://a.test/private")
    assert "linked from http://a.test/ as a: nofollow, by the link or its page" in told
    assert private["robots"] == {"allows": False, "rule": "robots.txt line 2: Disallow: /private"}
    assert private["scope"]["allows"]
    (elsewhere,) = output.json("explain", "http://z.test/", "--json")
    assert (elsewhere["state"], elsewhere["scope"]["allows"], elsewhere["mentions"]) == (None, False, [])
    assert "no stored page links to it" in output.text("explain", "http://z.test/")
    assert "exclude *z.test*" in output.text("explain", "http://z.test/", "--exclude", "*z.test*")


def test_dead_letters_that_still_hold(output: Output) -> None:
    lines = output.text("deadletters").splitlines()
    assert [line.split() for line in lines if not line.startswith(" " * 10)] == [["1", "connect"], ["1", "unreadable"]]
    (one,) = output.json("deadletters", "--json", "--cause", "connect")
    assert (one["url"], one["attempts"], one["at"]) == ("http://c.test/dead", 2, "2023-11-14T22:14:20.250Z")
    assert output.text("deadletters", "--cause", "none") == "nothing was given up for the cause 'none'\n"


def test_export_to_a_file(output: Output, tmp_path: Path) -> None:
    output.bytes("export", "warc", "-o", str(tmp_path / "x.warc.gz"))
    assert gzip.decompress((tmp_path / "x.warc.gz").read_bytes()).count(b"WARC-Type: response") == 2
    (tmp_path / "x.jsonl.part").write_text("of somebody else")
    output.bytes("export", "jsonl", "-o", str(tmp_path / "x.jsonl"))
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.jsonl", "x.jsonl.part", "x.warc.gz"]
    assert (tmp_path / "x.jsonl.part").read_text() == "of somebody else"
    assert len(output.bytes("export", "jsonl").splitlines()) == 3
    for place in (str(tmp_path / "no" / "x"), str(tmp_path), ""):
        assert cli.main(["export", "jsonl", "-o", place]) == 2


def test_a_budget_then_on_to_the_end_then_nothing(site: list[str], here: Here) -> None:
    first = here.report("http://www.test/", *site, "--max-pages", "3")
    assert (first["reason"], first["total_pages_200"], first["exit_code"]) == ("budget", 3, 0)
    assert here.report("http://www.test/", *site)["reason"] == "budget", "it belongs to the crawl"
    second = here.report("http://www.test/", *site, "--max-pages", "none")
    assert (second["reason"], second["total_pages_200"], second["pages_200"]) == ("finished", 10, 7)
    assert here.report("http://www.test/", *site)["requests"] == 0
    assert "Nothing is left to do" in here.said("crawl", *site)


def test_seeds_are_taken_as_given_whatever_the_patterns(site: list[str], here: Here) -> None:
    found = here.report("http://www.test/3", *site, "--exclude", "*")
    assert (found["pages_200"], found["links"].get("sent", 0)) == (1, 0)


def test_links_beyond_the_bound_are_told(site: list[str], here: Here) -> None:
    start = "http://www.test/"
    assert here.report(start, *site, "--max-depth", "0", "--set", "max_links=0")["unread"] == {"links": 1}
    assert here.err.count("links beyond max_links") == 1, "the setting is named where it is met first"
    assert msgspec.json.decode(here.said("show", start, *site[:2], "--json"))["unread"] == "links"
    assert msgspec.json.decode(here.said("explain", start, *site[:2], "--json"))["unread"] == "links"
    assert "not read to its end: it has more links than `max_links`" in here.said("explain", start, *site[:2])
    assert "links" in here.said("show", start, *site[:2])


def test_the_report_for_people_says_what_was_cut(site: list[str], here: Here) -> None:
    words = ["http://www.test/", *site, "--max-depth", "0"]
    assert "cut at     links 1" in here.said("crawl", *words, "--set", "max_links=0")


@pytest.mark.parametrize("form", ["--json", "--max-pages=10"])
def test_a_report_that_finds_no_room(site: list[str], here: Here, form: str) -> None:
    here.report("http://www.test/", *site)
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "gregor.worker.commands.cli", "crawl", *site, form]
        done = subprocess.run(words, check=False, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    kept = f"gregor: the crawl is kept in {site[1]}, but its report cannot be written: No space left on device"
    changed = ["gregor: settings of this crawl change: max_pages was none, now 10"]
    assert done.stderr.decode().splitlines() == [*(changed if form == "--max-pages=10" else []), kept]


def test_what_is_fixed_per_crawl_is_refused(site: list[str], here: Here) -> None:
    here.report("http://www.test/", *site, "--max-pages", "1")
    assert "partitions" in here.said("crawl", *site, "--set", "partitions=8", code=2)
    assert "canonical" in here.said("crawl", *site, "--set", "canonical=session_ids", code=2)


def test_reading_goes_by_what_the_folder_was_made_for(site: list[str], here: Here) -> None:
    fixed = ["--set", "partitions=4", "--set", "canonical=session_ids,sort_query"]
    here.report("http://www.test/1?sid=5", *site, *fixed, "--max-depth", "0")
    shown = msgspec.json.decode(here.said("show", "http://www.test/1?sid=6", *site[:2], "--json"))
    assert (shown["url"], shown["key"]) == ("http://www.test/1?sid=5", "http://www.test/1")


def test_labels_travel_from_the_seed(site: list[str], here: Here) -> None:
    seeds = b'{"url": "http://www.test/", "label": "one"}\n'
    here.said("crawl", "--seeds", "-", *site, "--max-depth", "1", stdin=seeds)
    lines = here.said("pages", "--jsonl", *site[:2], "--label", "one").splitlines()
    assert [msgspec.json.decode(line)["url"] for line in lines] == ["http://www.test/", "http://www.test/1"]


def test_labels_travel_through_the_sitemaps_of_robots_txt(site: list[str], here: Here) -> None:
    seeds = b'{"url": "http://www.test/", "label": "one"}\n'
    here.said("crawl", "--seeds", "-", *site, "--set", "sitemap_only=true", stdin=seeds)
    lines = here.said("pages", "--jsonl", *site[:2], "--label", "one").splitlines()
    paths = [msgspec.json.decode(line)["url"].removeprefix("http://www.test") for line in lines]
    assert paths == ["/", "/7", "/sitemap.xml"]


def test_a_header_of_ones_own_takes_the_place_of_ours(site: list[str], here: Here) -> None:
    here.said("crawl", "http://www.test/9", *site, "--set", 'headers={accept = "text/html"}')
    told = here.said("show", "http://www.test/9", *site[:2], "--headers").lower()
    assert [line for line in told.splitlines() if line.startswith("accept:")] == ["accept: text/html"]


def test_an_attempt_says_how_long_it_took_whatever_it_brought(site: list[str], here: Here) -> None:
    here.said("crawl", "http://www.test/none", *site, code=1)
    explained = msgspec.json.decode(here.said("explain", "http://www.test/none", *site[:2], "--json"))
    assert explained["state"] == "gone"
    assert [one["elapsed"] > 0 for one in explained["attempts"]] == [True]


def test_dead_letters_get_another_visit(site: list[str], here: Here, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    there = hosts.read_text()
    hosts.write_text("www.test 127.0.0.1:9\n")
    flags = [*site, "--set", "retries=0", "--set", "retry_pause=0.1", "--set", "retry_pause_max=0.1"]
    assert here.report("http://www.test/9", *flags, code=1)["states"] == {"dead": 1}
    assert "robots" in here.said("deadletters", *site[:2])
    here.said("deadletters", *site[:2], "--retry")
    hosts.write_text(there)
    assert here.report(*flags)["total_pages_200"] == 1
    assert here.said("deadletters", *site[:2]) == "nothing was given up\n"


def test_a_refused_address_that_is_allowed_later(site: list[str], here: Here, tmp_path: Path) -> None:
    port = (tmp_path / "hosts").read_text().strip().rpartition(":")[2]
    url, flags = f"http://127.0.0.1:{port}/9", [*site[:2], *site[4:]]
    assert here.report(url, *flags, code=1)["states"] == {"refused": 1}
    assert here.report(url, *flags, "--allow-network", "127.0.0.0/8", code=1)["requests"] == 0
    told = here.said("deadletters", *site[:2])
    assert "refused_address" in told
    assert "--allow-network" in told
    here.said("deadletters", *site[:2], "--retry")
    assert here.report(*flags, "--allow-network", "127.0.0.0/8")["total_pages_200"] == 1
    assert here.said("deadletters", *site[:2]) == "nothing was given up\n"


def test_what_is_no_data_folder(tmp_path: Path, here: Here) -> None:
    (tmp_path / "crawl.db").write_bytes(b"no database" * 1000)
    assert "cannot be" in here.said("pages", "--data", str(tmp_path), code=2)
    assert "cannot be" in here.said("crawl", "http://a.test/", "--data", str(tmp_path), code=2)


def started(*words: str) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-m", "gregor.worker.commands.cli", "crawl", "--json", *words]
    return subprocess.Popen(line, stdout=subprocess.PIPE)


def test_a_signal_stops_it_cleanly(site: list[str], here: Here) -> None:
    with started("http://www.test/slow", *site, "--set", "stop_grace=0.1") as process:
        assert Site.asked.wait(60)
        assert f"in use by process {process.pid}" in here.said("crawl", "http://www.test/", *site, code=2)
        assert "slow" in here.said("pages", *site[:2])
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert msgspec.json.decode(out)["reason"] == "stopped"
    Site.let.set()
    assert here.report(*site)["total_pages_200"] == 10


def test_stopped_before_anything_came_it_says_what_failed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        seed = f"http://127.0.0.1:{free.getsockname()[1]}/"
    words = [
        seed,
        "--data",
        str(tmp_path / "data"),
        "--allow-network",
        "127.0.0.0/8",
        "--set",
        "progress_interval=0.05",
    ]
    line = [sys.executable, "-m", "gregor.worker.commands.cli", "crawl", *words]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(", 1 error, " in said for said in process.stderr)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"gregor: nothing was fetched so far: {seed} waits (robots.txt unreachable" in said


def test_a_second_signal_stops_it_at_once(site: list[str]) -> None:
    with started("http://www.test/slow", *site, "--set", "stop_grace=600") as process:
        assert Site.asked.wait(60)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
    assert process.returncode == 3

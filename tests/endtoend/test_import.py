"""`gregor import warc`: recorded pages as if fetched, without network, again and again."""

import asyncio
import gzip
import json
import os
import signal
import socket
import sys
import zipfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from gregor.worker.adapters.embedded import open_reader
from gregor.worker.adapters.embedded.seen import EmbeddedSeen
from gregor.worker.adapters.embedded.settler import EmbeddedSettler
from gregor.worker.adapters.embedded.store import EmbeddedStore
from gregor.worker.archives import owners
from gregor.worker.archives import packed as packed_files
from gregor.worker.archives.owners import OwnedPartition
from gregor.worker.archives.take_in import TakesIn
from gregor.worker.borders.effects import LeaseLost
from gregor.worker.borders.errors import DiskFull
from gregor.worker.commands import cli
from gregor.worker.compose import importing
from gregor.worker.frontier.counts import total
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.settle.settling import InSteps
from tests.endtoend.stored import store
from tests.endtoend.test_commands import Output, bare
from tests.unit.archives.made import answer, gzipped, record

__all__ = ["bare"]

HTML = b'<title>One</title><a href="/two">two</a> some words of the first page'
LATER = "2024-05-01T00:00:00Z"


def archive(path: Path) -> Path:
    """One record of every kind, not in the order of their dates."""
    records = [
        record("warcinfo", block=b"software: x\r\n"),
        record("request", block=b"GET / HTTP/1.1\r\n\r\n"),
        record(url="http://a.test/", block=answer(HTML.replace(b"One", b"New")), date=LATER),
        record(url="http://a.test/", block=answer(HTML), WARC_Payload_Digest="sha1:X"),
        record(url="http://a.test/moved", block=answer(b"", "Location: /two", status="301 Moved")),
        record(url="http://a.test/gone", block=answer(b"no", status="404 Not Found")),
        record(url="http://a.test/busy", block=answer(b"", status="503 Busy")),
        record(url="http://b.test/image", block=answer(b"\x89PNG\r\n\x1a\n", "Content-Type: image/png")),
        record(url="http://a.test/robots.txt", block=answer(b"User-agent: *", "Content-Type: text/plain")),
        record(
            "revisit",
            "http://a.test/copy",
            answer(b""),
            LATER,
            WARC_Profile="http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
            WARC_Payload_Digest="sha1:X",
        ),
        record(
            "revisit",
            "http://a.test/",
            b"HTTP/1.1 304 Not Modified\r\n\r\n",
            "2024-06-01T00:00:00Z",
            WARC_Profile="http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        ),
        record("revisit", "http://c.test/", answer(b""), LATER, WARC_Payload_Digest="sha1:NOWHERE"),
        record(url="dns:a.test", block=b"a.test 1.2.3.4", Content_Type="text/dns"),
    ]
    path.write_bytes(gzipped(records))
    return path


@pytest.fixture
def output(capsysbinary: pytest.CaptureFixture[bytes]) -> Output:
    return Output(capsysbinary)


@pytest.fixture(autouse=True)
def without_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object) -> NoReturn:
        raise AssertionError("an import asks nobody")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.chdir(tmp_path)


def pages(output: Output, *words: str) -> dict[str, dict[str, Any]]:
    return {made["url"]: made for made in output.json("pages", "--json", *words)}


def imported(output: Output, *words: str, code: int = 0) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(output.bytes("import", "warc", *words, "--json", code=code))
    return made


def test_every_kind_of_record_becomes_the_visit_that_it_was(output: Output, tmp_path: Path) -> None:
    archive(tmp_path / "x.warc.gz")
    result = imported(output, "*.warc.gz")
    assert result["taken_in"] == {"page": 4, "answer": 3, "unchanged": 1} and result["damaged"] == 0
    assert result["left_out"] == {"robots.txt": 1, "repeats what is not there": 1}
    kept = pages(output)
    states = {url.removeprefix("http://"): (made["state"], made["status"]) for url, made in kept.items()}
    assert states == {
        "a.test/": ("fetched", 304),
        "a.test/copy": ("duplicate", 200),
        "a.test/moved": ("redirected", 301),
        "a.test/gone": ("gone", 404),
        "a.test/busy": ("dead", 503),
        "b.test/image": ("fetched", 200),
    }
    first = kept["http://a.test/"]
    assert (first["title"], first["version"], first["fetched_at"]) == ("New", 2, "2024-05-01T00:00:00.000Z")
    assert kept["http://a.test/moved"]["redirected_to"] == "http://a.test/two"
    assert kept["http://a.test/copy"]["title"] == "One"
    assert "nothing is left to do" not in output.text("check").lower()
    assert "taken in from an archive" in output.text("explain", "http://a.test/gone")
    said = output.text("explain", "http://a.test/two")
    assert "links of pages that were taken in are not followed" in said


def test_the_same_again_adds_nothing(output: Output, tmp_path: Path) -> None:
    words = [str(archive(tmp_path / "x.warc.gz"))]
    imported(output, *words)
    before = pages(output)
    again = imported(output, *words)
    assert again["taken_in"] == {} and again["left_out"]["known"] == 8
    assert pages(output) == before


def test_what_was_cut_short_goes_on(output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [str(archive(tmp_path / "x.warc.gz"))]
    imported(output, *words, "--data", "whole")
    settle, count = TakesIn._settle, 0

    async def fails(*arguments: Any) -> object:
        nonlocal count
        count += 1
        if count > 4:
            raise DiskFull("no space")
        return await settle(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TakesIn, "_settle", fails)
        output.bytes("import", "warc", *words, code=1)
    assert imported(output, *words)["taken_in"].get("page", 0) > 0
    whole, resumed = pages(output, "--data", "whole"), pages(output)
    assert resumed == whole


@pytest.mark.parametrize("lost_after", [False, True])
def test_a_partition_that_is_lost_meanwhile_is_taken_anew(
    lost_after: bool, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a record is written, or when all of it is, but nobody has heard of that."""
    words = [str(archive(tmp_path / "x.warc.gz"))]
    imported(output, *words, "--data", "whole")
    settle, lost = TakesIn._settle, set[int]()

    async def loses(takes_in: TakesIn, owner: OwnedPartition, *rest: Any) -> object:
        lease = owner.partition.lease
        if lost_after:
            result = await settle(takes_in, owner, *rest)
        if lease.epoch not in lost and len(lost) < 3:
            lost.add(lease.epoch)
            await takes_in._services.coordinator.release(lease)
            raise LeaseLost
        return result if lost_after else await settle(takes_in, owner, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(TakesIn, "_settle", loses)
        imported(output, *words)
    made, whole = pages(output), pages(output, "--data", "whole")
    for there in (made, whole):  # which of two pages with one content came first may differ
        there["http://a.test/copy"] = {**there["http://a.test/copy"], "state": "", "duplicate_of": ""}
    assert lost and made == whole
    assert counted(tmp_path / "data") == counted(tmp_path / "whole")


def counted(data: Path) -> dict[str, int]:
    """What the records of the partitions count; which of two pages with one content came first may differ."""

    async def records() -> list[dict[str, int]]:
        reader = await open_reader(data)
        try:
            return [record.counts async for record in reader.partitions()]
        finally:
            await reader.close()

    counts = Counter(total(asyncio.run(records())))
    counts["state fetched"] += counts.pop("state duplicate", 0)
    return counts


STEPS = [(EmbeddedSeen, "mark"), (EmbeddedStore, "put_rows"), (EmbeddedStore, "put_page")]


@pytest.mark.parametrize("write", [(EmbeddedSettler, "settle"), *STEPS])
def test_what_is_written_as_its_lease_ends_is_counted_once(
    write: tuple[type, str], output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write is made, and nobody hears of it in time."""
    words = [str(archive(tmp_path / "x.warc.gz"))]
    whole = imported(output, *words, "--data", "whole")
    made, ended = getattr(*write), list[object]()

    async def unheard(itself: Any, *arguments: Any) -> object:
        result = await made(itself, *arguments)
        if len(ended) < 3:
            ended.append(arguments)
            raise LeaseLost
        return result

    monkeypatch.setattr(*write, unheard)
    if write in STEPS:  # as on servers
        monkeypatch.setattr(
            owners, "settling_of", lambda all_, effects: InSteps(all_.log, all_.seen, all_.store, effects)
        )
    assert imported(output, *words) == whole
    assert len(ended) == 3
    assert counted(tmp_path / "data") == counted(tmp_path / "whole")


def _but_whose(lines: bytes) -> list[dict[str, Any]]:
    """Records without what says which was there first of pages that are nearly equal: that is chance."""
    records = map(json.loads, lines.splitlines())
    return [{name: value for name, value in record.items() if name != "near_duplicate_of"} for record in records]


def test_several_processes_read_what_one_would(output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a body that was compressed, and with rules; and one that dies ends it with a line."""
    archive(tmp_path / "x.warc.gz")
    packed_page = answer(gzip.compress(HTML * 50), "Content-Type: text/html", "Content-Encoding: gzip")
    large = answer(b"<title>L</title>" + b"<p>word" * 200_000)
    more = [record(url="http://d.test/", block=packed_page), record(url="http://d.test/large", block=large)]
    (tmp_path / "y.warc.gz").write_bytes(gzipped(more))
    (tmp_path / "rules.toml").write_text('[[item]]\nname = "page"\n[item.fields]\ntitle = "title"\n')
    words, rules = ["x.warc.gz", "y.warc.gz"], ["--set", "rules=rules.toml"]
    alone = imported(output, *words, *rules, "--data", "alone", "--processes", "1")
    assert imported(output, *words, *rules, "--processes", "2") == alone
    for form in (["jsonl", "pages", "--bodies"], ["jsonl", "items"]):
        made, whole = (_but_whose(output.bytes("export", *form, "--data", data)) for data in ("data", "alone"))
        assert made == whole and len(made) > 1
    whole_pages = _but_whose(output.bytes("export", "jsonl", "pages", "--bodies", "--data", "alone"))
    started = asyncio.create_subprocess_exec

    async def dies(*line: Any, **settings: Any) -> Any:
        return await started(sys.executable, "-c", "", **settings)

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "create_subprocess_exec", dies)
        assert cli.main(["import", "warc", *words, "--data", "other", "--processes", "2"]) == 1
    ending = "nothing is lost: remove the cause, then run the same command again\n"
    assert output.errors().endswith(f"a process that read records has ended before its time; {ending}")
    imported(output, *words, *rules, "--data", "other", "--processes", "2")
    assert _but_whose(output.bytes("export", "jsonl", "pages", "--bodies", "--data", "other")) == whole_pages


def test_a_signal_before_anything_was_taken_in_is_told(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(packed_files, "opened", interrupted)
    assert cli.main(["import", "warc", str(archive(tmp_path / "x.warc.gz"))]) == 3
    assert output.errors() == "gregor: stopped before anything was taken in: the same command begins anew\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_partitions_are_waited_for_is_heard(
    sent: signal.Signals, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def waits(*_: object, **__: object) -> AsyncIterator[None]:
        asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), sent)
        await asyncio.Event().wait()
        yield

    monkeypatch.setattr(importing, "taking_in", waits)
    assert cli.main(["import", "warc", str(archive(tmp_path / "x.warc.gz"))]) == 3
    assert output.errors() == "gregor: stopped: the same command goes on from there\n"


def test_opt_outs_and_on_demand_the_scope_hold(output: Output, tmp_path: Path) -> None:
    words = [str(archive(tmp_path / "x.warc.gz"))]
    store(tmp_path / "data", {"http://z.test/": b"z"})
    output.bytes("optout", "b.test", "--wait", "0")
    result = imported(output, *words, "--exclude", "http://a.test/gone", "--in-scope", "--scope", "any")
    assert (result["left_out"]["opted out"], result["left_out"]["scope"]) == (1, 1)
    assert imported(output, *words, "--data", "other", "--host", "b.test")["taken_in"] == {"page": 1}


@pytest.mark.parametrize("heard_at", range(2, 6))
def test_a_host_that_opts_out_while_its_page_is_taken_in_leaves_no_row_of_it(
    heard_at: int, output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question is whether the record is taken in at all."""
    asked = 0

    def opted_out(_: OrdersInForce, host: str) -> bool:
        nonlocal asked
        asked += host == "b.test"
        return asked >= heard_at

    monkeypatch.setattr(OrdersInForce, "opted_out", opted_out)
    imported(output, str(archive(tmp_path / "x.warc.gz")), "--host", "b.test")
    assert asked >= heard_at
    rows = {url: made["state"] for url, made in pages(output, "--state", "fetched").items()}
    assert rows == {}
    assert heard_at > 2 or not output.bytes("export", "jsonl")  # heard before the page was written


def test_damage_costs_the_record_and_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = gzipped([record(block=answer(HTML))])
    bad = bytearray(gzipped([record(url="http://a.test/bad", block=answer(HTML * 9))]))
    bad[-12] ^= 0xFF
    no_http = gzipped([record(url="http://a.test/other", block=b"<html>")])
    (tmp_path / "x.warc.gz").write_bytes(good + bytes(bad) + no_http)
    assert cli.main(["import", "warc", "x.warc.gz"]) == 1
    captured = capsys.readouterr()
    assert f"x.warc.gz: the record at byte {len(good)} is skipped" in captured.err
    assert f"byte {len(good) + len(bad)} is skipped: no HTTP answer" in captured.err
    assert "damaged    2, skipped" in captured.out


def test_what_is_exported_and_taken_in_is_exported_equal(output: Output, tmp_path: Path) -> None:
    imported(output, str(archive(tmp_path / "x.warc.gz")))
    output.bytes("export", "warc", "-o", "out.warc.gz")
    imported(output, "out.warc.gz", "--data", "again")
    told = [
        {made["url"]: made for made in output.json("export", "jsonl", "--bodies", "--headers", "--data", data)}
        for data in ("data", "again")
    ]
    assert told[0] == told[1] and len(told[0]) == 3


def packed(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def damaged(output: Output) -> None:
    """WACZ files that cannot be read; `output` is in the folder of the test."""
    whole = packed(Path("whole.wacz"), {"archive/a.warc": record(block=answer())}).read_bytes()
    Path("cut.wacz").write_bytes(whole[:-30])
    packed(Path("none.wacz"), {"datapackage.json": b"{}"})
    packed(Path("empty.zip"), {})
    packed(Path("other.wacz"), {"archive/a.warc": b"something else"})
    Path("moved.wacz").write_bytes(whole.replace(b"PK\x03\x04", b"PK\x03\x05", 1).replace(b"PK", b"PK\x03\x04PK", 1))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_of_several_files_is_taken_in_as_these(compression: int, output: Output, tmp_path: Path) -> None:
    files = {
        "datapackage.json": b"{}",
        "archive/b.warc": record(
            url="http://a.test/two", block=answer(b"<title>Two</title>", "Content-Type: text/html")
        ),
        "archive/a.warc.gz": archive(tmp_path / "a.warc.gz").read_bytes(),
        "archive/empty.warc.gz": b"",
        "archive/c.warc.gz": b"",
    }
    broken = gzipped([record(url="http://a.test/3", block=answer())])
    files["archive/c.warc.gz"] = (
        broken[:30] + b"\0" * 20 + broken[30:] + gzipped([record(url="http://a.test/4", block=answer())])
    )
    packed(tmp_path / "site.wacz", files, compression)
    made = imported(output, "site.wacz", code=1)
    assert (made["files"], made["damaged"]) == (3, 1)
    urls = pages(output).keys()
    assert {"http://a.test/two", "http://a.test/4"} < urls
    packed(tmp_path / "same.wacz", {name: files[name] for name in ("archive/a.warc.gz", "archive/b.warc")})
    assert imported(output, "same.wacz", "--data", "again")["damaged"] == 0
    assert pages(output, "--data", "again").keys() == urls - {"http://a.test/4"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nowhere.warc"], "cannot read nowhere.warc"),
        (["*.warc"], "no file is named like"),
        (["."], "is a folder"),
        (["-"], "cannot read standard input"),
        ([__file__], "is no WARC file"),
        ([__file__, "--host", "a b"], "is no WARC file"),
        (["cut.wacz"], "cut.wacz is no WACZ file that can be read: File is not a zip file"),
        (["none.wacz"], "none.wacz has no WARC files"),
        (["empty.zip"], "empty.zip has no WARC files"),
        (["other.wacz"], "other.wacz/archive/a.warc is no WARC file"),
        (["moved.wacz"], "moved.wacz is no WACZ file that can be read: archive/"),
    ],
)
@pytest.mark.usefixtures("damaged")
def test_what_cannot_be_taken_in_is_one_line(words: list[str], part: str, output: Output) -> None:
    said = output.refused("import", "warc", *words)
    assert part in said and said.count("\n") == 1
    assert not Path("data").exists()

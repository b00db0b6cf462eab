"""`gregor index` and `gregor search` as people meet them."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gregor.schemas.messages import Page
from gregor.worker.commands.cli import main
from tests.files import files_limited_to
from tests.search.stored import crawl, link, page, store

PAGES = (
    page("http://a.example.org/", "A fox jumps. The end.", 1, link("http://b.example.org/", "About dogs"), title="Fox"),
    page("http://a.example.org/2", "A fox jumps. The end.", 1, state="duplicate"),
    page("http://b.example.org/", "Dogs \x1b[31msleep\x1b[0m <b>here</b>", 1, title="Do\x07gs\n", language="en"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with pages."""

    asyncio.run(more(tmp_path / "d", *PAGES))
    return tmp_path / "d"


def searched(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    capsys.readouterr()
    assert main(["search", "--data", str(data), *words]) == 0
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_what_was_indexed_is_found(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert "3 changes taken in: 2 documents written, 0 removed" in capsys.readouterr().err
    out, err = searched(data, capsys, "fox")
    assert out.splitlines() == ["1. Fox", "   http://a.example.org/  (and 1 more)", "   A fox jumps. The end."]
    assert "1 found" in err
    out, err = searched(data, capsys, "dogs", "before:never")
    assert out.startswith("1. Do\\x07gs\\n\n") and "\x1b" not in out and "before: wants a date" in err
    found = json.loads(searched(data, capsys, "--jsonl", "jumps")[0])
    assert (found["key"], found["keys"]) == (
        "http://a.example.org/",
        ["http://a.example.org/", "http://a.example.org/2"],
    )
    assert found["snippet"][1] == {"text": "jumps", "marked": True}
    assert searched(data, capsys, "fox", "--offset", "1")[0] == ""
    assert searched(data, capsys, "fox", "cats")[1].startswith("gregor: no page has all of these words")
    assert searched(data, capsys, "--", "-fox")[1].startswith("gregor: nothing is asked for")


def test_what_is_found_is_counted(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--once", "--data", str(data)]) == 0
    out, err = searched(data, capsys, "fox", "--facets")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert ["1", "host:a.example.org"] in lines and "1 found" in err
    facets = [json.loads(line) for line in searched(data, capsys, "fox", "--facets", "--jsonl")[0].splitlines()]
    assert [[str(each["count"]), each["query"]] for each in facets] == lines


def test_words_may_stand_anywhere_and_a_minus_needs_nothing_before_it(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert searched(data, capsys, "jumps", "-harbour", "--limit", "3", "fox")[0].startswith("1. Fox")
    assert searched(data, capsys, "jumps", "-fox", "end")[0] == "" == searched(data, capsys, "--", "jumps", "-fox")[0]
    assert "did you mean: jumps" in searched(data, capsys, "jumsp")[1]
    for words in (["fox", "--nonsense"], ["fox", "--limit", "9000", "--offset", "1001"]):
        assert _code(["search", "--data", str(data), *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def _code(line: list[str]) -> object:
    try:
        return main(line)
    except SystemExit as left:
        return left.code


def test_a_new_generation_takes_the_place_of_the_old(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    assert (data / "index" / "current").read_text().split()[0] == "2" and not (data / "index" / "1").exists()
    assert searched(data, capsys, "fox")[0].startswith("1. Fox")
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert "0 changes" in capsys.readouterr().err


def test_what_cannot_be_is_one_line_and_exit_code_2(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["search", "fox", "--data", str(data)], ["index", "--once", "--data", str(data / "no")]):
        assert main(words) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["index", "--once", "--data", str(data)]) == 0
    (data / "index" / "1" / "tantivy" / "meta.json").write_text("{}")
    capsys.readouterr()
    assert main(["search", "fox", "--data", str(data)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--rebuild" in line
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    (data / "index" / "current").write_text("2 99\n")
    capsys.readouterr()
    for words in (["search", "fox"], ["index", "--once"], ["rank"]):
        assert main([*words, "--data", str(data)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "format 99" in line and "--rebuild" in line
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0
    assert searched(data, capsys, "fox")[0]
    for words in (["--limit", "4000000000"], ["--offset", "10000"]):
        assert main(["search", "fox", *words, "--data", str(data)]) == 2
        assert "narrow the query" in capsys.readouterr().err


def test_without_room_for_the_index_one_line_says_where(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--once", "--data", str(data)]) == 0
    capsys.readouterr()
    pages = [page(f"http://h{number}.example.org/", f"word{number} " * 300) for number in range(300)]
    asyncio.run(more(data, *pages))
    with files_limited_to(150_000):
        assert main(["index", "--once", "--data", str(data)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"no space is left for {data / 'index'}" in line and "run the same command again" in line
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert searched(data, capsys, "word299")[0] and main(["check", "--index", "--data", str(data)]) == 0


def test_ranks_are_listed_and_put_into_the_index(
    data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    links = [link("http://b.example.org/", "b")]
    asyncio.run(more(data, *(page(f"http://{name}.example.org/", f"dogs {name}", 1, *links) for name in "xyz")))
    assert main(["index", "--once", "--data", str(data)]) == 0
    assert main(["rank", "--data", str(data), "--jsonl", "--top", "1"]) == 0
    captured = capsys.readouterr()
    (best,) = map(json.loads, captured.out.splitlines())
    assert (best["host"], best["documents"], best["harmonic"]) == ("b.example.org", 1, 4.0)
    assert "5 documents of 5 hosts ranked by 4 links" in captured.err and "1 written anew" in captured.err
    ranks = [json.loads(line)["rank"] for line in searched(data, capsys, "--jsonl", "dogs")[0].splitlines()]
    assert ranks == [1.0, 0.0, 0.0, 0.0]
    assert main(["index", "--once", "--rebuild", "--data", str(data)]) == 0  # which keeps them
    ranks = [json.loads(line)["rank"] for line in searched(data, capsys, "--jsonl", "dogs")[0].splitlines()]
    assert ranks == [1.0, 0.0, 0.0, 0.0]
    trusted = tmp_path / "trusted"
    trusted.write_text("# mine\nX.example.org\n")
    assert main(["rank", "--data", str(data), "--jsonl", "--trusted", str(trusted)]) == 0
    hosts = [json.loads(line)["host"] for line in capsys.readouterr().out.splitlines()]
    assert set(hosts[:2]) == {"x.example.org", "b.example.org"}
    for wrong in (["--trusted", str(tmp_path / "none")], ["--same-host", "much"]):
        with pytest.raises(SystemExit) if wrong[0] == "--same-host" else contextlib.nullcontext():
            assert main(["rank", "--data", str(data), *wrong]) == 2


def test_without_the_engine_it_says_what_to_install(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "gregor.search.adapters.tantivy_index", raising=False)
    assert main(["index", "--once", "--data", str(data)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "gregor-crawler[search]" in line


async def more(data: Path, *pages: Page) -> None:
    async with crawl(data) as engine:
        await store(engine, *pages)


def follow(data: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "gregor", "index", "--data", str(data)]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True)


def until_found(data: Path, capsys: pytest.CaptureFixture[str], word: str, *, gone: bool = False) -> None:
    patience = time.monotonic() + 30
    while (data / "index" / "current").exists() is False or bool(searched(data, capsys, word)[0]) is gone:
        assert time.monotonic() < patience, word
        time.sleep(0.1)


def test_it_follows_a_crawl_and_hears_of_opt_outs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = follow(data)
    try:
        until_found(data, capsys, "fox")

        asyncio.run(more(data, page("http://c.example.org/", "Zebras walk")))
        until_found(data, capsys, "zebras")
        assert main(["index", "--once", "--data", str(data)]) == 2
        assert f"written by process {process.pid}" in capsys.readouterr().err
        assert main(["optout", "a.example.org", "--data", str(data), "--wait", "0"]) == 0
        assert searched(data, capsys, "fox")[0] == ""
        process.send_signal(signal.SIGKILL)
        process.wait()
        capsys.readouterr()
        assert main(["optout", "c.example.org", "--data", str(data), "--wait", "0"]) == 0
        assert "gregor index --rebuild" in capsys.readouterr().err  # what is left in its files
        assert searched(data, capsys, "zebras")[0] == "" and searched(data, capsys, "dogs")[0]
        again = follow(data)
        try:
            asyncio.run(more(data, page("http://e.example.org/", "Yaks graze")))
            until_found(data, capsys, "yaks")
        finally:
            again.send_signal(signal.SIGTERM)
        _, told = again.communicate(timeout=30)
        assert again.returncode == 0 and "taken in" in told
    finally:
        process.kill()
        process.communicate()

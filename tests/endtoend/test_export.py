"""`gregor export` of tables: forms, cursors, what does not go together."""

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from gregor.worker.commands import cli
from tests.endtoend.test_commands import Output, bare, crawl, output
from tests.reading import AT

__all__ = ["bare", "crawl", "output"]


def test_every_form_has_every_page(output: Output, tmp_path: Path) -> None:
    head, *lines = output.text("export", "csv").splitlines()
    assert head.startswith("url,key,host,state,status,outcome,depth") and len(lines) == 3
    assert len(output.bytes("export", "jsonl", "links").splitlines()) == 3
    assert [made["host"] for made in output.json("export", "jsonl", "hosts")] == ["a.test", "b.test", "c.test"]
    assert output.bytes("export", "parquet")[:4] == b"PAR1"
    output.bytes("export", "parquet", "-o", str(tmp_path / "folder"), "--by", "host")
    assert {folder.name for folder in (tmp_path / "folder").iterdir()} == {"host=a.test", "host=b.test"}
    for what in ("pages", "links"):
        output.bytes("export", "jsonl", what, "-o", str(tmp_path / what), "--by", "host")
        (written,) = (tmp_path / what).glob("*host=a.test/*")
        whole = output.bytes("export", "jsonl", what, "--host", "a.test")
        assert written.suffix == ".jsonl"
        if what == "pages":  # lines as they are; of a table the folder says the host
            assert written.read_bytes() == whole
    for what, rows in (("pages", 3), ("links", 3), ("hosts", 3)):
        output.bytes("export", "sqlite", what, "-o", str(tmp_path / "x.db"))
        with sqlite3.connect(tmp_path / "x.db") as database:
            assert database.execute(f"SELECT count(*) FROM {what}").fetchall() == [(rows,)]
    output.bytes("export", "duckdb", "-o", str(tmp_path / "x.duckdb"))


def test_a_cursor_says_since_when(output: Output, tmp_path: Path) -> None:
    cursor = tmp_path / "cursor"
    words = ["export", "jsonl", "--cursor", str(cursor)]
    assert len(output.bytes(*words).splitlines()) == 3
    assert json.loads(cursor.read_bytes())["since"] > AT
    assert output.bytes(*words) == b""
    cursor.write_text(json.dumps({"since": AT - 1}))
    assert len(output.bytes(*words).splitlines()) == 3
    cursor.write_text("x")
    assert "no cursor of an export" in output.refused(*words)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["warc", "links"], "a WARC has pages alone"),
        (["sqlite"], "wants the name of the database"),
        (["csv", "--by", "date"], "wants the name of a folder"),
        (["sqlite", "--by", "date", "-o", "x"], "--by is for csv, jsonl and parquet"),
        (["warc", "--by", "host", "-o", "x"], "--by is for csv, jsonl and parquet"),
        (["jsonl", "--by", "date"], "wants the name of a folder"),
        (["csv", "hosts", "--since", "1d"], "hosts are summed over all"),
        (["sqlite", "links", "-o", "x.db", "--cursor", "c"], "written anew each time"),
        (["csv", "--since", "1d", "--cursor", "c"], "give one of them"),
        (["jsonl", "--part", "1/2", "--cursor", "c"], "--cursor is of a whole export"),
        (["csv", "links", "--part", "2/2", "--cursor", "c"], "--cursor is of a whole export"),
        (["csv", "--markdown"], "--markdown is for jsonl"),
        (["csv", "--bodies"], "--bodies and --headers are for jsonl"),
        (["sqlite", "-o", "/nowhere/x.db"], "cannot write /nowhere/x.db"),
        (["sqlite", "-o", __file__], "it is no SQLite database: name another file"),
        (["duckdb", "-o", __file__], "it is no DuckDB database: name another file"),
        (["csv", "--by", "date", "-o", __file__], "it is no folder"),
    ],
)
def test_what_does_not_go_together_is_one_line(words: list[str], part: str, output: Output) -> None:
    said = output.refused("export", *words)
    assert part in said and said.count("\n") == 1


def test_a_crawl_is_no_place_for_an_export(output: Output, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        database.execute("CREATE TABLE pages (key TEXT, visit INTEGER, data BLOB)")
    assert "a table pages of another form" in output.refused("export", "sqlite", "-o", str(tmp_path / "crawl.db"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "warc", "sqlite", "duckdb"])
def test_what_is_new_does_not_take_the_place_of_what_was_exported(form: str, output: Output, tmp_path: Path) -> None:
    words = ["export", form, "-o", str(tmp_path / "x"), "--cursor", str(tmp_path / "cursor")]
    output.bytes(*words)
    before = (tmp_path / "x").read_bytes()
    if form in ("sqlite", "duckdb"):
        output.bytes(*words)
    else:
        assert "has what was exported before" in output.refused(*words)
        assert (tmp_path / "x").read_bytes() == before
        output.bytes(*words[:3], str(tmp_path / "y"), *words[4:])


@pytest.mark.parametrize("form", ["parquet", "duckdb"])
def test_packages_that_are_missing_are_named(form: str, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'gregor-crawler[export]'" in output.refused("export", form, "-o", "x")
    assert cli.main(["export", "csv"]) == 0


def test_pages_are_written_as_markdown(output: Output) -> None:
    made = {page["url"]: page["markdown"] for page in output.json("export", "jsonl", "--markdown")}
    assert made == {"http://a.test/": "one", "http://a.test/copy": "one", "http://b.test/image": None}


def test_hosts_are_summed_up_for_people_and_programs(output: Output) -> None:
    head, *lines = output.text("hosts").splitlines()
    assert head.split() == ["PAGES", "URLS", "WAITING", "BYTES", "ERRORS", "TIME", "HOST"]
    assert [line.split()[-1] for line in lines] == ["a.test", "b.test", "c.test"]
    assert lines[2].split()[:3] == ["0", "1", "0"] and lines[2].split()[5] == "1"
    waiting = {made["host"]: (made["waiting"], made["urls"]) for made in output.json("export", "jsonl", "hosts")}
    assert waiting == {"a.test": (1, 5), "b.test": (1, 2), "c.test": (0, 1)}, "those never visited count, each once"
    assert output.text("hosts", "--limit", "1").splitlines()[2:] == ["and 2 hosts more: --limit 3 lists all"]
    (failing,) = output.json("hosts", "--json", "--sort", "errors", "--limit", "1")
    assert (failing["host"], failing["errors"], failing["seconds"]) == ("c.test", 1, 0.5)
    assert [made["host"] for made in output.json("hosts", "--json", "--sort", "host", "--host", "b.test")] == ["b.test"]

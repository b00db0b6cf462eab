"""`gregor extract` over a data folder: lines, cells, processes, what is lost, what is wrong."""

import csv
import io
import json
import os
import re
import sqlite3
from pathlib import Path

import pytest

from gregor.worker.commands import cli, extracting
from gregor.worker.extract import rules
from gregor.worker.extract.fields import FIELD, KINDS
from gregor.worker.extract.rules import CASE, RULE
from tests.endtoend.stored import store

ROOT = Path(__file__).parents[2]
JOBS = 9
RULES = """
[[item]]
name = "job"
match = "http://a.test/*"
when = "h1"
[item.fields]
title = { css = "h1", required = true }
pay = { css = ".pay", type = "price" }
posted = { css = "time", type = "date" }
[[test]]
page = "saved.html"
url = "http://a.test/saved"
items = [{ title = "Saved", posted = "2026-11-01" }]
"""


def job(number: int) -> bytes:
    title = f"=Job {number}" if number else ""
    return f"<h1>{title}</h1><p class=pay>{number},000.00 EUR</p><time datetime=2026-11-0{number or 1}>".encode()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of jobs, the first without a title, one on another host, and an image."""
    folder = tmp_path_factory.mktemp("extract")
    stored = {f"http://a.test/{number}": job(number) for number in range(JOBS)}
    stored |= {"http://b.test/": b"<h1>b", "http://a.test/i": b"\x89PNG"}

    store(folder / "data", stored)
    (folder / "rules.toml").write_text(RULES)
    (folder / "saved.html").write_text("<h1>Saved</h1><time>1 November 2026</time>")
    return folder


@pytest.fixture(autouse=True)
def there(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GREGOR_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(data)


def extracted(capsysbinary: pytest.CaptureFixture[bytes], *words: str, code: int = 0) -> tuple[bytes, str]:
    assert cli.main(["extract", *words]) == code
    captured = capsysbinary.readouterr()
    return captured.out, captured.err.decode()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_items_of_what_is_stored(processes: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    out, said = extracted(capsysbinary, "--rules", "rules.toml", "--processes", processes)
    items = sorted(map(json.loads, out.splitlines()), key=lambda item: str(item["_url"]))
    assert [(item["title"], item["posted"], item["pay"]) for item in items] == [
        (f"=Job {number}", f"2026-11-0{number}", {"amount": f"{number}000.00", "currency": "EUR"})
        for number in range(1, JOBS)
    ]
    assert {(item["_item"], item["_rule"], item["_fetched_at"]) for item in items} == {
        ("job", "job", "2023-11-14T22:13:20.250Z")
    }
    assert said == (
        f"gregor: job: title is missing: 1 item lost, as at http://a.test/0\ngregor: {JOBS - 1} items of {JOBS} pages\n"
    )


def test_cells_that_are_never_run(data: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert extracted(capsysbinary, "--rules", "rules.toml", "-o", "jobs.csv", "http://a.test/3")[0] == b""
    head, cells = csv.reader((data / "jobs.csv").read_text().splitlines())
    assert dict(zip(head, cells, strict=True)) | {"_fetched_at": ""} == {
        "_item": "job",
        "_rule": "job",
        "_url": "http://a.test/3",
        "_fetched_at": "",
        "_language": "en",
        "title": "'=Job 3",
        "pay.amount": "3000.00",
        "pay.currency": "EUR",
        "posted": "2026-11-03",
    }
    out, _ = extracted(capsysbinary, "--rules", "rules.toml", "--format", "csv", "--host", "b.test")
    assert out == b"_item,_rule,_url,_fetched_at,_language,title,pay.amount,pay.currency,posted\r\n"


def test_the_tests_of_the_rules(data: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert extracted(capsysbinary, "--test", "rules.toml") == (b"", "gregor: 1 test, none failed\n")
    (data / "wrong.toml").write_text(RULES.replace("2026-11-01", "2026-11-02"))
    out, said = extracted(capsysbinary, "--test", "wrong.toml", code=1)
    assert out == b'wrong.toml:10: saved.html: item 1: posted: expected "2026-11-02", got "2026-11-01"\n'
    assert said == "gregor: 1 test, 1 failed\n"


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["--rules", "nowhere.toml"], 2, "cannot read nowhere.toml"),
        (["--rules", "rules.toml", "--rules", "rules.toml"], 2, "there is a rule 'job' already"),
        (["--rules", "rules.toml", "nothing"], 2, "not an http(s) URL"),
        (["--rules", "rules.toml", "http://a.test/none"], 2, "no document of http://a.test/none is stored"),
        (["--rules", "rules.toml", "--data", "nowhere"], 2, "nowhere"),
        (["--rules", "rules.toml", "-o", "."], 2, "it is a folder"),
        (["--rules", "rules.toml", "-o", "./rules.toml"], 2, "the rules stand there"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], code: int, part: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    out, said = extracted(capsysbinary, *words, code=code)
    assert out == b"" and part in said and said.count("\n") == 1


def test_damage_is_told_and_the_rest_is_done(
    data: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    source = sqlite3.connect(data / "data" / "crawl.db")
    (tmp_path / "data").mkdir()
    copy = sqlite3.connect(tmp_path / "data" / "crawl.db")
    source.backup(copy)
    with copy:
        copy.execute("UPDATE pages SET data = x'00' WHERE key = 'http://a.test/3'")
    copy.close()
    where = ["--rules", "rules.toml", "--data", str(tmp_path / "data")]
    out, said = extracted(capsysbinary, *where, code=1)
    assert len(out.splitlines()) == JOBS - 2 and "gregor check" in said


def ended(*_: object) -> None:
    os._exit(1)


def test_a_process_that_dies_is_no_end(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(extracting, "_in_process", ended)
    _, said = extracted(capsysbinary, "--rules", "rules.toml", "--processes", "2", code=1)
    assert "a process that extracted was ended from outside" in said


def test_a_page_at_a_prompt(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    asked = [
        "css('h1')",
        "xpath('//time/@datetime')",
        "items()[0]['posted']",
        "css('li[')",
        "page.status",
        "page.url",
        "links",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(asked) + "\n"))
    assert cli.main(["shell", "http://a.test/3", "--rules", "rules.toml"]) == 0
    captured = capsysbinary.readouterr()
    said = captured.out.decode()
    assert "['=Job 3']" in said and "['2026-11-03']" in said and "'2026-11-03'" in said and "200" in said
    assert "'http://a.test/3'" in said
    assert "gregor: 'li[' is no CSS selector" in captured.err.decode() and "Traceback" not in captured.err.decode()


def test_a_prompt_has_the_rules_and_the_code_of_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "marks.py").write_text(
        "class Marks:\n    def process(self, item):\n        item.fields['marked'] = 'yes'\n        return item\n"
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("items()[0]['posted'] + items()[0]['marked']\n"))
    words = ["--set", 'rules=["rules.toml"]', "--plugin", f"{tmp_path / 'marks.py'}:Marks"]
    assert cli.main(["shell", "http://a.test/3", *words]) == 0
    assert "'2026-11-03yes'" in capsysbinary.readouterr().out.decode()


@pytest.mark.parametrize("name", ["x.xlsx", "x.parquet", "x.XML"])
def test_a_name_that_promises_another_form_is_refused(name: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    _, said = extracted(capsysbinary, "--rules", "rules.toml", "-o", name, code=2)
    assert "items are written as jsonl or csv" in said and not Path(name).exists()
    assert ("`gregor export parquet items`" in said) is (name != "x.XML")


def test_the_examples_of_the_docs(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    files = sorted((ROOT / "docs" / "examples").glob("*/rules.*"))
    for file in files:
        assert extracted(capsysbinary, "--test", str(file))[0] == b""
    assert files


def test_the_rules_in_the_docs_can_be_read(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "extraction.md").read_text()
    fenced = re.findall(r"```(toml|yaml)\n(.*?)```", text, re.DOTALL)
    for number, (form, block) in enumerate(fenced):
        (tmp_path / f"{number}.{form}").write_text(block)
        assert any(rules.read_all([tmp_path / f"{number}.{form}"]))
    assert {form for form, _ in fenced} == {"toml", "yaml"}
    assert [name for name in (*RULE, *FIELD, *KINDS, *CASE) if f"`{name}`" not in text] == []

"""The items of one rule as a table with a column for each field, typed and nested where the form can."""

import csv
import io
import json
import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as parquet
import pytest

import gregor
from gregor.worker.commands import cli
from tests.endtoend.stored import store
from tests.endtoend.test_commands import Output, bare
from tests.endtoend.test_import import output

__all__ = ["bare", "output"]

PAGE = (
    b"""<h1>%s</h1><p class=price>%s EUR</p><time datetime="2024-05-03T12:00:00+02:00">3 May</time><i>1</i><i>2</i>"""
)
RULES = """
[[item]]
name = "Book-1"
[item.fields]
title = "h1"
Title = "h1"
price = { css = ".price", type = "price" }
day = { css = "time", type = "date" }
at = { css = "time", type = "datetime" }
numbers = { css = "i", type = "list[int]" }
[item.fields.rows]
each = "i"
many = true
fields = { n = { css = "::text", type = "int" } }
[[item]]
name = "other"
fields = { title = "h1" }
"""
FIRST = {
    "title": "=1+1",
    "Title_2": "=1+1",
    "price": {"amount": "5.50", "currency": "EUR"},
    "day": date(2024, 5, 3),
    "at": datetime(2024, 5, 3, 10, tzinfo=UTC),
    "numbers": [1, 2],
    "rows": [{"n": 1}, {"n": 2}],
}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "data", {"http://a.test/1": PAGE % (b"=1+1", b"5.50"), "http://a.test/2": PAGE % (b"B", b"7")})
    (tmp_path / "rules.toml").write_text(RULES)
    assert cli.main(["extract", "--rules", "rules.toml", "--store"]) == 0


def exported(output: Output, form: str, *words: str) -> Path:
    output.bytes("export", form, "items", "--rule", "Book-1", "-o", f"x.{form}", *words)
    return Path(f"x.{form}")


def test_parquet_and_duckdb_have_types_and_nested_values(output: Output) -> None:
    made = sorted(parquet.read_table(exported(output, "parquet")).to_pylist(), key=lambda row: str(row["_url"]))
    assert len(made) == 2 and made[0] | FIRST == made[0]
    exported(output, "duckdb")
    names = ", ".join(f'"{name}"' for name in FIRST)
    with duckdb.connect(str(exported(output, "duckdb"))) as database:  # it takes the place of the one before
        row = database.execute(f"SELECT {names} FROM items_book_1 ORDER BY _url").fetchone()
        assert row == tuple(FIRST.values())
    parts = [parquet.read_table(exported(output, "parquet", "--part", f"{number}/2")) for number in (1, 2)]
    assert parts[0].schema == parts[1].schema and sum(part.num_rows for part in parts) == 2


def test_other_forms_say_lists_and_objects_as_json(output: Output) -> None:
    rows = sorted(csv.DictReader(io.StringIO(exported(output, "csv").read_text())), key=lambda row: row["_url"])
    assert rows[0]["title"] == "'=1+1" and rows[0]["rows"] == '[{"n": 1}, {"n": 2}]' and rows[0]["day"] == "2024-05-03"
    lines = sorted(exported(output, "jsonl").read_text().splitlines())
    assert [json.loads(line)["price"]["amount"] for line in lines] == ["5.50", "7"]
    with sqlite3.connect(exported(output, "sqlite")) as database:
        assert database.execute('SELECT "Title_2", json_extract(price, "$.amount") FROM items_book_1').fetchall()


def test_the_library_gives_the_same() -> None:
    with gregor.open("data") as crawl:
        assert crawl.arrow("items", rule="Book-1").column("numbers").to_pylist() == [[1, 2]] * 2
        assert list(crawl.dataframe("items", rule="other")["title"]) == ["=1+1", "B"]
        with pytest.raises(gregor.BadInput, match="rule is for items, not for pages"):
            crawl.arrow("pages", rule="other")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["items", "--rule", "nobody"], "there is no item of a rule 'nobody'; there are: Book-1, other"),
        (["links", "--rule", "other"], "--rule is for items: gregor export csv items --rule other"),
        (["--rule", ""], "--rule is for items"),
    ],
)
def test_what_has_no_items_is_refused(words: list[str], part: str, output: Output) -> None:
    assert part in output.refused("export", "csv", *words)

"""Tables of pages, links and hosts, in every form."""

import asyncio
import csv
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as parquet
import pytest

from gregor.schemas.items import StoredItem
from gregor.schemas.messages import Attempt, Link
from gregor.worker.archives import places
from gregor.worker.borders.reader import WHOLE, Part, Waiting
from gregor.worker.inspect import datasets, table_files
from gregor.worker.inspect.selection import EVERYTHING, Selection
from gregor.worker.inspect.tables import TABLES, Table
from gregor.worker.settle.rows import forgotten
from tests.reading import AT, MemoryReader, page, row, ticket

LINKS = [Link("http://b.test/", "a", True, "nofollow", "b"), Link("http://a.test/copy", "a")]
DAY = 86_400.0


def reader() -> MemoryReader:
    first = page("http://a.test/", links=LINKS, title="=1+1", directives=("noindex", "nofollow"), label="seed")
    copy = page(
        "http://a.test/copy", state="duplicate", duplicate_of="http://a.test/", fetched_at=AT + DAY, title="\ud800"
    )
    other = page("http://b.test/", title=None, text="")
    other.body = ""
    rows = [
        row(first, page=1, kept_size=7, first_seen=AT, attempts=(Attempt(AT + 1, "fetched", 200),)),
        row(copy, "gone", status=410, page=1, attempts=(Attempt(AT + 2 * DAY, "gone", 410),)),
        row(other, page=1, kept_size=3),
        row(ticket("http://a.test/dead"), "dead"),
    ]
    return MemoryReader(rows, [first, copy, other], [b"<p>one"])


async def collected(table: Table, wanted: Selection = EVERYTHING, part: Part = WHOLE) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    return [dict(zip(names, values, strict=True)) async for values in table.rows(reader(), wanted, part)]


def rows_of(name: str, wanted: Selection = EVERYTHING, part: Part = WHOLE) -> list[dict[str, Any]]:
    return asyncio.run(collected(TABLES[name], wanted, part))


ITEMS = [
    StoredItem("job", "Job", "v1", b'{"title":"\xc3\xbc","n":12345678901234567890123}', '["1"]', "changed", ("title",)),
    StoredItem("job", "Job", "v1", b'{"title":"x"}', "", "gone"),
]


def with_items(**of_row: Any) -> MemoryReader:
    stored = page("http://a.test/", items=ITEMS, label="l")
    return MemoryReader([row(stored, **{"page": stored.visit, **of_row})], [stored], [])


@pytest.mark.parametrize(
    ("of_row", "changes"),
    [
        ({}, [("changed", ["title"]), ("gone", [])]),
        ({"visits": 2, "outcome": "unchanged"}, [("unchanged", []), ("gone", [])]),
        ({"visits": 2, "state": "gone", "outcome": "status 410"}, [("gone", []), ("gone", [])]),
        ({"visits": 2, "state": "waiting", "outcome": "status 503"}, [("changed", ["title"]), ("gone", [])]),
    ],
)
def test_items_as_they_stand_by_the_last_visit(of_row: dict[str, Any], changes: list[Any]) -> None:
    async def all_rows() -> list[dict[str, Any]]:
        names = [column.name for column in TABLES["items"].columns]
        some = with_items(**of_row)
        return [dict(zip(names, each, strict=True)) async for each in TABLES["items"].rows(some, EVERYTHING, WHOLE)]

    told = asyncio.run(all_rows())
    assert [(each["change"], each["changed_fields"]) for each in told] == changes
    first = told[0]
    assert (first["rule"], first["item"], first["rule_version"], first["id"], first["number"], first["label"]) == (
        *("job", "Job", "v1", '["1"]', 0), "l",
    )  # fmt: skip


def test_the_fields_of_an_item_are_an_object_in_json_and_a_text_elsewhere() -> None:
    async def rows() -> list[Any]:
        return [each async for each in TABLES["items"].rows(with_items(), EVERYTHING, WHOLE)]

    values = asyncio.run(rows())
    lines, cells = io.BytesIO(), io.BytesIO()
    for made in (table_files.JsonLines(TABLES["items"], lines), table_files.Csv(TABLES["items"], cells)):
        for each in values:
            made.put(each)
        made.close()
    first = json.loads(lines.getvalue().splitlines()[0])
    assert (first["fields"], first["id"]) == ({"title": "ü", "n": 12345678901234567890123}, ["1"])
    (read, _) = csv.DictReader(io.StringIO(cells.getvalue().decode()))
    assert (read["fields"], read["changed_fields"]) == (ITEMS[0].fields.decode(), '["title"]')
    batch = table_files.record_batch(TABLES["items"], [list(column) for column in zip(*values, strict=True)])
    assert batch.column("fields").to_pylist()[1] == '{"title":"x"}'


def test_pages() -> None:
    first, copy, other = rows_of("pages")
    assert (first["url"], first["state"], first["links"], first["directives"], first["checked_at"]) == (
        *("http://a.test/", "fetched", 2, ["noindex", "nofollow"]),
        AT + 1,
    )
    assert (copy["state"], copy["status"], copy["document_status"], copy["duplicate_of"]) == (
        *("gone", 410, 200),
        "http://a.test/",
    )
    assert (other["title"], other["sha256"], other["text"]) == (None, None, "")
    assert [made["url"] for made in rows_of("pages", Selection(host="b.test"))] == ["http://b.test/"]
    parts = [rows_of("pages", part=Part(number, 2)) for number in range(2)]
    assert sorted(made["key"] for part in parts for made in part) == [
        "http://a.test/",
        "http://a.test/copy",
        "http://b.test/",
    ]


@pytest.mark.parametrize("page_says", [True, False])
@pytest.mark.parametrize("row_says", [True, False, None])
def test_a_row_says_what_is_a_requisite(page_says: bool, row_says: bool | None) -> None:
    stored = page("http://a.test/", requisite=page_says)
    kept = [] if row_says is None else [row(stored, page=1, requisite=row_says)]

    async def made() -> list[Any]:
        table = TABLES["pages"]
        place = table.place_of("requisite")
        return [values[place] async for values in table.rows(MemoryReader(kept, [stored], []), EVERYTHING, WHOLE)]

    assert asyncio.run(made()) == [page_says if row_says is None else row_says]


def test_links() -> None:
    assert [(made["source"], made["position"], made["target"], made["fate"]) for made in rows_of("links")] == [
        ("http://a.test/", 0, "http://b.test/", "nofollow"),
        ("http://a.test/", 1, "http://a.test/copy", "sent"),
    ]


def test_links_say_the_language_of_their_page() -> None:
    stored = [page("http://a.test/", links=LINKS[:1], language="de"), page("http://a.test/b", links=LINKS[1:])]

    async def made() -> list[Any]:
        links = TABLES["links"]
        reader = MemoryReader([row(each, page=1) for each in stored], stored, [])
        return [values[links.place_of("language")] async for values in links.rows(reader, EVERYTHING, WHOLE)]

    assert asyncio.run(made()) == ["de", None]


@pytest.mark.parametrize("most", [10_000, 1, 2])
def test_hosts_say_the_languages_of_their_pages(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gregor.worker.inspect.tables._Sums._MOST", most)
    named = [("a", "de"), ("b", "en"), ("a", "en"), ("b", ""), ("a", "en"), ("a", "cs"), ("c", "")]
    kept = [
        row(page(f"http://{host}.test/{number}"), page=1, kept_language=language)
        for number, (host, language) in enumerate(named)
    ]

    async def made() -> dict[str, Any]:
        hosts = TABLES["hosts"]
        place = hosts.place_of("languages")
        rows = hosts.rows(MemoryReader(kept, [], []), EVERYTHING, WHOLE)
        return {values[0]: values[place] async for values in rows}

    assert asyncio.run(made()) == {"a.test": ["en", "cs", "de"], "b.test": ["en"], "c.test": []}


def test_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = rows_of("hosts")
    assert [
        (made["host"], made["urls"], made["gone"], made["dead"], made["pages"], made["bytes"]) for made in sums
    ] == [
        ("a.test", 3, 1, 1, 2, 7),
        ("b.test", 1, 0, 0, 1, 3),
    ]
    assert (sums[0]["first_seen"], sums[0]["last_visit"], sums[1]["first_seen"]) == (AT, AT + 2 * DAY, None)
    monkeypatch.setattr("gregor.worker.inspect.tables._Sums._MOST", 1)
    assert rows_of("hosts") == sums


@pytest.mark.parametrize(
    ("states", "waits", "told"),
    [
        (["optout"], False, 0),
        (["optout", "optout"], True, 0),  # what was found of it meanwhile will not be asked for
        (["optout", "fetched"], False, 1),  # it is back, and was crawled since
        (["denied"], False, 1),
    ],
)
def test_of_a_host_that_opted_out_nothing_is_told(states: list[str], waits: bool, told: int) -> None:
    known = [row(page(f"http://a.test/{number}"), "denied") for number in range(len(states))]
    known = [forgotten(each) if state == "optout" else each for each, state in zip(known, states, strict=True)]
    waiting = [Waiting(ticket("http://a.test/new"), "backlog")] if waits else []

    async def urls() -> list[int]:
        place = TABLES["hosts"].place_of("urls")
        some = MemoryReader(known, waiting=waiting)
        return [values[place] async for values in TABLES["hosts"].rows(some, EVERYTHING, WHOLE)]

    assert asyncio.run(urls()) == [1] * told


def filled(writer: table_files.TableWriter, name: str) -> None:
    for values in rows_of(name):
        writer.put(tuple(values.values()))
    writer.close()


@pytest.mark.parametrize("name", TABLES)
def test_parquet_is_typed_and_in_groups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "ROWS", 1)
    file = io.BytesIO()
    filled(table_files.Parquet(TABLES[name], file), name)
    read = parquet.ParquetFile(file)
    expected = rows_of(name)
    assert read.metadata.num_row_groups == len(expected)
    kinds = {column.name: column.kind for column in TABLES[name].columns}
    for made, values in zip(read.read().to_pylist(), expected, strict=True):
        for key, value in values.items():
            if kinds[key] == "time":
                assert (made[key].timestamp() if made[key] else None) == value
            else:
                assert made[key] == ("?" if value == "\ud800" else value)


def test_csv_is_no_formula() -> None:
    file = io.BytesIO()
    filled(table_files.Csv(TABLES["pages"], file), "pages")
    first, copy, _ = csv.DictReader(io.StringIO(file.getvalue().decode(), newline=""))
    assert (first["title"], first["directives"], first["fetched_at"], first["truncated"]) == (
        *("'=1+1", '["noindex", "nofollow"]', "2023-11-14T22:13:20.250Z"),
        "false",
    )
    assert (copy["title"], copy["label"]) == ("?", "")


def test_json_lines() -> None:
    file = io.BytesIO()
    filled(table_files.JsonLines(TABLES["links"], file), "links")
    (line, _) = map(json.loads, file.getvalue().splitlines())
    assert (line["source"], line["nofollow"], line["found_at"]) == ("http://a.test/", True, "2023-11-14T22:13:20.250Z")


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_a_database_is_replaced_or_added_to(form: str, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    made: Callable[..., table_files.TableWriter] = table_files.Sqlite if form == "sqlite" else table_files.DuckDb
    table = TABLES["pages"]

    def asked(query: str) -> list[tuple[Any, ...]]:
        if form == "sqlite":
            with sqlite3.connect(file) as database:
                return database.execute(query).fetchall()
        with duckdb.connect(str(file)) as opened:
            return opened.execute(query).fetchall()

    for add in (False, False, True):
        filled(made(table, file, add=add), "pages")
        assert asked("SELECT count(*), sum(links) FROM pages") == [(3, 2)]
    filled(made(TABLES["hosts"], file, add=False), "hosts")
    assert asked("SELECT host FROM hosts WHERE dead > 0") == [("a.test",)]
    asked("DROP TABLE hosts") if form == "duckdb" else sqlite3.connect(file).execute("DROP TABLE hosts")
    asked("CREATE TABLE hosts (mine INTEGER)")
    with pytest.raises(OSError, match="a table hosts of another form"):
        made(TABLES["hosts"], file, add=False)


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
@pytest.mark.parametrize("other", ["csv", "parquet", "sqlite", "duckdb", "short", "folder"])
def test_what_is_no_database_of_the_form_stays_as_it_is(form: str, other: str, tmp_path: Path) -> None:
    file = tmp_path / f"x.{other}"
    made: dict[str, Callable[..., table_files.TableWriter]]
    made = {"sqlite": table_files.Sqlite, "duckdb": table_files.DuckDb}
    if other == form:
        pytest.skip("it is one of the form")
    if other in made:
        filled(made[other](TABLES["links"], file, add=False), "links")
    elif other == "folder":
        file.mkdir()
    elif other == "short":
        file.write_bytes(b"x")
    else:
        with file.open("wb") as opened:
            new: table_files.NewWriter = table_files.Csv if other == "csv" else table_files.Parquet
            filled(new(TABLES["links"], opened), "links")
    before = None if other == "folder" else file.read_bytes()
    with pytest.raises(OSError, match=r"it is no (SQLite database|DuckDB database|file)"):
        made[form](TABLES["links"], file, add=False)
    assert before is None or file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", [":memory:", "md:x", "sqlite:x"])
@pytest.mark.parametrize("form", [table_files.Sqlite, table_files.DuckDb])
def test_the_name_of_a_database_is_that_of_a_file(
    form: Callable[..., table_files.TableWriter], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    filled(form(TABLES["links"], Path(name), add=False), "links")
    assert (tmp_path / name).stat().st_size > 0


def test_duckdb_fetches_no_extension(tmp_path: Path) -> None:
    opened = table_files.DuckDb(TABLES["links"], tmp_path / "x", add=False)._database
    asked = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%_known_extensions'"
    assert opened.execute(asked).fetchall() == [("false",)] * 2


def test_a_folder_for_each_day_or_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.DatasetFolder, "OPEN", 1)
    for by, names in (("date", {"date=2023-11-14", "date=2023-11-15"}), ("host", {"host=a.test", "host=b.test"})):
        filled(
            datasets.DatasetFolder(
                TABLES["pages"], places.LocalFolder(tmp_path / by), by, "parquet", "run", table_files.Parquet
            ),
            "pages",
        )
        assert {folder.name for folder in (tmp_path / by).iterdir()} == names
        read = parquet.read_table(tmp_path / by)
        assert sorted(read.column("host").to_pylist()) == ["a.test", "a.test", "b.test"]

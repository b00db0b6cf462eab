"""Items as lines and as cells, what was lost as lines for people, and the tests of rules."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.extract import cases, writing
from gregor.worker.extract.model import Item, Loss, PageItems
from gregor.worker.extract.page import PageFacts
from gregor.worker.extract.tally import Tally
from tests.unit.extract.made import rules_of


def as_csv(records: list[dict[str, Any]], known: list[str]) -> list[list[str]]:
    lines, file = io.BytesIO(b"".join(map(writing.encode, records))), io.BytesIO()
    writing.to_csv(lines, known, file)
    return list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))


def test_objects_have_columns_and_lists_are_json() -> None:
    records: list[dict[str, Any]] = [
        {"a": 1, "o": {"b": "x", "c": {"d": True}}, "l": [1, "é"]},
        {"a": None, "o": None, "z": 2.5},
    ]
    assert as_csv(records, ["a", "o.b", "l"]) == [
        ["a", "o.b", "l", "o.c.d", "z"],
        ["1", "x", '[1, "é"]', "true", ""],
        ["", "", "", "", "2.5"],
    ]


def test_pages_cannot_have_columns_without_end() -> None:
    records = [{f"k{n}": n for n in range(at, at + 600)} for at in (0, 600)]
    file = io.BytesIO()
    lines = io.BytesIO(b"".join(map(writing.encode, records)))
    assert writing.to_csv(lines, [], file) == 1200 - writing.MOST_COLUMNS
    assert len(file.getvalue().split(b"\r\n")[0].split(b",")) == writing.MOST_COLUMNS


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("\uff1d1", "'\uff1d1"),
        ("\ufe66", "'\ufe66"),
        ("\xa0=1", "'\xa0=1"),
        ("\x00\u200b+1", "'\x00\u200b+1"),
        ("\ufeff@a", "'\ufeff@a"),
        ("\u3000-1-1", "'\u3000-1-1"),
        ("\xa0a", "\xa0a"),
        ("-5", "-5"),
        ("+49", "+49"),
        ("-0.5", "-0.5"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_a_cell_is_never_run(text: str, cell: str) -> None:
    assert writing.defused(text) == cell
    assert as_csv([{"a": text, "=b": 1}], ["a"]) == [["a", "'=b"], [cell, "1"]]


@given(st.text())
def test_no_cell_begins_a_formula(text: str) -> None:
    cell = writing.defused(text)
    assert cell.lstrip(" ")[:1] not in ("=", "@", "\t", "\r") and cell.removeprefix("'") == text.removeprefix("'")


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.integers() | st.lists(st.none(), max_size=2)))
def test_a_line_is_json_whatever_is_in_it(fields: dict[str, Any]) -> None:
    line = writing.encode(writing.record(Item("r", "i", fields), PageFacts(url="u")))
    assert line.count(b"\n") == 1
    assert json.loads(line)["_rule" if "_rule" not in fields else "_item"] is not None or fields
    assert writing.encode({"a": "\ud800", "n": 10**30}) == b'{"a":"?","n":1000000000000000000000000000000}\n'


def test_losses_are_counted_with_a_few_examples() -> None:
    tally, other = Tally(), Tally()
    for number in range(5):
        part = tally if number % 2 else other
        part.add(
            PageItems([Item("good", "g", {})], [Loss("bad", "a is missing")], ["good", "bad"]),
            f"http://a.test/{number}",
        )
    other.add(PageItems([], [Loss("good", "b is not a date", costs_item=False)], ["good", "empty"]), "http://a.test/x")
    tally.merge(other)
    assert list(tally.lines(iter(["good", "bad", "empty", "none"]))) == [
        "bad: a is missing: 5 items lost, as at http://a.test/1 http://a.test/3 http://a.test/0",
        "good: b is not a date: 1 without a value, as at http://a.test/x",
        "empty: no item on its pages, 1 of them: look at its each or schema",
        "none: no page was for this rule: look at its match and when",
    ]
    assert (tally.pages, tally.items, tally.by_rule) == (6, 5, {"good": 5})


RULES = """
[[item]]
name = "x"
match = "https://a.example/*"
[item.fields]
t = "h1"
n = { css = "b", type = "int" }
[[test]]
page = "p.html"
url = "https://a.example/p"
"""


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ("items = [{ t = 'T', n = 7 }]", []),
        ("items = [{ t = 'T' }]", []),
        ("items = [{ _item = 'x', _url = 'anything' }]", []),
        ("expected = 'p.jsonl'", []),
        ("expected = 'p.json'", []),
        ("items = [{ t = 'U' }]", ['item 1: t: expected "U", got "T"']),
        ("items = [{ t = 2026-11-02 }]", ['item 1: t: expected "2026-11-02", got "T"']),
        ("items = [{ u = 'T' }]", ['item 1: u: expected "T", got null']),
        ("items = []", ["0 items expected, got 1", 'got beside: {"_item": "x", "_rule": "x", "t": "T", "n": 7}']),
        ("items = [{}, {}]", ["2 items expected, got 1"]),
    ],
)
def test_the_tests_of_rules(expected: str, wrong: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text("<h1>T</h1><b>7")
    (tmp_path / "p.jsonl").write_text('{"t": "T", "_fetched_at": "x"}\n\n')
    (tmp_path / "p.json").write_text('[{"t": "T"}]')
    known = rules_of(tmp_path, RULES + expected)
    (case,) = cases.cases(tmp_path / "rules.toml")
    assert (list(cases.differences(known, case)), case.line) == (wrong, 8)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (RULES.partition("[[test]]")[0], "has no test"),
        (RULES, "line 8: a test has items"),
        (RULES + "items = [1]", "line 11: items is a list of tables"),
        (RULES + "items = []\nexpect = 'x'", "line 12: 'expect' means nothing here (did you mean expected?)"),
        (RULES + "expected = 'none.jsonl'", "line 11: cannot read"),
        (RULES + "expected = 'p.html'", "line 11: p.html has no JSON lines: line 1 is no JSON"),
        (RULES + "expected = 'second.jsonl'", "line 11: second.jsonl has no JSON lines: line 3 is no object"),
        (RULES + "expected = 'list.json'", "line 11: list.json has no JSON lines: its members are no objects"),
        (RULES + "expected = 'deep.json'", "line 11: deep.json has no JSON lines"),
        (RULES + "expected = 'deep.jsonl'", "line 11: deep.jsonl has no JSON lines: line 1 is no JSON"),
        (RULES.replace("p.html", "q.html") + "items = []", "line 9: cannot read"),
        (RULES.replace("https://a.example/p", "nowhere") + "items = []", "line 8: a test needs page"),
    ],
)
def test_a_test_that_is_none(text: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text("<h1>T</h1><b>7")
    (tmp_path / "second.jsonl").write_text('{"t": "T"}\n\n7\n')
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "deep.jsonl").write_text('{"a": ' + "[" * 100_000)
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(BadInput) as caught:
        cases.cases(tmp_path / "rules.toml")
    assert part in str(caught.value)

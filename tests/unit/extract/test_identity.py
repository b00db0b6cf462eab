"""What became of the items of a page: by their id fields, or where one stands alone; what is lost is not gone."""

import json
from typing import Any

import pytest

from gregor.schemas.items import StoredItem
from gregor.worker.extract.identity import carried, compared, of_vanished, stored
from gregor.worker.extract.model import Item

ASKED = {"job": False}


def item(fields: dict[str, Any], *names: str, version: str = "1", rule: str = "job") -> StoredItem:
    return stored(Item(rule, rule, fields), names, version)


def job(number: int | None, title: str, **more: Any) -> StoredItem:
    return item({"n": number, "title": title, **more}, "n")


def became(items: list[StoredItem], before: list[StoredItem], lost: bool = False) -> list[tuple[Any, ...]]:
    made = compared(items, before, {"job": lost})
    return [(json.loads(each.fields)["title"], each.change, *each.changed_fields) for each in made]


def test_by_its_id_an_item_is_known_again_wherever_it_stands() -> None:
    before = [job(1, "a"), job(2, "b"), job(3, "c")]
    now = [job(4, "d"), job(3, "c"), job(1, "A")]
    assert became(now, before) == [("d", "new"), ("c", "unchanged"), ("A", "changed", "title"), ("b", "gone")]


def test_nothing_was_known_before() -> None:
    assert became([job(1, "a")], []) == [("a", "new")]


def test_what_was_gone_and_comes_back_is_new_and_is_told_gone_once() -> None:
    gone = compared([], [job(1, "a")], ASKED)
    assert [each.change for each in gone] == ["gone"]
    assert compared([], gone, ASKED) == []
    assert became([job(1, "a")], gone) == [("a", "new")]


def test_what_a_rule_lost_is_not_gone_and_is_known_again_when_it_is_back() -> None:
    lost = compared([], [job(1, "a")], {"job": True})
    assert [(each.change, each.fields) for each in lost] == [("lost", job(1, "a").fields)]
    assert became([job(1, "A")], lost) == [("A", "changed", "title")]
    assert [each.change for each in compared([], lost, {"job": True})] == ["lost"]


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        ([job(None, "b")], [job(None, "a")], [("b", "changed", "title")]),  # the only one, then as now
        ([job(None, "a"), job(None, "c")], [job(None, "a"), job(None, "b")],
         [("a", "unchanged"), ("c", "new"), ("b", "gone")]),
        ([job(None, "a"), job(None, "a")], [job(None, "a")], [("a", "unchanged"), ("a", "new")]),
        ([job(1, "a"), job(1, "b")], [job(1, "b"), job(1, "c")], [("a", "changed", "title"), ("b", "unchanged")]),
    ],
)  # fmt: skip
def test_without_an_id_of_its_own(now: list[StoredItem], before: list[StoredItem], expected: list[Any]) -> None:
    made = became(now, before)
    assert sorted(made) == sorted(expected) or [each[:2] for each in made] == [each[:2] for each in expected]


def test_which_fields_changed_is_said_and_a_field_that_another_version_of_the_rule_has_is_no_change() -> None:
    assert became([job(1, "b", p={"a": 1})], [job(1, "a", p={"a": 2})]) == [("b", "changed", "title", "p")]
    newer = item({"n": 1, "title": "a", "more": "x"}, "n", version="2")
    assert became([newer], [job(1, "a")]) == [("a", "unchanged")]
    assert became([job(1, "a", more="x")], [job(1, "a")]) == [("a", "changed", "more")]


def test_what_rules_found_that_are_asked_no_more_is_told_of_no_more() -> None:
    assert compared([], [item({"title": "x"}, rule="old")], ASKED) == []


def test_an_identity_is_whole_or_none() -> None:
    assert job(None, "a").id == ""
    assert item({"a": "x", "b": [1]}, "b", "a").id == '[[1],"x"]'
    assert item({"a": "x" * 2000}, "a").id == ""
    assert item({"a": "\ud800"}, "a").id == '["?"]'


def test_what_vanished_and_what_was_extracted_anew() -> None:
    items = compared([job(1, "A"), job(2, "b")], [job(1, "a"), job(3, "c")], ASKED)
    assert [each.change for each in items] == ["changed", "new", "gone"]
    assert [each.change for each in of_vanished(items)] == ["gone", "gone"]
    other = item({"title": "x"}, rule="other")
    anew = carried([job(2, "b"), job(1, "A")], [*items, other], ASKED)
    assert [(each.id, each.change, each.changed_fields) for each in anew] == [
        ("[2]", "new", ()), ("[1]", "changed", ("title",)), ("[3]", "gone", ()), ("", "new", ()),
    ]  # fmt: skip
    lost = compared([], [job(1, "a")], {"job": True})
    assert [(each.change, each.changed_fields) for each in carried([job(1, "A")], lost, ASKED)] == [
        ("changed", ("title",))
    ]
    assert carried([], lost, ASKED) == []

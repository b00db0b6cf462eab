"""Values of items as tables have them, of the types that they show."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.inspect import table_files
from gregor.worker.inspect.item_tables import OURS, _table
from gregor.worker.inspect.shapes import DEEPEST, WIDEST, Seen, SeenPlaces, ValueShape, arrow_type, shaped

pa = pytest.importorskip("pyarrow")

DEEP: Any = 1
for _ in range(DEEPEST + 2):
    DEEP = [DEEP]


def shape_of(values: list[Any], room: SeenPlaces | None = None) -> ValueShape:
    seen = Seen(room or SeenPlaces())
    for value in values:
        seen.add(value)
    return seen.shape()


@pytest.mark.parametrize(
    ("values", "shape", "made"),
    [
        ([], "text", []),
        ([None, None], "text", [None, None]),
        ([1, None, 2], "int", [1, None, 2]),
        ([1, 2.5], "real", [1.0, 2.5]),
        ([True, None], "bool", [True, None]),
        ([True, 1], "json", ["true", "1"]),
        ([1, "x"], "json", ["1", '"x"']),
        ([1 << 63], "json", [str(1 << 63)]),
        (["2024-05-03", None], "date", [date(2024, 5, 3), None]),
        (["2024-05-03", "soon"], "text", ["2024-05-03", "soon"]),
        (["2024-02-31"], "text", ["2024-02-31"]),
        (["2024-05-03T12:00:00+02:00", "2024-05-03T10:00:00Z"], "time", [datetime(2024, 5, 3, 10, tzinfo=UTC)] * 2),
        (["2024-05-03T12:00:00"], "text", ["2024-05-03T12:00:00"]),
        (["\u0662\u0660\u0662\u0664-05-03"], "text", ["\u0662\u0660\u0662\u0664-05-03"]),
        ([[1], [], [2.5]], ("list", "real"), [[1.0], [], [2.5]]),
        ([[], None], ("list", "text"), [[], None]),
        ([[1], 2], "json", ["[1]", "2"]),
        (
            [{"a": "1", "b": None}, {"a": "2"}],
            ("object", {"a": "text", "b": "text"}),
            [{"a": "1", "b": None}, {"a": "2", "b": None}],
        ),
        ([{}], "json", ["{}"]),
        ([{"a": 1, "A": 2}], "json", ['{"a": 1, "A": 2}']),
        ([[{"a": [1]}]], ("list", ("object", {"a": ("list", "int")})), [[{"a": [1]}]]),
    ],
)
def test_a_shape_holds_all_values(values: list[Any], shape: ValueShape, made: list[Any]) -> None:
    assert shape_of(values) == shape
    assert pa.array([shaped(value, shape) for value in values], arrow_type(shape)).to_pylist() == made


def test_what_is_deep_wide_or_much_is_json() -> None:
    assert str(shape_of([DEEP])).endswith("'json'" + ")" * DEEPEST)
    assert shape_of([{f"n{number}": 1 for number in range(WIDEST + 1)}]) == "json"
    room = SeenPlaces(100)
    wide = [{f"n{number}": {f"m{below}": 1 for below in range(100)} for number in range(100)}] * 2
    assert shape_of(wide, room) == "json" and room.left == 0
    assert isinstance(shape_of(wide[:1] * 3), tuple)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aZ2024-:T+"),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from("abAB"), below, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=5), st.lists(JSON, max_size=2))
def test_whatever_comes_arrow_takes_it_also_what_was_not_seen(values: list[Any], later: list[Any]) -> None:
    shape = shape_of(values)
    array = pa.array([shaped(value, shape) for value in [*values, *later]], arrow_type(shape))
    assert [value is None for value in array.to_pylist()[: len(values)]] == [value is None for value in values]


@pytest.mark.parametrize("new", [table_files.Sqlite, table_files.DuckDb])
def test_databases_take_whatever_names_and_numbers_pages_have(
    new: Callable[..., table_files.TableWriter], tmp_path: Path
) -> None:
    fields: dict[str, Any] = {"a": 1, "a\0": 2, "": 3, "\ud800": 4, "?": 5, "A": 6, 'q"': 7, "_url": 8}
    fields |= {"large": 2**70, "below": {"\ud800": 2, "\0": 1}, "_key_2": [{"\0": 1}]}
    seen = {name: Seen(SeenPlaces()) for name in fields}
    for name, value in fields.items():
        seen[name].add(value)
    table = _table("r/x", {name: values.shape() for name, values in seen.items()})
    assert len({column.name.lower() for column in table.columns}) == len(table.columns)
    ours: tuple[Any, ...] = ("u", "k", "h", 1, 0, "i", "r", "1", None, "new", [], 1.0, None, None)
    writer = new(table, tmp_path / "t.db", add=False)
    writer.put((*ours[: len(OURS)], *fields.values()))
    writer.close()
    assert (tmp_path / "t.db").stat().st_size > 0

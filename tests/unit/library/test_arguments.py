"""Arguments of Python as settings, as if they stood on the command line."""

from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.library.arguments import settings


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("delay", 2, 2.0),
        ("delay", "2", 2.0),
        ("sitemaps", True, True),
        ("sitemaps", False, False),
        ("include", ["http://a.test/*", "http://b.test/*"], ("http://a.test/*", "http://b.test/*")),
        ("include", ("http://a.test/*",), ("http://a.test/*",)),
        ("host_table", Path("x.table"), "x.table"),
    ],
)
def test_a_value_is_read_as_one_of_its_setting(name: str, value: object, field: object, tmp_path: Path) -> None:
    in_force = settings(tmp_path / "data", {name: value})
    assert getattr(in_force.config, name) == field
    assert in_force.config.data == str(tmp_path / "data")


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [("dely", 1, "did you mean delay?"), ("delay", None, "delay wants a text"), ("delay", "soon", "delay")],
)
def test_what_is_none_is_one_line(name: str, value: object, part: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        settings(tmp_path / "data", {name: value})
    assert part in str(caught.value) and "\n" not in str(caught.value)

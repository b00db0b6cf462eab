"""Arguments of Python as settings, as if they stood on the command line."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gregor
from gregor.schemas.messages import Page
from gregor.worker.base.errors import BadInput
from gregor.worker.library.archive import _selected
from gregor.worker.library.arguments import settings
from gregor.worker.library.page import CannotSelect, StoredPage, read_rules


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


@pytest.mark.parametrize(
    "seeds", [b"http://x/", [None], ["http://x.test/", 5], 5, None, {"http://x.test/": b""}.values()]
)
def test_seeds_that_are_no_texts_are_one_line(seeds: Any, tmp_path: Path) -> None:
    with pytest.raises(gregor.BadInput, match=r"^seeds wants a text, not \w+$"):
        gregor.Crawl(seeds, data=tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        ({"host": 5}, "host wants a text, not int"),
        ({"host": b"a.test"}, "host wants a text, not bytes"),
        ({"state": 5}, "5 is no state"),
        ({"since": math.nan}, "since wants unix seconds"),
        ({"since": math.inf}, "since wants unix seconds"),
        ({"since": 10**400}, "since wants unix seconds"),
    ],
)
def test_what_chooses_no_page_is_one_line(choice: dict[str, Any], part: str) -> None:
    with pytest.raises(gregor.BadInput, match=part):
        _selected(**choice)


@pytest.mark.parametrize("files", [5, None, [None], b"rules.toml"])
def test_rules_that_are_no_files_are_one_line(files: Any) -> None:
    with pytest.raises(gregor.BadInput, match="rules wants a text, not"):
        read_rules(files)


@pytest.mark.parametrize(
    ("body", "ask", "part"),
    [
        ("<p>", lambda page: page.css("h1["), "no CSS selector"),
        ("<p>", lambda page: page.css(None), "selector wants a text, not NoneType"),
        ("<p>", lambda page: page.xpath("//p["), "no XPath"),
        ("<p>", lambda page: page.json("foo(a)"), "there is no function foo"),
        ("<script type=application/json>1</script>", lambda page: page.json("length(@)"), "cannot be reckoned"),
        ("<b>" * 600, lambda page: page.xpath("//b"), "nested more than 512 deep"),
        ("<p>", lambda page: page.schema(5), "kind wants a text, not int"),
    ],
)
def test_what_a_page_cannot_be_asked_is_told_by_a_public_name(
    body: str, ask: Callable[[StoredPage], object], part: str
) -> None:
    stored = Page("http://a.test/", "http://a.test/", "a.test", 1, "page", 200, 0.0, content_type="text/html")
    with pytest.raises(gregor.BadInput, match=part) as caught:
        ask(StoredPage(stored, lambda _: body.encode()))
    assert isinstance(caught.value, CannotSelect) or "wants a text" in part
    assert "\n" not in str(caught.value)

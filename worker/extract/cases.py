"""The tests of rules: saved pages with the items that are expected of them, kept in the rules file or beside it."""

import json
from collections.abc import Iterator
from datetime import date, time
from pathlib import Path
from typing import Any, Final

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.extract.fields import FieldReader
from gregor.worker.extract.items import extract
from gregor.worker.extract.located import Located, ValuePath, load
from gregor.worker.extract.model import Example, Rule
from gregor.worker.extract.page import PageFacts, Parsed
from gregor.worker.extract.rules import CASE
from gregor.worker.extract.writing import OURS, read_lines
from gregor.worker.read.document import Document
from gregor.worker.web.urls import Urls

_MOST: Final = 16 << 20
_URLS: Final = Urls()


def cases(path: Path) -> list[Example]:
    """The ``[[test]]`` tables of a rules file. Raises `BadInput`, also when there is none."""
    located = load(path)
    tables = located.data.get("test")
    if not isinstance(tables, list) or not tables:
        raise BadInput(f"{one_line(str(path))} has no test: each begins with [[test]], and has page, url and items")
    return [_case(located, table, ("test", index)) for index, table in enumerate(tables)]


def _case(located: Located, table: Any, place: ValuePath) -> Example:
    reader = FieldReader(located)
    if not isinstance(table, dict):
        raise located.refuse(place, "a test is a table: it begins with [[test]]")
    reader.only(table, place, CASE)
    name, url = reader.word(table, place, "page"), reader.word(table, place, "url")
    if name is None or url is None or _URLS.parse(url) is None:
        raise located.refuse(place, "a test needs page, a file beside the rules, and url, the page's http(s) URL")
    if ("items" in table) == ("expected" in table):
        raise located.refuse(place, "a test has items = […], or expected = a file of JSON lines beside the rules")
    body = _read(located, name, (*place, "page"))
    media = reader.word(table, place, "type") or _media(name)
    facts = PageFacts(url=url, language=reader.word(table, place, "language") or "")
    items = table["items"] if "items" in table else _expected(located, reader, table, place)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise located.refuse((*place, "items"), "items is a list of tables, one for each item that is expected")
    expected = [_as_text(item) for item in items]
    return Example(Parsed(Document(url, body, media), facts), expected, name, located.line(place))


def _as_text(value: Any) -> Any:
    """A value of TOML as items have it: dates and times are texts there."""
    if isinstance(value, dict):
        return {name: _as_text(below) for name, below in value.items()}
    if isinstance(value, list):
        return [_as_text(below) for below in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _media(name: str) -> str:
    """The media type of a saved page by its file's name."""
    kinds = {".json": "application/json", ".xml": "application/xml", ".txt": "text/plain"}
    return kinds.get(Path(name).suffix.lower(), "text/html")


def _expected(located: Located, reader: FieldReader, table: dict[str, Any], place: ValuePath) -> list[dict[str, Any]]:
    name = reader.word(table, place, "expected") or ""
    raw = _read(located, name, (*place, "expected"))
    try:
        if raw.lstrip()[:1] == b"[":
            items = json.loads(raw)
            if not all(isinstance(item, dict) for item in items):
                raise ValueError("its members are no objects")
            return list(items)
        return list(read_lines(raw.splitlines()))
    except (ValueError, RecursionError) as error:
        raise located.refuse((*place, "expected"), f"{one_line(name)} has no JSON lines: {why(error)}") from None


def _read(located: Located, name: str, place: ValuePath) -> bytes:
    path = located.path.parent / name
    try:
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError as error:
        raise located.refuse(place, f"cannot read {one_line(str(path))}: {why(error)}") from None


def differences(rules: tuple[Rule, ...], case: Example) -> Iterator[str]:
    """How what the rules give differs from what is expected, a line each; none if it does not.

    Of an expected item only what it names is compared; what it names with null must be null or not there.
    """
    url = _URLS.parse(case.page.facts.url)
    assert url is not None
    extracted = extract(rules, case.page, url)
    got: list[dict[str, Any]] = [{"_item": item.item, "_rule": item.rule, **item.fields} for item in extracted.items]
    wrong = list(_compared(case.items, got))
    yield from wrong
    if wrong:
        yield from (f"lost: {loss.rule}: {loss.cause}" for loss in extracted.losses)


def _compared(expected: list[dict[str, Any]], got: list[dict[str, Any]]) -> Iterator[str]:
    for number, (wanted, item) in enumerate(zip(expected, got, strict=False), 1):
        for name, value in wanted.items():
            if name not in OURS[2:] and item.get(name) != value:  # those tell where and when it was found
                yield f"item {number}: {name}: expected {_shown(value)}, got {_shown(item.get(name))}"
    if len(got) != len(expected):
        yield f"{len(expected)} items expected, got {len(got)}"
        yield from (f"got beside: {_shown(item)}" for item in got[len(expected) :][:3])


def _shown(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), 300)

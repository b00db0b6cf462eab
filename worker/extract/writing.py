"""Items for other programs: JSON lines, and CSV that no spreadsheet runs."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

import msgspec

from gregor.worker.extract.model import Item, Rule
from gregor.worker.extract.page import PageFacts

OURS: Final = ("_item", "_rule", "_url", "_fetched_at", "_language")
"""What stands before the fields of an item: whose it is, where and when it was found, and the language of its page."""
MOST_COLUMNS: Final = 1000
"""Columns of a CSV: of entities the pages say what properties they have."""
_RUN: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a cell begins with that Excel, LibreOffice or Sheets takes for a formula (OWASP, "CSV Injection")."""


def record(item: Item, facts: PageFacts) -> dict[str, Any]:
    """An item as one flat object; names that begin with _ are ours."""
    return {
        "_item": item.item,
        "_rule": item.rule,
        "_url": facts.url,
        "_fetched_at": facts.fetched_at,
        "_language": facts.language or None,
        **item.fields,
    }


def encode(value: object) -> bytes:
    """One line of JSON, with its end. What Unicode has no character for is a question mark."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except (UnicodeEncodeError, OverflowError):  # half a surrogate pair, a number beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def columns(rules: Iterable[Rule]) -> list[str]:
    """Those that the rules name."""
    return list(dict.fromkeys([*OURS, *(column for rule in rules for column in rule.columns())]))


def to_csv(lines: BinaryIO, declared: list[str], file: BinaryIO) -> int:
    """Write JSON lines, which can be read twice, as CSV: the known columns, then those that the lines have beside.

    Objects have a column for each value, with a dot in its name; lists are JSON. Returns how many columns were left
    out beyond the most.
    """
    names, undivided = dict.fromkeys(declared), frozenset(declared)
    left_out: set[str] = set()
    for line in lines:
        for name, value in _flat(json.loads(line), undivided).items():
            if name not in names and value is not None:
                if len(names) < MOST_COLUMNS:
                    names[name] = None
                elif len(left_out) < MOST_COLUMNS:
                    left_out.add(name)
    lines.seek(0)
    text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="", write_through=True)
    try:
        writer = csv.writer(text)
        writer.writerow([defused(name) for name in names])
        for line in lines:
            cells = _flat(json.loads(line), undivided)
            writer.writerow([_cell(cells.get(name)) for name in names])
    finally:
        text.detach()
    return len(left_out)


def _flat(value: dict[str, Any], undivided: frozenset[str], prefix: str = "") -> dict[str, Any]:
    """The values of an object by column. An object that a rule has as one value stays ``undivided``."""
    cells: dict[str, Any] = {}
    for key, below in value.items():
        name = prefix + key
        if isinstance(below, dict) and name not in undivided:
            cells |= _flat(below, undivided, f"{name}.")
        else:
            cells[name] = below
    return cells


def _cell(value: Any) -> object:
    if isinstance(value, str):
        return defused(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


def defused(text: str) -> str:
    """A text that a spreadsheet shows and does not run: an apostrophe goes before what would begin a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_RUN) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    """Whether it is a mere number, which may have a sign."""
    digits = text.removeprefix("-").removeprefix("+") if text[:1] in "+-" else text
    return digits.replace(".", "", 1).isdecimal() and digits.isascii()


def read_lines(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The objects of JSON lines. Raises ValueError for what is none."""
    for line in lines:
        if line.strip():
            value = json.loads(line)
            if not isinstance(value, dict):
                raise ValueError("a line is no object")
            yield value

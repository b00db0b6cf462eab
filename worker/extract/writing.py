"""Items for other programs: JSON lines, and CSV that no spreadsheet runs."""

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from gregor.worker.extract.json_text import DEEPEST
from gregor.worker.extract.model import Item, Rule

if TYPE_CHECKING:
    from gregor.worker.extract.page import PageFacts  # heavy: every crawl writes items, few take any

OURS: Final = ("_item", "_rule", "_url", "_fetched_at", "_language")
"""What stands before the fields of an item: whose it is, where and when it was found, and the language of its page."""
MOST_COLUMNS: Final = 1000
"""Columns of a CSV: of entities the pages say what properties they have."""
_RUN: Final = ("=", "+", "-", "@")
"""What a cell begins with that Excel, LibreOffice or Sheets takes for a formula (OWASP, "CSV Injection"), also in their
full-width and small forms."""
_BREAKS: Final = ("\t", "\r", "\n")
_UNSEEN: Final = re.compile(r"[\s\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")
"""White space, controls and what has no width: what may be passed over before a formula."""


def record(item: Item, facts: "PageFacts") -> dict[str, Any]:
    """An item as one flat object; names that begin with _ are ours."""
    return {
        "_item": item.item,
        "_rule": item.rule,
        "_url": facts.url,
        "_fetched_at": facts.fetched_at,
        "_language": facts.language or None,
        **item.fields,
    }


class Unsayable(ValueError):
    """Says in words what of an item's fields cannot be kept."""


def plain(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """What code of others made, as JSON has it: dates, for example, are texts then. Raises TypeError or ValueError for
    what JSON cannot say, nests too deep, or would take the place of what is ours (`record`)."""
    if _deeper(fields, DEEPEST):
        raise Unsayable(f"its values are nested more than {DEEPEST} deep")
    sayable = msgspec.to_builtins(dict(fields))
    _check(sayable)
    if any(name.startswith("_") for name in sayable):
        raise Unsayable("a field's name begins with _")
    made: dict[str, Any] = json.loads(encode(sayable))
    return made


def _check(value: object) -> None:
    """Raises `Unsayable` for what would be another value in JSON."""
    if isinstance(value, dict):
        for name, below in value.items():
            if not isinstance(name, str):
                raise Unsayable("a name in it is no text")
            _check(below)
    elif isinstance(value, list | tuple):
        for below in value:
            _check(below)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Unsayable("a number in it is not finite")


def _deeper(value: object, levels: int) -> bool:
    """Whether a value is nested in more levels."""
    if isinstance(value, Mapping):
        return levels == 0 or any(_deeper(below, levels - 1) for below in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return levels == 0 or any(_deeper(below, levels - 1) for below in value)
    return False


def encode(value: object) -> bytes:
    """One line of JSON, with its end. What Unicode has no character for is a question mark."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except (UnicodeEncodeError, OverflowError):  # half a surrogate pair, a number beyond 64 bits
        value = _finite(msgspec.to_builtins(value, str_keys=True))
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _finite(value: Any) -> Any:
    """A value without numbers that JSON has not: they are null, as msgspec has them."""
    if isinstance(value, dict):
        return {name: _finite(below) for name, below in value.items()}
    if isinstance(value, list):
        return [_finite(below) for below in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
    if text[:1].isalnum():  # most of them
        return text
    unseen = _UNSEEN.match(text)
    begin = text[unseen.end() :] if unseen else text
    runs = unicodedata.normalize("NFKC", begin[:1]) in _RUN or text.lstrip(" ").startswith(_BREAKS)
    return f"'{text}" if runs and not _is_number(text) else text


def _is_number(text: str) -> bool:
    """Whether it is a mere number, which may have a sign."""
    digits = text.removeprefix("-").removeprefix("+") if text[:1] in "+-" else text
    return digits.replace(".", "", 1).isdecimal() and digits.isascii()


def read_lines(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The objects of JSON lines. Raises ValueError for what is none, with its line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise ValueError(f"line {number} is no JSON") from None
            if not isinstance(value, dict):
                raise ValueError(f"line {number} is no object")
            yield value

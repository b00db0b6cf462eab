"""The types of JSON values as tables have them: seen in the values, told to Arrow. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

ValueShape = str | tuple[str, Any]
""" "text", "int", "real", "bool", "date", "time" (with its offset) or "json", a text of JSON; ("list", the shape of its
members); ("object", shapes by name)."""

DEEPEST: Final = 8
"""Lists and objects in each other; what is in deeper ones is JSON."""
WIDEST: Final = 200
"""Names of an object; one with more is JSON."""
_INT: Final = 1 << 63
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class SeenPlaces:
    """How many places are told apart in all: pages say what names there are."""

    def __init__(self, places: int = 20_000) -> None:
        self.left = places


class Seen:
    """What was seen of the values at one place."""

    __slots__ = ("_fields", "_kinds", "_members", "_room")

    def __init__(self, room: SeenPlaces) -> None:
        room.left -= 1
        self._room = room
        self._kinds: set[str] = set()
        self._members: Seen | None = None
        self._fields: dict[str, Seen] = {}

    def add(self, value: Any, depth: int = 0) -> None:
        """One more value; null says nothing."""
        if value is None or "json" in self._kinds:
            return
        kind = _kind(value)
        if kind in ("list", "object") and (depth == DEEPEST or (self._room.left <= 0 and kind not in self._kinds)):
            kind = "json"
        self._kinds.add(kind)
        if kind == "list":
            self._members = self._members or Seen(self._room)
            for member in value:
                self._members.add(member, depth + 1)
        elif kind == "object":
            self._look_in(value, depth)

    def _look_in(self, value: Mapping[str, Any], depth: int) -> None:
        fields = self._fields
        for name, below in value.items():
            if name not in fields:
                alike = any(name.lower() == other.lower() for other in fields)  # which databases take for the same
                if alike or name != sound(name) or len(fields) == WIDEST or self._room.left <= 0:
                    self._kinds.add("json")
                    fields.clear()
                    return
                fields[name] = Seen(self._room)
            fields[name].add(below, depth + 1)

    def shape(self) -> ValueShape:
        """The one that holds them all."""
        kinds = self._kinds
        if not kinds or kinds <= {"text", "date", "time"}:
            return next(iter(kinds)) if len(kinds) == 1 else "text"
        if kinds == {"int", "real"}:
            return "real"
        if len(kinds) > 1 or "json" in kinds:
            return "json"
        (kind,) = kinds
        if kind == "list":
            return "list", self._members.shape() if self._members is not None else "text"
        if kind == "object":
            fields = {name: below.shape() for name, below in self._fields.items()}
            return ("object", fields) if fields else "json"
        return kind


def sound(name: str) -> str:
    """A name as all tables take one: without halves of surrogate pairs and U+0000."""
    return name.encode("utf-8", "replace").decode().replace("\0", "")


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if -_INT <= value < _INT else "json"
        case float():
            return "real"
        case list():
            return "list"
        case Mapping():
            return "object"
    if _DATE.fullmatch(value) and _as(date, value) is not None:
        return "date"
    return "time" if _TIME.fullmatch(value) and _as(datetime, value) is not None else "text"


def _as(kind: type[date] | type[datetime], value: str) -> date | None:
    try:
        return kind.fromisoformat(value)
    except ValueError:
        return None


def shaped(value: Any, shape: ValueShape) -> Any:
    """A value as Arrow takes it. What is not of the shape, since it is newer than what was seen, is null."""
    if value is None:
        return None
    if isinstance(shape, tuple):
        kind, below = shape
        if kind == "list":
            return [shaped(member, below) for member in value] if isinstance(value, list) else None
        fields = value if isinstance(value, Mapping) else None
        return None if fields is None else {name: shaped(fields.get(name), each) for name, each in below.items()}
    if shape == "json":
        return json.dumps(value, ensure_ascii=False)
    if shape == "text":
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    kind = _kind(value)
    if shape == "real" and kind in ("int", "real"):
        return float(value)
    if kind != shape:
        return None
    return _as(date, value) if kind == "date" else _as(datetime, value) if kind == "time" else value


def arrow_type(shape: ValueShape) -> Any:
    """The type of Arrow, which must be installed."""
    import pyarrow as pa

    if isinstance(shape, tuple):
        kind, below = shape
        if kind == "list":
            return pa.list_(arrow_type(below))
        return pa.struct([(name, arrow_type(each)) for name, each in below.items()])
    types = {"int": pa.int64(), "real": pa.float64(), "bool": pa.bool_(), "date": pa.date32()}
    return pa.timestamp("us", tz="UTC") if shape == "time" else types.get(shape, pa.string())

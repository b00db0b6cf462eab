"""Which settings are times: they may be written with a unit, as in ``stale_after = "30d"``. Pure."""

from functools import cache
from typing import Final

from msgspec import Meta, Struct
from msgspec import inspect as types

from gregor.worker.base.spans import seconds

_UNIT: Final = {"unit": "seconds"}
SECONDS: Final = Meta(extra=_UNIT)
"""Marks a setting whose value is seconds."""


def is_time(kind: types.Type) -> bool:
    """Whether the type of a setting, or an alternative of it, is marked."""
    if isinstance(kind, types.UnionType):
        return any(map(is_time, kind.types))
    return isinstance(kind, types.Metadata) and kind.extra == _UNIT


@cache
def times_of(settings: type[Struct]) -> frozenset[str]:
    """The names of the settings that are times."""
    info = types.type_info(settings)
    assert isinstance(info, types.StructType)
    return frozenset(field.name for field in info.fields if is_time(field.type))


def in_seconds(value: object) -> object:
    """The value of a time in seconds if it is a text with a unit, as it is otherwise."""
    if not isinstance(value, str) or value.strip()[-1:].isdigit() or (span := seconds(value)) is None:
        return value
    return int(span) if span.is_integer() else span

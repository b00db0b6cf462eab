"""What the installed distributions offer. All of them are looked through once: each look reads a file of every one."""

import importlib.metadata
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any


@cache
def _all() -> Any:
    """Its type has another name from one version of Python to the next."""
    return importlib.metadata.entry_points()


def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, as they were when any was asked for first."""
    return tuple(_all().select(group=group))

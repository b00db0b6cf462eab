"""Spans of time as people write them, in settings, flags and orders alike. Pure."""

import re
from typing import Final

_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

WRITTEN: Final = "seconds, or a time such as 90s, 45m, 12h, 30d or 2w"


def seconds(text: str) -> float | None:
    """Seconds, of "90", "45m", "12h", "1d", "2w"; None for any other text."""
    match = _SPAN.fullmatch(text.strip().lower())
    return None if match is None else float(match[1]) * _UNITS[match[2]]

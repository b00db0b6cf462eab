"""Numbers as people read them. Pure."""

import re
from typing import Final

_WITH_Y: Final = re.compile("[^aeiou]y$")
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")


def count(number: int, noun: str) -> str:
    """ "1 page", "2 pages", "2 bodies"."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if _WITH_Y.search(noun) else f"{number} {noun}s"


def size(number: float) -> str:
    """Bytes in the unit in which they are read most easily."""
    unit = 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.0f} B" if not unit else f"{number:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """ "0.4 s", "12 s", "3 min 05 s", "2 h 03 min"."""
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02} min"

"""JSON as pages have it: bounded, and read though scripts wrap it."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

DEEPEST: Final = 64
"""Levels of what JSON nests; what is deeper is left out."""
LARGEST: Final = 200_000
"""Values of one JSON document that are kept; the rest is left out."""
TOO_DEEP: Final = f"JSON more than {DEEPEST} levels deep"
"""What is said of it."""
_QUOTED: Final = r"""(?:"((?:[^"\\\n]++|\\.)*+)"|'((?:[^'\\\n]++|\\.)*+)')"""
_GIVEN: Final = re.compile(
    rf"""(?:=|\bpush\()\s*+(?=\{{\s*"|\[\s*["\[{{\d\-tfn])|\bJSON\.parse\(\s*+{_QUOTED}""",
)
_ESCAPE: Final = re.compile(r"(?s)\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
MOST_GIVEN: Final = 10_000
"""Values that one script may assign."""
FAILURES: Final = 100
"""Values in a script that begin as JSON and are none, after which nothing more of it is looked at: each may cost it."""
_DECODER: Final = json.JSONDecoder(strict=False)
_BEGINS: Final = ("{", "[", "/", "<")
"""What JSON begins with that has comments, or marks of XML, around it."""
# Each alternative goes on to the end where nothing ends it, so that none is tried twice over the same text; what a
# string has is not given back, or a place to go back to would be kept for each of its characters.
_STRING: Final = r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)'
_COMMENT: Final = re.compile(rf"(?s)({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)|<!\[CDATA\[|\]\]>")
_COMMA: Final = re.compile(rf"(?s)({_STRING})|,(?=\s*[\]}}])")


def in_script(source: str, left_out: set[str]) -> Iterator[Any]:
    """The JSON of a script: all of it, also as JavaScript would have it, or each object and list that it assigns,
    pushes or parses (``JSON.parse('…')``) and that has something in it. ``left_out`` gets what of it is beyond the
    bounds."""
    for text in (source, _without_marks(source)):
        if values := list(read(text, left_out)):
            yield from values
            return
    yield from _values_in(source, left_out)


def _values_in(source: str, left_out: set[str]) -> Iterator[Any]:
    at = count = failures = 0
    while (begin := _GIVEN.search(source, at)) is not None:
        if count == MOST_GIVEN or failures > FAILURES:
            what = f"{MOST_GIVEN} values" if count == MOST_GIVEN else f"{FAILURES} values that are no JSON"
            left_out.add(f"a script with more than {what}")
            return
        at = begin.end()
        if begin.lastindex is not None:
            values = list(read(_said(begin[begin.lastindex]), left_out))
        else:
            values, at = _decoded(source, at, left_out)
        count += len(values)
        failures += not values
        yield from values


def _decoded(source: str, at: int, left_out: set[str]) -> tuple[list[Any], int]:
    """The value that begins at a place, bounded, if it is one, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(source, at)
    except ValueError:
        return [], at
    except RecursionError:
        left_out.add(TOO_DEEP)
        return [], at
    return [bounded(value, left_out)], end


def read(source: str, left_out: set[str]) -> Iterator[Any]:
    """The value of a JSON text, bounded; nothing for what is none. HTML's comment marks around it are no part of it.
    ``left_out`` gets what of it is beyond the bounds."""
    source = source.strip().removeprefix("<!--").removesuffix("-->").strip().removesuffix(";")
    try:
        value = _DECODER.decode(source)
    except ValueError:
        return
    except RecursionError:
        left_out.add(TOO_DEEP)
        return
    yield bounded(value, left_out)


def bounded(value: Any, left_out: set[str]) -> Any:
    """A JSON value without what is nested too deep, and without what comes after the `LARGEST`-th value."""
    left = LARGEST

    def has_room() -> bool:
        if left <= 0:
            left_out.add(f"JSON of more than {LARGEST} values")
        return left > 0

    def kept(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if isinstance(value, dict):
            if depth == DEEPEST:
                left_out.add(TOO_DEEP)
                return None
            return {key: kept(below, depth + 1) for key, below in value.items() if has_room()}
        if isinstance(value, list):
            if depth == DEEPEST:
                left_out.add(TOO_DEEP)
                return None
            return [kept(below, depth + 1) for below in value if has_room()]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return kept(value, 0)


def _without_marks(source: str) -> str:
    """A script without what JavaScript and XML allow in it and JSON does not: comments, CDATA, a comma at the end of a
    list; "" for one that cannot be JSON anyway."""
    if not source.lstrip().startswith(_BEGINS):
        return ""
    return _COMMA.sub(_strings, _COMMENT.sub(_strings, source))


def _strings(match: re.Match[str]) -> str:
    return match[1] or ""


def _said(literal: str) -> str:
    """What a string of JavaScript says, without its quotes."""
    said = _ESCAPE.sub(_unescaped, literal)
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two escapes may be one character


def _unescaped(match: re.Match[str]) -> str:
    """What an escape of a string of JavaScript stands for."""
    if code := match[1] or match[2]:
        return chr(int(code, 16))
    return _ESCAPED.get(match[3], match[3])

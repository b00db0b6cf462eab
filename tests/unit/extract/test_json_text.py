"""JSON as scripts have it."""

import tracemalloc
from typing import Any

import pytest

from gregor.worker.extract import json_text


@pytest.mark.parametrize(
    ("script", "values"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('<!-- {"a": 1} -->', [{"a": 1}]),
        ('//<![CDATA[\n{"a": "http://b//c/*d*/", "e": "f,]"}\n//]]>', [{"a": "http://b//c/*d*/", "e": "f,]"}]),
        ('/*<![CDATA[*/{"a": [1, 2,],}/*]]>*/;', [{"a": [1, 2]}]),
        ('<![CDATA[{"a": "]]>"}]]>', [{"a": "]]>"}]),
        ('// said by a generator\n{"a": 1 /* or 2 */}', [{"a": 1}]),
        ('window.a = {"b": 1}; window.c = 2', [{"b": 1}]),
        ("{'a': 1}", []),
        ("[1,,2]", []),
        ('{"a": "\\\\', []),
        ('{"a":' + '"\\"' * 100_000, []),
        ("{" + "/*" * 100_000, []),
    ],
)
def test_what_a_script_says(script: str, values: list[Any]) -> None:
    assert list(json_text.in_script(script, set())) == values


@pytest.mark.parametrize("string", ['"' + "x" * 200_000 + '",', '"' + '\\"' * 100_000 + '",', '"' + "x" * 200_000])
def test_a_long_string_takes_a_few_times_its_room(string: str) -> None:
    tracemalloc.start()
    try:
        list(json_text.in_script(f'{{"a": {string}}}', set()))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20

"""JSON as scripts have it."""

import time
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
        ('window.A = {"v":1}; window.B = {"w": [2]};', [{"v": 1}, {"w": [2]}]),
        ('var a = {}, b=[ ], c = [1], d={b: 1}, e = {"f": g}, h = ["{"];', [[1], ["{"]]),
        (
            'self.__next_f.push([1,{"a":[2]}]);self.__next_f.push([3,"b = {\\"c\\": 4}"])',
            [[1, {"a": [2]}], [3, 'b = {"c": 4}']],
        ),
        (
            'a = JSON.parse(\'{"b": "it\\\'s \\\\u00e9 \\ud83d\\ude00 \\x41"}\'); c = [5]',
            [{"b": "it's \u00e9 \U0001f600 A"}, [5]],
        ),
        ('JSON.parse("[{\\"a\\": 1}]")', [[{"a": 1}]]),
        ("JSON.parse('{') || JSON.parse(a) || JSON.parse('[1]", []),
        ("{'a': 1}", []),
        ("[1,,2]", []),
        ('{"a": "\\\\', []),
        ('{"a":' + '"\\"' * 100_000, []),
        ("{" + "/*" * 100_000, []),
    ],
)
def test_what_a_script_says(script: str, values: list[Any]) -> None:
    assert list(json_text.in_script(script, set())) == values


@pytest.mark.parametrize(
    ("script", "values", "cause"),
    [
        ('={"a":1};' * 10_000, 10_000, set()),
        ('={"a":1};' * 10_001, 10_000, {"a script with more than 10000 values"}),
        ('={"a":b};' * 100 + '={"a":1}', 1, set()),
        ('={"a":b};' * 101 + '={"a":1}', 0, {"a script with more than 100 values that are no JSON"}),
        ("=" + "[" * 100_000 + ';={"a":1}', 1, {json_text.TOO_DEEP}),
    ],
    ids=range(5),
)
def test_what_a_script_assigns_is_bounded(script: str, values: int, cause: set[str]) -> None:
    left_out: set[str] = set()
    assert len(list(json_text.in_script("window.a" + script, left_out))) == values
    assert left_out == cause


@pytest.mark.parametrize(
    "piece",
    ['={"a":1};', '={"a":b};', '=["', '=[["', "=" * 9, "=[" * 4, '={"', "= \n", 'push([1,"', "JSON.parse('",
     'JSON.parse("\\\'',
     "JSON.parse('[\\\"=[1,\\\"]')", '"=[1,",', '=["=[\\"', "=[1,2,{", "push(" + " " * 40, '={"a":' + " " * 99],
)  # fmt: skip
def test_a_script_made_to_be_slow_is_read_in_a_time_of_its_length(piece: str) -> None:
    times = []
    for size in (1 << 16, 1 << 18):
        begun = time.process_time()
        list(json_text.in_script("a " + piece * (size // len(piece)), set()))
        times.append(time.process_time() - begun)
    assert times[1] < 0.1 + 10 * times[0] and times[1] < 2.0


@pytest.mark.parametrize("string", ['"' + "x" * 200_000 + '",', '"' + '\\"' * 100_000 + '",', '"' + "x" * 200_000])
def test_a_long_string_takes_a_few_times_its_room(string: str) -> None:
    tracemalloc.start()
    try:
        list(json_text.in_script(f'{{"a": {string}}}', set()))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20

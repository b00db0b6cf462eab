"""Dates of cookies and spans beside the standard, as servers write them."""

import calendar
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.web.http_headers import LONGEST
from gregor.worker.web.loose_values import cookie_date, loose_span

MOMENT = float(calendar.timegm((2017, 4, 15, 21, 1, 22)))


@pytest.mark.parametrize(
    "text",
    [
        "Sat, 15 Apr 2017 21:01:22 GMT",
        "Sat, 15-Apr-2017 21:01:22 GMT",
        "Sat, 15-Apr-17 21:01:22 GMT",
        "Saturday, 15-Apr-17 21:01:22 GMT",
        "Sat Apr 15 21:01:22 2017",
        "Sat Apr 15 2017 21:01:22 GMT+0000 (Coordinated Universal Time)",
        "Sat Apr 15 21:01:22 CET 2017",  # every date is UTC, whatever it names
        "Sat, 15 Apr 2017 21:01:22 PST",
        "Sat, 15 Apr 2017 21:01:22 +0900",
        "Sat, 15 Apr 2017 21:01:22 Europe/Berlin",
        "15 Apr 2017 21:01:22",
        "Apr 15 2017 21:01:22 GMT",
        "2017 15 Apr 21:01:22",  # four digits are no day
        "21:01:22 15 april 2017",
        "Xyz, 15 Aprxyz 2017 21:01:22 Xyz",
        "15/Apr/2017 21:01:22",
        "15.April.2017;21:01:22",
        "15th Apr 2017 21:01:22h",
        "\t15,Apr,2017,21:01:22 ",
        "15 Apr 017 21:01:22",  # the year of three digits is 17
    ],
)
def test_a_cookies_date_in_all_its_forms(text: str) -> None:
    assert cookie_date(text) == MOMENT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thu, 1 Jan 1970 0:0:0 GMT", 0.0),
        ("Thu, 01 Jan 70 00:00:00 GMT", 0.0),
        ("Mon, 1 Jan 69 0:0:0 GMT", float(calendar.timegm((2069, 1, 1, 0, 0, 0)))),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799.0),
        ("Thu, 01 Jan 1600 00:00:00 GMT", None),
        ("1970-01-01T00:00:00Z", None),  # no name of a month
        ("Sat, 15 04 2017 21:01:22 GMT", None),
        ("Sat, 31 Apr 2017 21:01:22 GMT", None),
        ("Sat, 15 Apr 2017 24:01:22 GMT", None),
        ("Sat, 15 Apr 2017 21:60:22 GMT", None),
        ("Sat, 15 Apr 2017 21:01:60 GMT", None),
        ("Sat, 00 Apr 2017 21:01:22 GMT", None),
        ("Sat, 15 Apr 2017 21:01 GMT", None),
        ("15 Apr 21:01:22", None),
        ("0", None),
        ("", None),
    ],
)
def test_a_cookies_date_and_what_is_none(text: str, expected: float | None) -> None:
    assert cookie_date(text) == expected


@given(st.integers(0, 4_000_000_000), st.sampled_from(["%a, %d %b %Y %H:%M:%S GMT", "%d-%b-%Y %H:%M:%S", "%c UTC"]))
def test_a_cookies_date_is_what_was_written(moment: int, form: str) -> None:
    assert cookie_date(time.strftime(form, time.gmtime(moment))) == moment


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2 s", 2.0),
        ("2s", 2.0),
        ("5.5", 5.5),
        ("3600.5", 3600.5),
        (".5", 0.5),
        ("120 seconds", 120.0),
        ("10 Minutes", 600.0),
        ("1 hour", 3600.0),
        ("1 h 30 min", 5400.0),
        ("2 days", 172_800.0),
        ("1500 ms", 1.5),
        ("5, 10", 10.0),
        ("10;5", 10.0),
        ("9" * 18, LONGEST),
        ("1970-01-01T00:02:00Z", 60.0),
        ("1970-01-01 00:00:00", 0.0),
        ("31 Dec 1970 25:00:00", None),
        ("5 apples", None),
        ("in 120 seconds", 120.0),
        ("try again in 1 hour and 30 minutes.", 5400.0),
        ("wait 1,5 min", 300.0),
        ("version 1.2.3 seconds", None),
        ("x5 seconds", None),
        ("-5", None),
        ("-5 seconds", None),
        ("+5", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_loose_span_waits_longer(value: str, expected: float | None) -> None:
    assert loose_span(value, 60.0) == expected


@given(st.text(max_size=50))
def test_no_text_makes_them_raise(text: str) -> None:
    cookie_date(text)
    span = loose_span(text, 0.0)
    assert span is None or 0.0 <= span <= LONGEST

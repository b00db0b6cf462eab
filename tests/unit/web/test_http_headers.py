"""HTTP headers: dates, Retry-After, redirects, freshness."""

import email.utils
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gregor.worker.web.http_headers import (
    LONGEST,
    any_date,
    freshness,
    http_date,
    redirect_target,
    resolve,
    retry_after,
)

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT
BASE = "http://example.com/a/b?c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", NOW),
        ("Sunday, 06-Nov-94 08:49:37 GMT", NOW),
        ("Sun Nov  6 08:49:37 1994", NOW),
        (" sun, 6 nov 1994 08:49:37 utc ", NOW),
        ("06 Nov 1994 00:49:37 PST", NOW),
        ("Sun, 06 Nov 1994 09:49:37 +0100", NOW),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800.0),
        ("Sun,06 Nov 1994 08:49:37 GMT", NOW),
        ("Sun, 06 Nov 1994 08:49:61 GMT", None),
        ("Sun, 06 Nov 1994", None),
        ("Tue, 06 Nov 1994 08:49:37 GMT", None),
        ("Sun, 31 Feb 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 24:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 XYZ", None),
        ("Sun, 06 Nov 0000 08:49:37 GMT", None),
        ("0", None),
        ("", None),
    ],
)
def test_http_date(text: str, expected: float | None) -> None:
    assert http_date(text) == expected


@given(st.integers(0, 4_000_000_000))
def test_http_date_reads_what_servers_write(moment: int) -> None:
    assert http_date(email.utils.formatdate(moment, usegmt=True)) == moment
    assert http_date(time.asctime(time.gmtime(moment))) == moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2010-06-25T15:00:00Z", 1_277_478_000.0),
        ("2010-06-25T17:00:00+02:00", 1_277_478_000.0),
        ("2010-06-25", 1_277_424_000.0),
        ("25 Jun 2010", 1_277_424_000.0),
        ("Monday, 25 Jun 2010 15:00:00 GMT", 1_277_478_000.0),
        ("soon", None),
    ],
)
def test_dates_in_pages(text: str, expected: float | None) -> None:
    assert any_date(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("120", 120.0),
        (" 0 ", 0.0),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("9" * 5000, LONGEST),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sun, 06 Nov 1994 08:40:37 GMT", 0.0),
        ("Mon, 31 Dec 9998 00:00:00 GMT", LONGEST),  # the weekday is wrong, the wish to be left alone is not
        ("Thu, 31 Dec 9998 00:00:00 GMT", LONGEST),
    ],
)
def test_retry_after(value: str | None, expected: float | None) -> None:
    assert retry_after(value, NOW) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"cache-control": "max-age=60"}, 60.0),
        ({"cache-control": 'Public, MAX-AGE="60", must-revalidate'}, 60.0),
        ({"cache-control": "s-maxage=10, max-age=60"}, 10.0),
        ({"cache-control": "max-age=60, no-store"}, 0.0),
        ({"cache-control": "max-age=-1", "expires": "0"}, 0.0),
        ({"cache-control": "public", "expires": "Sun, 06 Nov 1994 08:50:37 GMT"}, 60.0),
        ({"date": "Sun, 06 Nov 1994 08:50:07 GMT", "expires": "Sun, 06 Nov 1994 08:50:37 GMT"}, 30.0),
        ({"expires": "Sun, 06 Nov 1994 08:00:00 GMT"}, 0.0),
        ({"cache-control": "max-age=60", "age": "20"}, 40.0),
        ({"cache-control": "max-age=60", "age": "100"}, 0.0),
        ({"cache-control": "max-age=60", "age": "-5"}, 60.0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "age": "15"}, 45.0),
        ({"expires": "never"}, 0.0),  # what is no date has passed
        ({"expires": ""}, 0.0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": "never"}, 60.0),
        ({"cache-control": "max-age=60", "expires": "never"}, 60.0),
        ({"cache-control": "max-age=never", "expires": "never"}, 0.0),
        ({"cache-control": "max-age=-1"}, 0.0),
        ({"cache-control": "max-age=60.5"}, None),
        ({"cache-control": f"max-age={'9' * 400}"}, LONGEST),
        ({"cache-control": "max-age=60, max-age=90"}, 60.0),
        ({"cache-control": " ,, max-age = 60 ,"}, 60.0),
        ({"cache-control": "max-age"}, None),
        ({"cache-control": 'x="a, no-store, max-age=5", max-age=60'}, 60.0),
        ({"cache-control": r'x="a\", no-store", max-age=60'}, 60.0),
        ({"cache-control": r'max-age="6\0"'}, 60.0),
        ({"cache-control": 'no-cache="set-cookie, vary", max-age=60'}, 60.0),
        ({"cache-control": "no-cache, max-age=60"}, 0.0),
        ({"cache-control": 'private="x, no-cache'}, None),
        ({"cache-control": "no-storey, max-age=60"}, 60.0),
        ({"cache-control": "s-maxage=0, max-age=60"}, 0.0),
        ({"cache-control": "s-maxage=x, max-age=60"}, 60.0),
        ({"cache-control": "max-age=60", "age": "20, 50"}, 40.0),
        ({"cache-control": "max-age=60", "age": "x"}, 60.0),
    ],
)
def test_freshness(headers: dict[str, str], expected: float | None) -> None:
    assert freshness(headers, NOW) == expected


@pytest.mark.parametrize("text", ["a" * 9, "a=", ' "', '"', "\\", 'a="', "a ", ",", '="'])
def test_a_long_cache_control_is_read_in_one_pass(text: str) -> None:
    started = time.process_time()
    freshness({"cache-control": text * 100_000}, NOW)
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/x", "http://example.com/x"),
        ("x", "http://example.com/a/x"),
        ("?y", "http://example.com/a/b?y"),
        ("//other.example/", "http://other.example/"),
        (" HTTPS://Other.Example:443/%41 ", "https://other.example/%41"),
        ("/a b", "http://example.com/a%20b"),
        ("/ä".encode().decode("latin-1"), "http://example.com/%C3%A4"),
        ("/\xe4", "http://example.com/%E4"),
        ("/x#f", "http://example.com/x#f"),
        ("", None),
        ("  ", None),
        (None, None),
        ("mailto:a@example.com", None),
        ("javascript:alert(1)", None),
        ("http://", None),
        ("http://[::1", None),
    ],
)
def test_redirects(status: int, location: str | None, expected: str | None) -> None:
    assert redirect_target(status, location, BASE) == expected


def test_a_redirect_inherits_the_fragment() -> None:
    assert redirect_target(302, "/x", BASE + "#f") == "http://example.com/x#f"
    assert redirect_target(302, "/x#g", BASE + "#f") == "http://example.com/x#g"


@pytest.mark.parametrize("status", [200, 201, 304, 305, 306, 399, 404])
def test_other_statuses_are_no_redirects(status: int) -> None:
    assert redirect_target(status, "/x", BASE) is None


HEADER = st.text(st.characters(max_codepoint=255)) | st.text() | st.from_regex(r"[A-Z]\w{2},? \d{2}[- ]\w{3}[- ]\d+ .*")


@given(HEADER, HEADER)
@example("\ud800", "")
@example("٣", "01 Jan 0001 00:00:00 +9999")
def test_no_header_makes_any_of_it_raise(one: str, other: str) -> None:
    http_date(one)
    any_date(one)
    wait = retry_after(one, NOW)
    assert wait is None or 0 <= wait <= LONGEST
    target = redirect_target(301, one, BASE)
    assert target is None or target.startswith(("http://", "https://"))
    resolve(one, other)
    resolve(one, "")
    span = freshness({"cache-control": one, "expires": other, "date": one}, NOW)
    assert span is None or span >= 0

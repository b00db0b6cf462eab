"""The canonical form."""

import string
import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.web.canonical import CORE, CanonicalRules, canonical
from gregor.worker.web.urls import Url, Urls
from tests.unit.url_texts import hrefs

RULES = st.builds(CanonicalRules, st.booleans(), st.booleans(), st.booleans(), st.booleans())
SESSION = CanonicalRules(session_ids=True)
TRACKING = CanonicalRules(tracking_parameters=True)
INDEX = CanonicalRules(index_files=True)
SORTED = CanonicalRules(sort_query=True)


@pytest.mark.parametrize(
    ("href", "key"),
    [
        ("http://h/%7e%41%2f%c3%bc?%7e%2f#f", "http://h/~A%2F%C3%BC?~%2F"),
        ("http://h/%", "http://h/%"),
        ("http://h/%zz%2", "http://h/%zz%2"),
        ("http://h/%%361", "http://h/a"),
        ("http://h/%3%3%36%36", "http://h/66"),
        ("http://h/%%41a%%61a", "http://h/%AA%AA"),
        ("http://h/a/%%32e%%32e/b", "http://h/b"),
        ("http://h/?", "http://h/?"),
        ("http://h/?b&a&&", "http://h/?b&a&&"),
        ("http://h//a//?x=//", "http://h//a//?x=//"),
        ("http://u%7e@h/%7e", "http://u%7e@h/~"),
    ],
)
def test_core(href: str, key: str) -> None:
    assert canonical(href) == key


@pytest.mark.parametrize(
    ("rules", "target", "expected"),
    [
        (SESSION, "/a;jsessionid=1.node/b?x=1", "/a/b?x=1"),
        (SESSION, "/a?PHPSESSID=1", "/a"),
        (SESSION, "/a?", "/a?"),
        (SESSION, "/a?x=1;jsessionid=2&y=3", "/a?x=1&y=3"),
        (SESSION, "/a?sid=0af&x=1", "/a?x=1"),
        (SESSION, "/a?sid=01/02/03", "/a?sid=01/02/03"),
        (SESSION, "/a?inside=1&residsid=2", "/a?inside=1&residsid=2"),
        (SESSION, "/(S(abcdefghijklmnopqrstuvwx))/a.aspx", "/a.aspx"),
        (SESSION, "/x/.;sid=1/a", "/x/a"),
        (TRACKING, "/a?utm_source=x&id=1&gclid=2&_hsenc=3", "/a?id=1"),
        (TRACKING, "/a?fbclid=2", "/a"),
        (TRACKING, "/a?ysclid=2&ttclid=3&srsltid=4", "/a"),
        (TRACKING, "/a?gazette_id=1&fbx_y=2&my_id=3", "/a?gazette_id=1&fbx_y=2&my_id=3"),
        (TRACKING, "/a?ref=main&source=x&campaign=1&mc=2", "/a?ref=main&source=x&campaign=1&mc=2"),
        (INDEX, "/a/index.html?x", "/a/?x"),
        (INDEX, "/a/Default.ASPX", "/a/"),
        (INDEX, "/a/myindex.html", "/a/myindex.html"),
        (INDEX, "/index.html/", "/index.html/"),
        (SORTED, "/?b=2&a=2&&a=1&a!=3", "/?a=1&a=2&a!=3&b=2"),
        (SORTED, "/?&", "/"),
    ],
)
def test_optional_operations(rules: CanonicalRules, target: str, expected: str) -> None:
    assert canonical("http://h" + target, rules) == "http://h" + expected
    assert canonical("http://h" + target) == "http://h" + target or "/." in target


@settings(deadline=None)
@given(hrefs(), RULES)
def test_idempotent(href: str, rules: CanonicalRules) -> None:
    key = canonical(href, rules)
    assert canonical(key, rules) == key
    assert canonical(key) == key
    url = Urls(rules, max_length=10_000).parse(href)
    assert url is not None
    assert url.key == key
    assert Urls(rules, max_length=10_000).parse(key) == Url(key, key, url.host)


def test_every_escape_has_one_form() -> None:
    digits = "0123456789ABCDEFabcdef"
    unreserved = set(string.ascii_letters + string.digits + "-._~")
    for first, second in product(digits, repeat=2):
        sign = chr(int(first + second, 16))
        expected = sign if sign in unreserved else f"%{first}{second}".upper()
        assert canonical(f"http://h.example/a%{first}{second}") == f"http://h.example/a{expected}"


def test_a_hostile_url_takes_linear_time() -> None:
    # Every pass of a naive decoder would find exactly one new escape.
    nested = "http://h/" + "%3" * 30_000 + "%36"
    started = time.process_time()
    assert canonical(nested) == "http://h/6"
    assert time.process_time() - started < 1.0


def test_a_changed_form_is_noticed() -> None:
    assert CORE.fingerprint() == "canonical-2"
    assert CanonicalRules(session_ids=True, sort_query=True).fingerprint() == "canonical-3+session_ids+sort_query"

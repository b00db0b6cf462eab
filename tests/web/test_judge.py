"""The judge of reported cases: each kind of assertion holds where it should and fails where it should."""

from pathlib import Path
from typing import Any

import pytest

from tests.web import judge
from tests.web.crawler import Ended, arguments, config_file
from tests.web.player import Request, Sent

RECORDS: dict[str, dict[str, Any]] = {
    "http://a.test/": {
        "state": "fetched",
        "status": 200,
        "title": "One  two",
        "charset": "windows-1252",
        "text": "some words",
        "sha256": "ab" * 32,
        "truncated": "size",
        "links": [{"url": "http://a.test/b", "kind": "a", "nofollow": False}],
    },
    "http://a.test/copy": {
        "state": "duplicate",
        "status": 200,
        "duplicate_of": "http://a.test/",
        "text": "",
        "links": [],
    },
    "http://a.test/gone": {"state": "gone"},
}
SCENE = judge.Seen(
    requests=[
        Request(0.0, "a.test", "/robots.txt", ()),
        Request(0.01, "a.test", "/", (("Cookie", "k=v"),)),
        Request(1.0, "a.test", "/b?x", (("cookie", "k=w"),)),
        Request(1.5, "a.test:8081", "/c", ()),
        Request(1.6, "a.test", "/d", ()),
    ],
    ends=[Sent("a.test/b?x", 1000)],
    ended=Ended(0, 5.0, 90.0, Path("/dev/null"), Path("/dev/null")),
    record=lambda url: RECORDS.get(url, {}),
)
HOLD: list[dict[str, Any]] = [
    {"requested": ["http://A.test:80/", "https://a.test/b?x", {"re": "/c$"}]},
    {"not_requested": ["http://a.test/e", {"re": "^b"}]},
    {"max_requests": {"host": "a.test", "n": 4}},
    {"max_requests": {"url": {"re": "8081/"}, "n": 1}},
    {"min_gap_s": {"host": "a.test", "s": 0.64}},
    {"order": ["http://a.test/b?x", "http://a.test/d"]},
    {"stored": {"url": "http://a.test/", "status": 200, "title": "One two", "charset": "latin1", "truncated": True}},
    {"stored": {"url": "http://a.test/", "text_contains": "words", "text_lacks": "more", "body_sha256": "ab" * 32}},
    {"stored": {"url": "http://a.test/", "links_include": ["http://a.test/b"], "links_exclude": ["http://a.test/c"]}},
    {"stored": {"url": "http://a.test/copy", "duplicate_of": "http://a.test/", "text_contains": "some"}},
    {"not_stored": ["http://a.test/gone", "http://a.test/never"]},
    {"state": {"url": "http://a.test/gone", "in": ["dead", "gone"]}},
    {"sent_header": {"url": "http://a.test/", "name": "cookie", "value": "k=v"}},
    {"sent_header": {"url": {"re": "a.test"}, "name": "Cookie", "contains": "=w"}},
    {"sent_header": {"url": "http://a.test/d", "name": "Cookie", "lacks": ""}},
    {"max_sent": {"url": "http://a.test/b?x", "bytes": 1000}},
    {"output_lacks": ["Traceback"]},
    {"ends_within_s": 5},
    {"exit": 0},
    {"rss_below_mb": 100},
    {"any": [{"exit": 1}, {"exit": 0}]},
]
FAIL: list[dict[str, Any]] = [
    {"requested": ["http://a.test/", "http://a.test/b"]},
    {"not_requested": [{"re": "b\\?x"}]},
    {"max_requests": {"host": {"re": "^a"}, "n": 4}},
    {"max_requests": {"url": "http://a.test/", "n": 0}},
    {"min_gap_s": {"host": "a.test", "s": 0.66}},
    {"order": ["http://a.test/d", "http://a.test/b?x"]},
    {"order": ["http://a.test/", "http://a.test/never"]},
    {"stored": {"url": "http://a.test/", "title": "One"}},
    {"stored": {"url": "http://a.test/", "charset": "utf-8"}},
    {"stored": {"url": "http://a.test/", "text_lacks": "some"}},
    {"stored": {"url": "http://a.test/", "links_exclude": ["http://a.test/b"]}},
    {"stored": {"url": "http://a.test/gone", "status": 200}},
    {"stored": {"url": "http://a.test/", "truncated": False}},
    {"not_stored": ["http://a.test/copy"]},
    {"state": {"url": "http://a.test/never", "in": ["waiting"]}},
    {"sent_header": {"url": "http://a.test/", "name": "cookie", "value": "k"}},
    {"sent_header": {"url": "http://a.test/", "name": "cookie", "lacks": ""}},
    {"max_sent": {"url": "http://a.test/b?x", "bytes": 999}},
    {"output_lacks": ["^"]},
    {"ends_within_s": 4},
    {"exit": 1},
    {"rss_below_mb": 90},
    {"any": [{"exit": 1}, {"exit": 2}]},
]


@pytest.mark.parametrize("assertion", HOLD, ids=str)
def test_holds(assertion: dict[str, Any]) -> None:
    assert judge.judge(assertion, SCENE) is None


@pytest.mark.parametrize("assertion", FAIL, ids=str)
def test_fails(assertion: dict[str, Any]) -> None:
    assert judge.judge(assertion, SCENE)


def test_a_killed_crawl_fails_whatever_its_limit() -> None:
    killed = Ended(None, 5.0, 90.0, Path("/dev/null"), Path("/dev/null"))
    scene = judge.Seen([], [], killed, RECORDS.__getitem__)
    assert judge.judge({"ends_within_s": 60}, scene)


def test_every_kind_is_tried_both_ways() -> None:
    assert {kind for one in HOLD for kind in one} == {kind for one in FAIL for kind in one} == set(judge.JUDGES)


def test_neutral_options_become_a_command_line() -> None:
    given = {"delay": 0.1, "include": ["/a", "/b"], "cookies": "on", "insecure_tls": True, "canonical": ["sort_query"]}
    assert arguments(given) == [
        *("--delay", "0.1", "--include", "/a", "--include", "/b"),
        *("--set", "cookies=on", "--set", "insecure_tls=true", "--set", 'canonical=["sort_query"]'),
    ]


def test_credentials_are_named_in_the_file_and_given_by_the_environment() -> None:
    one = {"origin": "http://a.test:8081", "user": "u", "password": "p"}
    text, secrets = config_file({"credentials": [one]})
    assert 'host = "a.test:8081"' in text
    assert 'origins = ["http://a.test:8081"]' in text
    assert sorted(secrets.values()) == ["p", "u"]
    assert "u" not in text.split('"')

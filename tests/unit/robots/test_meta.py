"""meta robots and X-Robots-Tag."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.robots.meta import Directives, meta_robots, names

NOW = 1_700_000_000.0


def found(
    *headers: str, meta: list[tuple[str, str]] | None = None, agent: str = "gregor/1.0 (+https://bot.example)"
) -> Directives:
    return meta_robots(meta or [], headers, agent, NOW)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("noindex", ["noindex"]),
        (" NoIndex ,NOFOLLOW", ["noindex", "nofollow"]),
        ("none", ["noindex", "nofollow"]),
        ("noindex nofollow; noarchive", ["noindex", "nofollow", "noarchive"]),
        ("max-image-preview:none", []),
        ("max-image-preview: none, max-snippet: -1", []),
        ("MAX-VIDEO-PREVIEW : none, nofollow", ["nofollow"]),
        ("noarchive max-image-preview: none", ["noarchive"]),
        ("noai, noimageai", ["noai", "noimageai"]),
        ("all, index, follow, max-snippet:20, whatever", []),
        ("", []),
    ],
)
def test_directives(content: str, expected: list[str]) -> None:
    assert names(found(meta=[("Robots", content)])) == expected
    assert names(found(content)) == expected


def test_the_most_restrictive_wins() -> None:
    meta = [("robots", "all"), ("gregor", "nofollow")]
    assert names(found("index", "noindex, follow", meta=meta)) == ["noindex", "nofollow"]


@pytest.mark.parametrize("agent", ["gregor", "Gregor", "gregor/1.0 (+https://bot.example)"])
def test_only_what_is_for_everyone_or_us_counts(agent: str) -> None:
    meta = [("googlebot", "noindex"), ("description", "nofollow"), ("GREGOR", "noarchive")]
    assert names(found(meta=meta, agent=agent)) == ["noarchive"]
    assert names(found("googlebot: noindex, nofollow", "gregor: nosnippet", agent=agent)) == ["nosnippet"]


def test_a_header_may_name_everyone() -> None:
    assert names(found("*: noindex, otherbot: noarchive, robots: nofollow")) == ["noindex", "nofollow"]


def test_a_name_in_a_header_holds_until_the_next() -> None:
    assert names(found("noai, otherbot: noindex, nofollow, Gregor: noarchive, nosnippet")) == [
        "noarchive",
        "nosnippet",
        "noai",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "unavailable_after: 25 Jun 2010 15:00:00 PST",
        "noarchive, unavailable_after: Friday, 25-Jun-10 15:00:00 PST, nosnippet",
        "unavailable_after: Fri, 25 Jun 2010 23:00:00 GMT",
        "gregor: unavailable_after: 2010-06-25T23:00:00Z",
        "unavailable_after: Mon, unavailable_after: Fri, 25 Jun 2010 23:00:00 GMT",
        "unavailable_after: 1 Jan 2030 00:00:00 GMT, unavailable_after: 25 Jun 2010 15:00:00 PST",
    ],
)
def test_unavailable_after(text: str) -> None:
    directives = found(text)
    assert directives.unavailable_after == 1_277_506_800.0
    assert directives.noindex


def test_weekdays_without_dates_cost_what_their_length_is() -> None:
    started = time.process_time()
    assert names(found("unavailable_after: mon, " * 100_000)) == []
    assert time.process_time() - started < 5


def test_a_date_to_come_forbids_nothing_yet() -> None:
    directives = found("unavailable_after: Tue, 01 Jan 2030 00:00:00 GMT")
    assert directives.unavailable_after == 1_893_456_000.0
    assert not directives.noindex
    assert not found("unavailable_after: whenever", "unavailable_after: Monday,").noindex


PIECE = st.sampled_from(["noindex", "unavailable_after:", "gregor:", ":", ",", ";", "Monday", "25 Jun 2010", " "])


@given(st.lists(PIECE | st.text(max_size=8), max_size=12).map("".join), st.text(max_size=12))
def test_no_text_raises_or_is_read_differently_as_name(text: str, agent: str) -> None:
    directives = meta_robots([("robots", text), (text, text)], [text, f"x: {text}"], agent, NOW)
    assert all(getattr(directives, name) for name in names(directives))


def test_of_a_text_without_end_the_beginning_counts() -> None:
    much = "a," * 200_000
    assert names(found(meta=[("robots", f"noindex,{much}"), ("robots", "nofollow")])) == ["noindex"]
    assert names(found(f"noindex,{much}", "nofollow")) == ["noindex"]

"""Queries as they are understood, and what is said of what is not."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.search.query import MOST_FILTERS, MOST_TERMS, ParsedQuery, QueryFilter, parse
from gregor.search.query_text import LONGEST


def day(year: int, month: int = 1, number: int = 1) -> float:
    return datetime(year, month, number, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Hello World", ParsedQuery(words=("hello", "world"))),
        ('one "two three" four', ParsedQuery(words=("one", "two", "three", "four"), phrases=(("two", "three"),))),
        (
            "“zwei Wörter” «x y»",
            ParsedQuery(words=("zwei", "worter", "x", "y"), phrases=(("zwei", "worter"), ("x", "y"))),
        ),
        ('a -b -"c d" –e', ParsedQuery(words=("a",), without=(("b",), ("c", "d"), ("e",)))),
        ("e-mail well-known", ParsedQuery(words=("e", "mail", "well", "known"))),
        ("x site:Example.ORG", ParsedQuery(words=("x",), filters=(QueryFilter("site", ("example.org",)),))),
        ("x site:*.example.org", ParsedQuery(words=("x",), filters=(QueryFilter("site", ("example.org",)),))),
        ("x -host:a.org:8080", ParsedQuery(words=("x",), filters=(QueryFilter("host", ("a.org:8080",), True),))),
        ("site:münchen.de", ParsedQuery(filters=(QueryFilter("site", ("xn--mnchen-3ya.de",)),))),
        (
            "lang:pt_BR TYPE:PDF",
            ParsedQuery(filters=(QueryFilter("lang", ("pt-br",)), QueryFilter("type", ("pdf",)))),
        ),
        ("type:text/html x", ParsedQuery(words=("x",), filters=(QueryFilter("type", ("text/html",)),))),
        ("filetype:pdf x", ParsedQuery(words=("x",), filters=(QueryFilter("type", ("pdf",)),))),
        ("x before:2026-11-29", ParsedQuery(words=("x",), until=day(2026, 11, 29))),
        ("x after:2024 before:2025-02", ParsedQuery(words=("x",), since=day(2024), until=day(2025, 2))),
        ("x -after:2024", ParsedQuery(words=("x",), until=day(2024))),
        ("x after:2024 after:2025", ParsedQuery(words=("x",), since=day(2025))),
        (
            'intitle:"a b" inurl:C',
            ParsedQuery(filters=(QueryFilter("intitle", ("a", "b")), QueryFilter("inurl", ("c",)))),
        ),
        ("std::vector 10:30 http://a.org/b", ParsedQuery(words=("std", "vector", "10", "30", "http", "a", "org", "b"))),
        ("日本語 -検索", ParsedQuery(words=("日本", "本語"), without=(("検索",),))),
    ],
)
def test_what_is_understood(text: str, asked: ParsedQuery) -> None:
    found = parse(text)
    assert found.hints == ()
    assert (found.words, found.phrases, found.without, found.filters, found.since, found.until) == (
        (asked.words, asked.phrases, asked.without, asked.filters, asked.since, asked.until)
    )


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("", (), "type some words"),
        (' \t -- : "" -', (), "type some words"),
        ("-only -this", (), "what is to be left out"),
        ("-site:a.org", (), "what is to be left out"),
        ('"open quote', ("open", "quote"), "quote is not closed"),
        ("x before:yesterday", ("x",), "before: wants a date"),
        ("x after:2026-13-45", ("x",), "after: wants a date"),
        ("x after:0000", ("x",), "after: wants a date"),
        ("x site: y", ("x", "y"), "right behind it"),
        ("x site:a.org/path", ("x",), "the path was left out"),
        ("x site:a.org:8080", ("x",), "the port was left out"),
        ("x site:///", ("x", "site"), ""),
        ('x lang:"a b"', ("x",), "lang: wants a language"),
        ("x type:<script>", ("x",), "type: wants a type"),
        ("x inurl:---", ("x",), "inurl: wants a word"),
        ("\ud800 x", ("x",), ""),
        ("harb* muse", ("harb", "muse"), "no wildcards"),
        ('"har?our bell"', ("har", "our", "bell"), "no wildcards"),
        ("harbour OR museum", ("harbour", "or", "museum"), "OR, AND and NOT"),
        ("NOT harbour", ("not", "harbour"), "OR, AND and NOT"),
        ("filetpye:pdf x", ("filetpye", "pdf", "x"), "there is no filter filetpye"),
    ],
)
def test_what_cannot_be_read_is_left_out_and_said(text: str, words: tuple[str, ...], hint: str) -> None:
    found = parse(text)
    assert found.words == words
    assert hint in "; ".join(found.hints)
    "".join((found.said, *found.hints)).encode()


@pytest.mark.parametrize(
    "text",
    [
        "where is it?",
        "http://a.org/b?c=d",
        "TO BE OR NOT TO BE",
        '"this OR that"',
        "salt and pepper",
        "OR",
        "* x *",
        "a ? b",
    ],
)
def test_what_is_no_operator_needs_no_word_about_it(text: str) -> None:
    assert not [hint for hint in parse(text).hints if "asked for" not in hint]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        " ".join(f"w{number}" for number in range(10_000)),
        '"' * 100_000,
        "-" * 100_000,
        "site:a " * 10_000,
        "(" * 50_000 + ")" * 50_000,
        "ﷺ" * 1000,
        "intitle:" + "x." * 5000,
        "*" * 1000 + " a* *a .* [a-z]+ a~9 a^9 {1 TO *}",
    ],
)
def test_hostile_queries_are_bounded(text: str) -> None:
    begun = time.process_time()
    found = parse(text)
    assert time.process_time() - begun < 0.5
    parts = [found.words, *found.without, *(one.value for one in found.filters)]
    assert sum(map(len, parts)) <= MOST_TERMS + MOST_FILTERS
    assert len(found.filters) <= MOST_FILTERS and len(found.said) <= 20 * LONGEST


def test_what_was_understood_is_understood_again() -> None:
    found = parse('Foo "Bar baz" -qux -site:a.org lang:de after:2024-02 intitle:"x y"')
    assert parse(found.said) == found


@given(st.text(max_size=120))
def test_any_text_is_a_query(text: str) -> None:
    found = parse(text)
    assert found.is_empty == ("asked for" in "; ".join(found.hints))
    again = parse(found.said)
    assert set(again.words) == set(found.words) and set(again.filters) == set(found.filters)

"""Words of pages in any language, and how much is looked at."""

import math
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.topic.features import _UNSPACED, _WORDS, MOST_TEXT, features, of_page, url_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Apply now -- for free_time!", ["apply", "now", "for", "free", "time"]),
        ("Müllers Bewerbung", ["müllers", "bewerbung"]),
        ("Mu\u0308llers", ["müllers"]),
        ("Работа в Москве", ["работа", "в", "москве"]),
        ("求人情報", ["求人", "人情", "情報"]),
        ("नौकरी की सूची।", ["नौकरी", "की", "सूची"]),
        ("وَظِيفَة", ["وَظِيفَة"]),
        ("IT 求人 jobs", ["it", "jobs", "求人"]),
        ("wanted: 12 nurses", ["wanted", "12", "nurses"]),
        ("", []),
        ("—…", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_thai_has_words_though_it_has_no_spaces() -> None:
    assert len(words("รับสมัครพนักงานขับรถ")) > 5


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://www.a.test/jobs/4711-cook", ["a", "test", "jobs", "0000", "cook"]),
        ("http://a.test/?q=B%C3%A4cker&p=2", ["a", "test", "q", "bäcker", "p", "0"]),
        ("https://a.test/x123456789", ["a", "test", "x000000"]),
        ("", []),
    ],
)
def test_words_of_urls(href: str, expected: list[str]) -> None:
    assert url_words(href) == expected


def test_no_more_than_a_bound_is_looked_at() -> None:
    assert len(words("a " * MOST_TEXT)) <= MOST_TEXT
    assert len(words("\ufdfa" * MOST_TEXT)) <= MOST_TEXT  # each comes apart into 18 letters
    assert len(of_page("t " * 10_000, "", "http://h/" + "a/" * 10_000).url) < 1000


def test_each_part_weighs_the_same_however_long_it_is() -> None:
    assert math.isclose(math.sqrt(sum(value**2 for value in features(of_page("one two", "", "")).values())), 1.0)
    assert math.isclose(math.sqrt(sum(value**2 for value in features(of_page("", "a b c " * 400, "")).values())), 1.0)


def test_the_same_word_is_another_in_another_part() -> None:
    assert not features(of_page("job", "", "")).keys() & features(of_page("", "job", "")).keys()
    assert of_page("Job list", "", "").title == Counter(["job", "list", "job list"])


@given(
    st.text(
        st.one_of(st.characters(max_codepoint=0x2600), st.sampled_from("a1 _\u0301\u0915\u093f\u2019\u20ac\u00df")),
        max_size=40,
    )
)
def test_the_quick_ways_find_the_words_that_the_expression_finds(text: str) -> None:
    reduced = unicodedata.normalize("NFKC", text).lower()
    if _UNSPACED.search(reduced) is None:
        assert words(text) == _WORDS.findall(reduced)

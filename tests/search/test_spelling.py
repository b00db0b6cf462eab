"""What somebody may have meant, and which words tell what a page is about."""

import pytest

from gregor.search.alike import WORDS, about
from gregor.search.query import parse
from gregor.search.spelling import apart, edits, is_one_apart, suggestion

COUNTS = {"harbour": 500, "museum": 800, "arbour": 3, "ferry": 50, "собака": 40, "wal": 9}


def near(term: str) -> dict[str, int]:
    return {other: COUNTS[other] for other in edits(term) if other in COUNTS}


def suggested(text: str) -> str:
    return suggestion(parse(text), lambda term: COUNTS.get(term, 0), near)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("harbor museum", "harbour museum"),
        ("harbuor", "harbour"),
        ("hharbour", "harbour"),
        ("museun ferry", "museum ferry"),
        ('"harbor museum" ferry', '"harbour museum" ferry'),
        ("harbor -museun site:museun.org lang:de", 'harbour -"museun" site:museun.org lang:de'),
        ('intitle:"museun ferry" harbor', 'intitle:"museum ferry" harbour'.replace("museum", "museun")),
        ("собаки", "собака"),
        ("arbour", "harbour"),  # which so many times as many have
        ("harbour", ""),
        ("museum", ""),
        ("xyz", ""),
        ("2019", ""),
        ("-harbor", ""),
        ("", ""),
    ],
)
def test_a_word_that_hardly_any_document_has_may_be_another(typed: str, meant: str) -> None:
    assert suggested(typed) == meant


@pytest.mark.parametrize(
    ("term", "other", "slips"),
    [
        ("a", "a", 0),
        ("ab", "ba", 1),
        ("harbour", "harbor", 1),
        ("abcd", "badc", 2),
        ("abc", "xyz", 3),
        ("abc", "abcxyz", 3),
    ],
)
def test_slips_are_counted(term: str, other: str, slips: int) -> None:
    assert apart(term, other, 2) == min(slips, 3) == apart(other, term, 2)
    assert is_one_apart(term, other) == is_one_apart(other, term) == (slips == 1)
    if slips == 1 and len(term) > 3:
        assert other in edits(term)


@pytest.mark.parametrize("first", range(1, 9))
def test_a_slip_is_in_the_first_letters_or_these_are_right(first: int) -> None:
    for other in edits("harbours"):
        assert is_one_apart("harbours", other)
        assert other[:first] == "harbours"[:first] or other in edits("harbours", first)


def test_what_is_tried_is_bounded() -> None:
    tried: list[str] = []

    def nothing_near(term: str) -> dict[str, int]:
        tried.append(term)
        return {}

    suggestion(parse(" ".join(f"word{number:02}x" for number in range(30))), lambda _: 0, nothing_near)
    assert len(tried) == 8
    assert len(list(edits("a" * 30))) < 3000 and not list(edits("a" * 31)) and not list(edits("abc"))


def test_the_words_that_tell_what_a_page_is_about() -> None:
    counts = {"the": 900, "fox": 20, "jumps": 30, "zoo": 1, "the-only": 1}
    asked = about("Fox", "the the the fox jumps over zoo 2019", lambda term: counts.get(term, 0), 1000)
    assert asked.words == ("fox", "jumps") and asked.least == 1
    many = about("", " ".join(f"w{number}x" for number in range(500)), lambda term: 5, 1000)
    assert len(many.words) == WORDS and many.least == WORDS // 4
    assert about("", "", lambda term: 5, 1000).is_empty

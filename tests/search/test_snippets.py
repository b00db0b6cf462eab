"""What is shown of a text."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.search.snippets import Piece, snippet
from gregor.search.terms import terms

FILLING = "Nothing of interest is written here at all. " * 30


def shown(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def marked(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces if piece.marked]


def test_the_place_with_most_of_the_words_is_shown_from_its_sentence_on() -> None:
    text = f"{FILLING}A fox alone. {FILLING}The quick fox jumps over the Dog! {FILLING}"
    found = snippet(text, {"fox", "dog"})
    assert marked(found) == ["fox", "Dog"]
    assert shown(found).startswith("… The quick fox") and shown(found).endswith(" …")
    assert len(shown(found)) < 260


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Die Straße nach Köln", "strasse KOLN", ["Straße", "Köln"]),
        ("Cafe\u0301 und mehr", "café", ["Cafe\u0301"]),
        ("हिन्दी में खोज करें", "में", ["में"]),
        ("これは日本語です", "日本語", ["日本語"]),
        ("東京と大阪と京都", "大阪", ["大阪"]),
        ("ภาษาไทยง่าย", "ภาษา", ["ภาษา"]),
        ("قرأت الكِتَاب أمس", "الكتاب", ["الكِتَاب"]),
        ("foo.bar-baz", "bar", ["bar"]),
        ("İstanbul'da hava", "istanbul", ["İstanbul"]),
        ("nothing", "other", []),
    ],
)
def test_words_are_marked_as_they_stand(text: str, query: str, expected: list[str]) -> None:
    found = snippet(text, terms(query))
    assert (shown(found), marked(found)) == (text, expected)


def test_without_a_hit_it_is_the_beginning() -> None:
    assert shown(snippet(FILLING, {"absent"})).startswith("Nothing of interest")
    assert snippet(" \n\t", {"x"}) == () and snippet("", ()) == ()


def test_signs_that_turn_the_writing_are_taken_out() -> None:
    found = snippet("safe \u202egnihtemos\u202c \u2067x\u2069\x00\x1b[31m", {"safe"})
    assert shown(found) == "safe gnihtemos x [31m"


def test_a_snippet_is_text_not_html() -> None:
    assert shown(snippet("<script>alert(1)</script> &amp; fox", {"fox"})) == "<script>alert(1)</script> &amp; fox"


@given(st.text(max_size=400), st.text(max_size=10), st.integers(20, 120))
def test_every_piece_is_of_the_text(text: str, query: str, width: int) -> None:
    found = snippet(text, terms(query), width)
    inside = "".join(piece.text for piece in found).removeprefix("… ").removesuffix(" …")
    assert "".join(inside.split()) in "".join(shown(snippet(text, (), 10**6)).split())
    assert len(inside) <= width + 40
    assert all(unicodedata.category(sign) != "Cc" for sign in inside)


THAI = "".join(chr(0x0E01 + number * 7 % 46) for number in range(200_000))
HAN = "".join(chr(0x4E00 + number * number % 9973) for number in range(200_000))


@pytest.mark.parametrize(
    ("text", "wanted", "is_marked"),
    [
        ("fox " * 200_000 + "語" * 200_000, {"fox", "語語"}, True),
        ("語" * 200_000, {"語語"}, False),
        (HAN, {"absent"}, False),
        (HAN[:90_000] + "大阪" + HAN, {"大阪"}, True),
        (THAI, {THAI[600:602]}, True),
        ("a" + "\u0300" * 90_000 + " fox " + "b" * 200_000, {"fox"}, True),
        ("b" * 90_000 + "\u0e34" * 9000 + " fox", {"fox"}, True),
    ],
)
def test_a_large_text_takes_no_long_time(text: str, wanted: set[str], is_marked: bool) -> None:
    begun = time.process_time()
    assert bool(marked(snippet(text, wanted))) == is_marked
    assert time.process_time() - begun < 0.5
    assert len(shown(snippet(text, wanted))) < 400 or "\u0300" in text


def test_the_best_place_is_shown_wherever_it_is() -> None:
    text = f"A fox. {FILLING * 5}A dog. {FILLING * 20}The fox met the dog. {FILLING * 5}fox and fox."
    assert marked(snippet(text, {"fox", "dog"})) == ["fox", "dog"]
    assert shown(snippet(text, {"fox", "dog"})).startswith("… The fox met the dog.")

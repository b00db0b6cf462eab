"""What is shown of a text."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.search.places import places
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


def test_a_lone_character_is_marked_inside_of_words() -> None:
    def marked(text: str, *wanted: str) -> list[str]:
        return [piece.text for piece in snippet(text, wanted) if piece.marked]

    assert marked("東京の港。港の博物館", "港") == ["港", "港"]
    assert marked("東京の港。港の博物館", "港", "博物", "物館") == ["港", "港", "博物館"]
    assert "".join(marked("港物", "港", "港物")) == "港物"
    far = snippet("長い文章です。" * 200 + "ここに港があります。", ("港",))
    assert [piece.text for piece in far if piece.marked] == ["港"]


@given(
    st.lists(
        st.sampled_from(
            ["fox ", "Größe ", "größere ", "日本の町。", "Cafe\u0301 ", "lorem ipsum. ", "foxes ", "İ ", "ß "]
        ),
        max_size=250,
    )
)
def test_a_wanted_word_is_marked_wherever_it_stands(parts: list[str]) -> None:
    text = "".join(parts)
    for query in ("fox", "grosse", "日本", "cafe", "fox cafe"):
        wanted = set(terms(query))
        there = wanted & set(terms(text))
        assert {term for piece in snippet(text, wanted) if piece.marked for term in terms(piece.text)} >= set(
            list(there)[:1]
        )


def test_where_a_common_word_meets_a_rare_one_is_found_far_behind_its_first_places() -> None:
    text = f"{'The fox sleeps. ' * 200}{FILLING}A dog. {FILLING * 3}The fox met the dog. {FILLING}"
    assert shown(snippet(text, {"fox", "dog"})).startswith("… The fox met the dog.")


@pytest.mark.parametrize("word", ["Straße", "Cafe\u0301s", "Ærøskøbing", "ﬁnding", "Donau\u00addampf", "ガ゙ス", "𝐛old"])
def test_signs_that_are_not_one_in_a_term_hide_no_word(word: str) -> None:
    text = f"{FILLING}Ünder. {word} is here. {FILLING}"
    assert marked(snippet(text, terms(word))), word
    (first, last, _), *_ = places(text, terms(word), 240)
    assert text[first:last].startswith(word)


def test_many_long_texts_are_cut_quickly() -> None:
    """A page of results has ten."""
    texts = [f"{FILLING * 75}{'çà et là le renard, ' * 500}{'the quick fox ' * 500}{number}" for number in range(10)]
    wanted = terms("the quick brown renard là jumps over 7")
    snippet(texts[0], wanted)
    begun = time.process_time()
    for text in texts:
        assert marked(snippet(text, wanted))
    assert time.process_time() - begun < 0.1

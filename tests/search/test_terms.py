"""What counts as the same word, in whatever script."""

import re
import sys
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.search import terms as cutting
from gregor.search.arrays import joined_by_arrays
from gregor.search.terms import LONGEST, terms
from gregor.search.words import ENDING, UNSPACED, endings, is_lone, of_pairs, terms_of_piece


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Node.js e-mail foo_bar v2.4", "node js e mail foo bar v2 4"),
        ("Don’t O'Reilly C++", "don t o reilly c"),
        ("ＡＢＣ １２３ ﬁnd m²", "abc 123 find m2"),
        ("Größe STRASSE Straße", "grosse strasse strasse"),
        ("Cafe\u0301 CAFÉ naïve Łódź Ærø", "cafe cafe naive lodz aero"),
        ("İSTANBUL Isparta ısparta ISPARTA Işık", "istanbul isparta isparta isparta isik"),
        ("йод и Йод ёлка Ёлка їжак ґанок", "йод и йод елка елка їжак ґанок"),
        ("за\u0301мок", "замок"),
        ("हिन्दी में खोज १२३", "हिन्दी में खोज 123"),
        ("বাংলা தமிழ் ગુજરાતી", "বাংলা தமிழ் ગુજરાતી"),
        ("الكِتَاب أحمد إلى مدرسة", "الكتاب احمد الي مدرسه"),
        ("שָׁלוֹם", "שלום"),
        ("می\u200cخواهم كتــاب", "ميخواهم كتاب"),
        ("Ελλάς ΕΛΛΑΣ", "ελλασ ελλασ"),
        ("soft\u00adhyphen zero\u200bwidth \u202eleft", "softhyphen zero width left"),
        ("日本語のTest語", "日本 本語 語の test 語"),
        ("한국어 검색", "한국 국어 검색"),
        ("ﾃｽﾄ テスト", "テス スト テス スト"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย"),
        ("ที่นี่", "ที่นี่"),
        ("မြန်မာ", "မြန် န်မာ"),
        ("𝐁𝐨𝐥𝐝 🙂 𐐨𐐩", "bold 𐐨𐐩"),
        ("\u0301 … -- ـ", ""),
        ("", ""),
    ],
)
def test_what_a_text_is_cut_into(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize("word", ["й", "ї", "ё", "ñ", "ü", "が", "ी", "é", "ي"])
def test_composed_and_taken_apart_are_the_same(word: str) -> None:
    whole = f"a{word}b" if word == "ी" else word
    assert terms(unicodedata.normalize("NFD", whole)) == terms(unicodedata.normalize("NFC", whole))


def test_letters_that_make_another_word_stay() -> None:
    assert terms("й") != terms("и")
    assert terms("की") != terms("का")
    assert terms("が") != terms("か")


def test_a_word_is_found_inside_a_sentence_without_spaces() -> None:
    for sentence, word in (
        ("東京都に住んでいます", "東京"),
        ("ผมเรียนภาษาไทยที่นี่", "ภาษา"),
        ("我们在北京大学学习", "北京大学"),
    ):
        found, wanted = terms(sentence), terms(word)
        assert any(found[at : at + len(wanted)] == wanted for at in range(len(found)))


@given(st.text(max_size=200))
def test_terms_are_words_whatever_comes(text: str) -> None:
    found = terms(text)
    assert all(term and len(term) <= LONGEST and not any(sign.isspace() for sign in term) for term in found)
    assert terms(" ".join(found)) == found or any(len(term) > 1 for term in found)


def test_what_is_too_long_for_a_word_is_cut() -> None:
    for letter in "aé":
        (term,) = terms(letter * 100_000)
        assert len(term) == LONGEST
    assert len(terms("語" * 1000)) == 999


@given(
    st.lists(st.text(max_size=90), max_size=8),
    st.sampled_from(["plain words ", "größe und ", "x" * 64 + " ", "слово "]),
)
def test_the_words_of_a_long_text_are_those_of_its_parts(parts: list[str], filling: str) -> None:
    texts = [filling * 30, *parts, filling * 30]
    assert terms("\n".join(texts)) == [term for text in texts for term in terms(text)]
    longer = [filling * 30, *(f"{'y' * 70} {part}" for part in parts)]
    assert terms(" ".join(longer)) == [term for text in longer for term in terms(text)]


@pytest.fixture
def no_numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "numpy", None)
    cutting._has_numpy.cache_clear()
    yield
    cutting._has_numpy.cache_clear()


def test_terms_are_the_same_where_numpy_is_missing(request: pytest.FixtureRequest) -> None:
    plain, mixed = "Plain words, and more. " * 100, f"größe {'x' * 90} foo-bar слово ﬁnd 日本語 \ud800 "
    texts = [plain, plain + mixed + plain, mixed * 50, mixed + plain, plain + mixed, "x" * 5000]
    by_arrays = [terms(text) for text in texts]
    assert cutting._joined_long(plain.encode()) is not None
    request.getfixturevalue("no_numpy")
    assert cutting._joined_long(plain.encode()) is None
    assert [terms(text) for text in texts] == by_arrays


_SCRIPTS = "aZ9 .-éßÆİſ²½ﬁ\u0301\u00ad\u200dйё́Ж۱Ґאָكَىいヴｶﾞ々語한ᄒ\u1161ㅎที่ไมကြोहि𝐁𐐨🙂\ud800\uffff\u3000。'’"


@given(st.text(st.sampled_from(_SCRIPTS) | st.characters(max_codepoint=0xFFFF), max_size=90))
def test_by_arrays_the_terms_are_those_of_words(text: str) -> None:
    whole = f"{text} plain größe 日本語の{text}"
    by_arrays = joined_by_arrays(whole, lambda piece: " ".join(terms_of_piece(piece)))
    assert by_arrays is None or by_arrays.split() == terms(whole)


def test_by_arrays_each_sign_is_what_it_is_in_a_word() -> None:
    pieces = [f"a{chr(code)}語" for code in range(0x80, 0x10000)]
    by_arrays = joined_by_arrays(" plain ".join(pieces), lambda piece: " ".join(terms_of_piece(piece)))
    assert by_arrays is not None
    assert [part.split() for part in by_arrays.split(" plain ")] == [terms_of_piece(piece) for piece in pieces]


@pytest.mark.parametrize(
    "piece",
    [
        "Größe «Straße» ",
        "Cafe\u0301 Ærø ",
        "Привет, МИР! ",
        "it’s “quoted” — ",
        "हिन्दी में ",
        "x" * 70 + "é ",
        "a\u00adb ﬁn\u200d ",
        "日本の町 ",
        "𝐛old ",
        "é",
    ],
)
def test_a_long_text_has_the_terms_of_its_parts(piece: str) -> None:
    text, filling = f"{piece}word " * 300, "çà et là "
    assert terms(text) == terms(f"{piece}word ") * 300
    assert (
        terms(filling * 200 + piece + " " + filling * 200) == terms(filling) * 200 + terms(piece) + terms(filling) * 200
    )


UNITS = ("日", "本", "語", "ไ", "ที่", "ก", "ก้", "한", "न", "नी", "a", "b", " ", ".")


@given(st.lists(st.sampled_from(UNITS), max_size=12), st.sampled_from(UNITS))
def test_a_lone_character_is_found_by_how_terms_begin_wherever_it_stands_in_a_run(
    units: list[str], sought: str
) -> None:
    (term,) = terms(sought) or [""]
    if not is_lone(term):
        assert of_pairs(term) == ""
        return
    joined = " ".join(terms("".join(units)))
    other = f"[{UNSPACED}].{{0,3}}"  # a character, and its marks
    in_a_pair = re.compile(f"{term}({other})?|{other}{term}")
    begins_alike = re.compile(of_pairs(term))
    added = endings(joined).split()
    assert any(map(in_a_pair.fullmatch, joined.split())) == any(map(begins_alike.fullmatch, joined.split() + added))
    assert all(word.startswith(ENDING) and ENDING not in word[1:] for word in added)


def test_what_ends_pairs_and_begins_none_is_added_once() -> None:
    assert endings(" ".join(terms("日本語 と 本語 日本"))) == f" {ENDING}語"
    assert endings("plain words") == endings("слова") == endings("本 and 語") == ""

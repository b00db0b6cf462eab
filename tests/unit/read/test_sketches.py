import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.read.fingerprints import sketch_of
from gregor.worker.read.sketches import KEYS, alike, keys_of, share
from tests import sketches as made

PINNED_KEYS = (199620277, 1423889348, 1283764408, 2139383524, 1061836396, 2070907568)
PINNED_MARKS = "a000ff66631111177922c4e88883aaaaeeeeeee6666666632222ffb77779c55d"
_WORDS = [f"word{number}" for number in range(3000)]
LONG = " ".join(random.Random(1).choices(_WORDS, k=60_000))


def text(number: int, words: int = 400) -> list[str]:
    return random.Random(number).choices(_WORDS, k=words)


def in_common(a: str, b: str) -> float:
    """The true share of runs of 12 letters."""
    first, second = ({words[at : at + 12] for at in range(len(words) - 11)} for words in (letters(a), letters(b)))
    return len(first & second) / len(first | second)


def letters(words: str) -> str:
    return "".join(filter(str.isalnum, words.lower()))


def test_values_are_pinned() -> None:
    """They are stored: with a change of any, nothing that was stored before is found."""
    fox = sketch_of("The quick brown fox jumps over the lazy dog. " * 3)
    assert keys_of(fox) == PINNED_KEYS
    assert fox[24:].hex() == PINNED_MARKS


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.integers(0, 200))
def test_the_estimate_is_near_the_truth(number: int, changed: int) -> None:
    words = text(number)
    other = words[changed:] + text(number + 5000, changed)
    a, b = " ".join(words), " ".join(other)
    assert share(sketch_of(a), sketch_of(b)) == pytest.approx(in_common(a, b), abs=0.25)


def test_who_has_much_in_common_shares_a_key_and_who_has_little_does_not() -> None:
    found = sum(_share_a_key(text(number), text(number)[:360] + text(number + 5000, 40)) for number in range(200))
    chance = sum(_share_a_key(text(number), text(number + 5000)) for number in range(200))
    assert found >= 195
    assert chance == 0


def _share_a_key(a: list[str], b: list[str]) -> bool:
    return not set(keys_of(sketch_of(" ".join(a)))).isdisjoint(keys_of(sketch_of(" ".join(b))))


@pytest.mark.parametrize("size", [45, 60, 200, 1500, 20_000, 200_000])
def test_a_text_that_is_cut_short_a_little_is_nearly_the_same(size: int) -> None:
    assert share(sketch_of(LONG[:size]), sketch_of(LONG[: size - size // 12])) > 0.7


def test_the_script_of_the_rest_does_not_matter() -> None:
    words = " ".join(text(1))
    assert share(sketch_of(words), sketch_of(f"{words} é")) > 0.9


def test_a_text_that_repeats_itself_has_one_too() -> None:
    assert len(sketch_of("a" * 5000)) == len(sketch_of("абв" * 500)) == 24 + 32


def test_letter_case_signs_and_white_space_do_not_count_and_repetition_hardly_does() -> None:
    words = " ".join(text(1, 40))
    assert sketch_of(words) == sketch_of(words.upper().replace(" ", ",\n"))
    assert share(sketch_of(words), sketch_of(f"{words} {words} {words}")) > 0.75


@pytest.mark.parametrize("short", ["", "Short. " * 5, "?" * 500])
def test_short_texts_have_none(short: str) -> None:
    assert sketch_of(short) == b""
    assert keys_of(b"") == ()
    assert share(b"", b"") == share(b"", made.sketch(1)) == 0.0


def test_those_that_are_alike_come_in_order() -> None:
    others = [
        ("c", made.sketch(1, 20)),
        ("b", made.sketch(1)),
        ("a", made.sketch(1)),
        ("d", made.sketch(2)),
        ("e", b""),
    ]
    found = alike(made.sketch(1), others, 0.6)
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert all(first[1] >= second[1] for first, second in pairwise(found))
    assert len(keys_of(made.sketch(1))) == KEYS


def test_what_is_no_sketch_is_refused() -> None:
    with pytest.raises(ValueError, match="56 bytes"):
        keys_of(b"x")

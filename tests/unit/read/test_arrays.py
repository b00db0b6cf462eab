"""Simhash and sketch have one value, be it computed by numpy or in long integers."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gregor.worker.read import arrays, fingerprints

_WORDS = [
    *(
        "the",
        "a",
        "of",
        "crawler",
        "frontier",
        "Straße",
        "café",
        "naïve",
        "42",
        "don't",
        "e-mail",
        "http",
        "utf_8",
        "x",
    ),
    *(
        "ещё",
        "мягких",
        "булок",
        "東京",
        "日本語",
        "한국어",
        "العربية",
        "हिन्दी",
        "ไทย",
        "𝔘𝔫𝔦",
        "🙂",
        "\ud800",
        "²",
        "Ⅷ",
        "ﬁ",
        "İ",
    ),
]
_TEXTS = st.one_of(
    st.lists(st.sampled_from(_WORDS), max_size=300).map(" ".join),
    st.text(st.characters(max_codepoint=0x1FFFF), max_size=300),
    st.text("ab", max_size=400),  # runs come again and again: more of them are looked at
    st.binary(max_size=300).map(lambda octets: octets.decode("latin-1")),
)


def _in_integers(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bytes]:
    with monkeypatch.context() as patched:
        patched.setattr(fingerprints, "way", lambda: fingerprints.in_integers)
        return fingerprints.simhash_and_sketch(text)


def _made(letters: str, count: int, seed: int = 1) -> str:
    return "".join(Random(seed).choices(letters, k=count))


def _same(text: str) -> None:
    assert fingerprints.way() is arrays.simhash_and_sketch
    with pytest.MonkeyPatch.context() as patched:
        in_integers = _in_integers(text, patched)
    assert fingerprints.simhash_and_sketch(text) == in_integers


@settings(max_examples=150, deadline=None)
@given(_TEXTS)
@example("a" * 32)
@example("a" * 1000)
@example("ж" * 1000)
def test_both_ways_say_the_same(text: str) -> None:
    _same(text)


@pytest.mark.parametrize("length", [*range(32, 50), *(at + more for at in (64, 2048, 8192) for more in (2, 3, 4, 5))])
@pytest.mark.parametrize("letters", ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя", "ab"])
def test_both_ways_say_the_same_at_every_bound(length: int, letters: str) -> None:
    _same(_made(letters, length))


@pytest.mark.parametrize("letters", ["abcdefghij 0123", "日本語東京a", "a"])
def test_both_ways_say_the_same_of_long_texts(letters: str) -> None:
    _same(_made(letters, 210_000))


def test_without_numpy_all_is_computed_in_integers() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from gregor.worker.read import fingerprints\n"
        "assert fingerprints.way() is fingerprints.in_integers\n"
        "print(*fingerprints.simhash_and_sketch('The quick brown fox jumps over the lazy dog. ' * 3))"
    )
    said = fingerprints.simhash_and_sketch("The quick brown fox jumps over the lazy dog. " * 3)
    assert _said_by(code) == "{} {}\n".format(*said)


def test_numpy_is_not_loaded_before_a_text_is_read() -> None:
    code = "import sys; import gregor.worker.read.fingerprints; print('numpy' in sys.modules)"
    assert _said_by(code) == "False\n"


def _said_by(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash

from gregor.worker.read.fingerprints import bands, distance, simhash_and_sketch, text_fingerprint
from tests.neighbours import BITS, Neighbours

_HASHES = st.integers(min_value=1, max_value=2**64 - 1)
_FLIPS = st.sets(st.integers(min_value=0, max_value=63), max_size=3)


def simhash64(text: str) -> int:
    return simhash_and_sketch(text)[0]


def _shingle_hash(shingle: bytes) -> int:
    """The hash of one run of letters, given as UTF-8."""
    number = 0
    for letter in shingle.decode("utf-8", "surrogatepass"):
        number = number * 0x100000001B3 + ord(letter)
    for factor, shift in ((0x9E3779B97F4A7C15, 33), (0xC2B2AE3D27D4EB4F, 29), (0x9E3779B97F4A7C15, 32)):
        number = number * factor % 2**64
        number ^= number >> shift
    return number


def test_values_are_pinned() -> None:
    """They are stored: a change of any of these makes every stored simhash or fingerprint useless."""
    assert simhash64("The quick brown fox jumps over the lazy dog. " * 3) == 0x9A83542C5A72B4D1
    assert simhash64("Съешь ещё этих мягких французских булок, да выпей чаю") == 0xEF85A2C31C8DA3E9
    assert text_fingerprint(" a\n b ").hex() == "e932d71afddc92588044f8a624582c4c"


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs"]), min_size=32, max_size=120))
def test_the_value_is_that_of_the_simhash_package(text: str) -> None:
    ours = simhash64(text)
    assert ours == 0 or ours == Simhash(text, hashfunc=_shingle_hash).value


@pytest.mark.parametrize("length", [35, 8194, 8195, 8196, 16_400])
@pytest.mark.parametrize("letter", ["", "ж"])
def test_the_value_of_a_long_text_is_that_of_the_package_too(length: int, letter: str) -> None:
    text = ("".join(str(number**3) for number in range(3000)) + " ")[: length - len(letter)] + letter
    assert simhash64(text) == Simhash(text, hashfunc=_shingle_hash).value


def test_short_texts_have_no_simhash() -> None:
    assert simhash64("Short. " * 5) == 0
    assert simhash64("") == 0


def test_white_space_does_not_change_a_fingerprint_but_all_else_does() -> None:
    assert text_fingerprint("a  b\n") == text_fingerprint("\ta b") != text_fingerprint("ab")
    assert len(text_fingerprint("\ud800")) == 16


@given(st.text(st.sampled_from("a- \t\n\x0b\x0c\r\x1c\x1f\x00\x85\xa0é\u2028\u3000"), max_size=8))
def test_a_fingerprint_is_that_of_the_words_between_single_spaces(text: str) -> None:
    assert text_fingerprint(text) == xxhash.xxh3_128_digest(" ".join(text.split()).encode())


@settings(deadline=None)
@given(_HASHES, _FLIPS)
def test_whatever_is_within_three_bits_shares_a_band_and_is_found(simhash: int, flips: set[int]) -> None:
    other = simhash ^ sum(1 << flip for flip in flips)
    assert distance(simhash, other) == len(flips)
    assert set(bands(simhash)) & set(bands(other))
    assert simhash in Neighbours([simhash]).near(other)


@settings(deadline=None)
@given(st.lists(_HASHES, max_size=30), _HASHES, st.sets(st.integers(min_value=0, max_value=63), max_size=5))
def test_the_neighbours_find_exactly_what_a_scan_finds(stored: list[int], simhash: int, flips: set[int]) -> None:
    stored.append(simhash ^ sum(1 << flip for flip in flips))
    neighbours = Neighbours(stored[::2])
    for one in stored[1::2]:
        neighbours.add(one)
    assert neighbours.near(simhash) == {one for one in stored if distance(one, simhash) <= BITS}

"""The native reading core computes what the Python code does, bit for bit. Skipped where it is not built."""

import random
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.config.settings import Config, replace
from gregor.worker.read import native
from gregor.worker.read.configured import configured
from gregor.worker.read.document import Document
from gregor.worker.read.fingerprints import MAX_LETTERS, simhash_and_sketch, text_fingerprint
from gregor.worker.read.processors import Processors
from gregor.worker.read.read import read

built = pytest.mark.skipif(native.core() is None, reason=f"{native.why_not()} (make native)")

ALPHABETS: Final[tuple[Sequence[int], ...]] = (
    range(0x20, 0x7F),
    range(0x250),
    range(0x370, 0x530),
    range(0, 0x20000, 7),
    range(0xD7F0, 0xE010),
    range(0, 0x110000, 101),
    [*b"\t\n \x1c", 0x85, 0xA0, 0x2003, *b"ab", 0x3A3, 0x130],
)


def equal(text: str) -> None:
    core = native.core()
    assert text_fingerprint(text, core) == text_fingerprint(text), repr(text)
    assert simhash_and_sketch(text, core) == simhash_and_sketch(text), repr(text)


@built
@given(st.text(st.characters(codec=None)), st.integers(1, 60))
def test_fingerprints_of_any_text_are_those_of_python(text: str, times: int) -> None:
    equal(text * times)


@built
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=len)
def test_fingerprints_of_every_script_are_those_of_python(alphabet: Sequence[int]) -> None:
    chance = random.Random(len(alphabet))
    for size in (0, 1, 5, 31, 32, 35, 43, 44, 60, 300, 2000):
        equal("".join(map(chr, chance.choices(alphabet, k=size))))


@built
@pytest.mark.parametrize("words", ["abc ", "déf "])
def test_fingerprints_of_a_long_text_are_those_of_python(words: str) -> None:
    equal(words * (MAX_LETTERS // 3))


@built
def test_every_character_is_white_space_or_a_letter_as_in_python() -> None:
    for start in (*range(0, 0x20000, 0x1000), 0x20000, 0xE0000, 0x10F000):
        equal("".join(f"a{chr(point)}b" for point in range(start, start + 0x1000)))


@built
def test_a_table_of_another_size_is_refused() -> None:
    core = native.core()
    assert core is not None
    with pytest.raises(ValueError, match="a table of letters has 16384 bytes, not 3"):
        core.simhash_and_sketch("a", b"abc")
    with pytest.raises(TypeError):
        core.text_fingerprint(b"a")  # type: ignore[arg-type]


class Noting:
    """A core that says what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def text_fingerprint(self, text: str, /) -> bytes:
        self.texts.append(text)
        return b"f" * 16

    def simhash_and_sketch(self, text: str, letters: bytes, /) -> tuple[int, bytes]:
        self.texts.append(text)
        return 7, b"s"


def test_a_core_is_asked_where_a_registry_has_one_and_its_descendants_have_it_too() -> None:
    core = Noting()
    registry = Processors().natively(core).replacing(())
    said = read(registry, Document("http://a/", b"<title>A</title>B", "text/html"), False)
    assert (said.fingerprint, said.simhash, said.sketch) == (b"f" * 16, 7, b"s")
    assert core.texts == ["A B", "a b"]


def test_no_core_is_asked_where_the_settings_say_so() -> None:
    assert configured(Processors(), Config()).core is native.core()
    assert configured(Processors().natively(Noting()), replace(Config(), native=False)).core is None


def test_a_core_of_another_version_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "import_module", lambda name: type("Other", (), {"INTERFACE": -1}))
    native.why_not.cache_clear()
    try:
        assert native.why_not() == f"gregor-native is of another version (-1, not {native.INTERFACE})"
    finally:
        native.why_not.cache_clear()

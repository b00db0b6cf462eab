"""A short run of the fuzzer over every kind (GREGOR_TEST_FUZZ_INPUTS each), and that it can fail."""

import os

import pytest

from tests.web import fuzz, fuzz_inputs
from tests.web.fuzz_targets import TARGETS

INPUTS = int(os.environ.get("GREGOR_TEST_FUZZ_INPUTS", "2000"))


@pytest.mark.parametrize("kind", sorted(TARGETS))
def test_no_input_fails(kind: str) -> None:
    failures = [str(failure) for failure in fuzz.fuzz(kind, 1, range(INPUTS))]
    assert not failures, "\n".join(failures[:5])


def test_every_kind_has_inputs_and_a_target() -> None:
    assert TARGETS.keys() == fuzz_inputs.LANGUAGES.keys()


def test_an_input_can_be_made_again() -> None:
    assert [fuzz_inputs.make("html", 3, number) for number in range(50)] == [
        fuzz_inputs.make("html", 3, number) for number in range(50)
    ]
    assert all(len(fuzz_inputs.make("html", 3, number)) <= fuzz_inputs.MAX_BYTES for number in range(500))


def test_an_exception_a_hang_and_a_flood_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(data: bytes) -> None:
        raise KeyError(len(data))

    def hangs(_: bytes) -> None:
        while True:
            hash(b"")

    def floods(_: bytes) -> None:
        bytearray(2 * fuzz.GROWTH_MB << 20)[:] = b"x" * (2 * fuzz.GROWTH_MB << 20)

    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    for target, word in ((raises, "KeyError"), (hangs, "TooSlow")):
        monkeypatch.setitem(TARGETS, "html", target)
        (failure,) = fuzz.fuzz("html", 1, [4])
        assert word in failure.error
        assert "--kind html --seed 1 --only 4" in str(failure)
    monkeypatch.setattr(fuzz, "SECONDS", 10.0)
    monkeypatch.setitem(TARGETS, "html", floods)
    (failure,) = fuzz.fuzz("html", 1, [4])
    assert "memory" in failure.error

"""Models as files: what comes out is what went in, and what cannot be one is refused in one line."""

import hashlib
from typing import Any

import msgspec
import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.topic import model_file, page_model
from gregor.worker.topic.features import BITS, PageWords, features, of_page
from gregor.worker.topic.model_file import ModelData, decode, encode, model_data
from gregor.worker.topic.page_model import REMEMBERED, PageModel

NUMBERS = sorted(features(of_page("", "harbour crane", "")))
MODEL = model_data(("jobs", "other"), (3, 4), (0.25, -0.25), NUMBERS, [[2.0, 2.0], [-2.0, -2.0]])


def file_of(model: Any) -> bytes:
    data = msgspec.msgpack.encode(model)
    return f"gregor page model 1 sha256={hashlib.sha256(data).hexdigest()}\n".encode() + data


def changed(**values: Any) -> bytes:
    return file_of({**msgspec.to_builtins(MODEL, builtin_types=(bytes,)), **values})


def test_it_comes_back() -> None:
    assert decode(encode(MODEL), "m") == MODEL
    assert encode(decode(encode(MODEL), "m")) == encode(MODEL)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (b"", "m is no model: `gregor classify train` makes one"),
        (b"\x80\x04\x95cos\nsystem\n", "m is no model: `gregor classify train` makes one"),
        (encode(MODEL)[:40], "m is no model: `gregor classify train` makes one"),
        (encode(MODEL)[:-1], "m is damaged: its checksum does not hold; take a whole copy, or train it again"),
        (encode(MODEL) + b"\0", "m is damaged: its checksum does not hold; take a whole copy, or train it again"),
        (
            encode(MODEL).replace(b"model 1", b"model 2"),
            "m is a model of version 2, and version 1 is read here: train it again",
        ),
        (file_of([1]), "m is damaged: Expected `object`, got `array`"),
        (changed(bias=["a", "b"]), "m is damaged: Expected `float`, got `str` - at `$.bias[0]`"),
        (changed(classes=["jobs", "jobs"]), "m is damaged: it wants 2 to 64 different classes"),
        (changed(classes=["jobs"]), "m is damaged: it wants 2 to 64 different classes"),
        (changed(classes=["jobs", "\x1b[2J"]), "m is damaged: a class has no name that can be shown"),
        (changed(bias=[0] * 65), "m is damaged: Expected `array` of length <= 64 - at `$.bias`"),
        (changed(bias=[0.0]), "m is damaged: its classes and their numbers do not go together"),
        (changed(bias=[float("nan"), 0.0]), "m is damaged: a weight is no finite number"),
        (changed(weights=b"\0\0\xc0\x7f" * 4), "m is damaged: a weight is no finite number"),
        (changed(weights=b"\0" * 12), "m is damaged: its features and weights do not go together"),
        (changed(features=b"\0" * 8), "m is damaged: its features are out of order"),
        (
            changed(features=b"\0\0\0\0" + (1 << BITS).to_bytes(4, "little")),
            "m is damaged: its features are out of order",
        ),
    ],
)
def test_what_is_no_whole_model_is_refused(file: bytes, line: str) -> None:
    with pytest.raises(BadInput) as error:
        decode(file, "m")
    assert str(error.value) == line


def test_too_many_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MOST_WEIGHTS", 3)
    with pytest.raises(BadInput, match="more than 3 weights"):
        decode(encode(MODEL), "m")


def test_words_that_it_knows_decide() -> None:
    model = PageModel(decode(encode(MODEL), "m"))
    said = model.classify("", "The harbour's crane!", "")
    assert said.name == "jobs" and said.probability > 0.9
    assert abs(sum(said.probabilities.values()) - 1.0) < 1e-9
    assert model.classify(None, "", "").probabilities["jobs"] == pytest.approx(0.6225, abs=1e-4)  # the bias alone
    one_word = model.classify("", "crane", "")
    assert one_word.name == "jobs" and one_word.probability > 0.9


def test_a_model_without_words_has_its_bias() -> None:
    empty: ModelData = model_data(("a", "b"), (1, 1), (0.0, 1.0), [], [[], []])
    assert PageModel(decode(encode(empty), "m")).classify("t", "words", "http://h/").name == "b"


def test_what_it_remembers_of_words_is_bounded() -> None:
    model = PageModel(MODEL)
    for begin in range(0, 3 * REMEMBERED, 500):
        model.classify("", " ".join(f"w{number}" for number in range(begin, begin + 500)), "")
    assert all(len(places) <= REMEMBERED for places in model._places)
    assert model.classify("", "harbour crane", "").probability > 0.9


def test_a_page_that_is_asked_about_again_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def seen(title: str | None, text: str, href: str) -> PageWords:
        looked_at.append(text)
        return of_page(title, text, href)

    monkeypatch.setattr(page_model, "of_page", seen)
    model = PageModel(MODEL)
    for text in ("harbour", "harbour", "tea", "harbour"):
        assert (model.classify("", text, "").probabilities["jobs"] > 0.9) == (text == "harbour")
    assert looked_at == ["harbour", "tea", "harbour"]

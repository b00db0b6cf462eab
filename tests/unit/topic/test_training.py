"""Models that learn: the worked example of the documentation, calibration, and what cannot be learnt from."""

import asyncio
import random
from pathlib import Path

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.compose.labelled import labelled_pages, read_labels
from gregor.worker.config.settings import Config
from gregor.worker.topic.evaluation import Prediction, evaluation, lines
from gregor.worker.topic.features import features, of_page
from gregor.worker.topic.model_file import decode, encode
from gregor.worker.topic.page_model import PageModel, softmax
from gregor.worker.topic.training import LabelledPage, cross_validate, train

EXAMPLE = Path(__file__).parents[3] / "docs/examples/classes/labels.jsonl"


@pytest.fixture(scope="module")
def example() -> list[LabelledPage]:
    return asyncio.run(labelled_pages(read_labels(str(EXAMPLE)), Config())).pages


def noisy(count: int) -> list[LabelledPage]:
    """Pages of two classes whose words overlap so much that nobody can always tell them apart."""
    chance = random.Random(5)
    words = [f"w{number}" for number in range(60)]
    pages = []
    for number in range(count):
        label = "ab"[number % 2]
        favoured = words[:30] if label == "a" else words[30:]
        text = " ".join(chance.choice(favoured if chance.random() < 0.3 else words) for _ in range(12))
        pages.append(LabelledPage("", text, "", label))
    return pages


def test_the_example_tells_postings_from_listings_and_the_rest(example: list[LabelledPage]) -> None:
    result = evaluation(cross_validate(example), 5)
    assert set(result.classes) == {"posting", "listing", "other"} and result.pages == len(example) == 55
    assert min(measures.f1 for measures in result.classes.values()) >= 0.9, list(lines(result))


def test_a_page_that_it_has_not_seen(example: list[LabelledPage]) -> None:
    model = PageModel(decode(encode(train(example)), "m"))
    text = "Your tasks: you repair lifts. Your profile: an apprenticeship. We offer a permanent contract. Apply now."
    said = model.classify("Lift mechanic (m/f/d)", text, "https://lifts.example/careers/lift-mechanic-12")
    assert said.name == "posting" and said.probability > 0.6
    other = model.classify("Stops", "The bus calls at the market and at the mill.", "https://bus.example/stops/mill")
    assert min(other.probabilities.values()) > 1e-6, "so few pages prove nothing, though each of them is told right"


def test_the_same_pages_give_the_same_model(example: list[LabelledPage]) -> None:
    assert encode(train(example[::3])) == encode(train(example[::3]))


def test_the_worker_says_what_the_numbers_say(example: list[LabelledPage]) -> None:
    data = train(example[::2])
    model, numbers, weights = PageModel(data), data.numbers(), data.of_classes()
    for page in example[1:20:2]:
        values = features(of_page(page.title, page.text, page.href))
        scores = [
            bias + sum(values.get(number, 0.0) * weight for number, weight in zip(numbers, of_class, strict=True))
            for bias, of_class in zip(data.bias, weights, strict=True)
        ]
        said = model.classify(page.title, page.text, page.href)
        assert list(said.probabilities.values()) == pytest.approx(softmax(scores), abs=1e-6)


def test_probabilities_are_shares_that_are_right() -> None:
    result = evaluation(cross_validate(noisy(240), 4), 4)
    assert 0.6 < result.accuracy < 0.97 and result.calibration_error < 0.1, list(lines(result))


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        ("aaaa", "there are pages of one class, and a model wants two classes at least"),
        ("aaab", "of the class 'b' there is 1 page, and 3 are wanted at least"),
        ("", "there is no page, and a model wants two classes at least"),
    ],
)
def test_what_cannot_be_learnt_from(labels: str, line: str) -> None:
    with pytest.raises(BadInput) as error:
        train([LabelledPage("", f"{label} text", "", label) for label in labels])
    assert str(error.value) == line


@pytest.mark.parametrize(("pages", "folds"), [(3, 5), (3, 3), (4, 2)])
def test_a_class_of_few_pages_is_evaluated(pages: int, folds: int) -> None:
    labels = "a" * 12 + "b" * pages
    predictions = cross_validate([LabelledPage("", f"{label} text", "", label) for label in labels], folds)
    assert [prediction.label for prediction in predictions] == list(labels)


def test_two_parts_of_a_class_want_four_pages() -> None:
    with pytest.raises(BadInput, match="of the class 'b' there are 3 pages, and 4 are wanted at least"):
        cross_validate([LabelledPage("", f"{label} text", "", label) for label in "aaaabbb"], 2)


def test_pages_without_any_word_can_be_learnt_from() -> None:
    pages = [LabelledPage(None, "", "", label) for label in "aaabbb"]
    assert PageModel(train(pages)).classify(None, "", "").probability == pytest.approx(0.5, abs=0.01)


def test_measures() -> None:
    said = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"), ("c", "a")]
    result = evaluation([Prediction(label, name, {name: 0.8}) for label, name in said], 2)
    a, b, c = (result.classes[name] for name in "abc")
    assert (a.precision, a.recall, a.f1, a.pages) == (0.5, 0.5, 0.5, 2)
    assert b.precision == pytest.approx(2 / 3) and (b.recall, b.pages) == (1.0, 2)
    assert (c.precision, c.recall, c.f1, c.pages) == (0.0, 0.0, 0.0, 1)
    assert result.confusion["a"] == {"a": 1, "b": 1, "c": 0} and result.accuracy == 0.6
    assert result.calibration_error == pytest.approx(0.2)

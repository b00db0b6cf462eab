"""How good a model is, by what it says of labelled pages that it has not seen. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec


class Prediction(NamedTuple):
    """What a model says of a page of a class."""

    label: str
    said: str
    probabilities: dict[str, float]


class ClassMeasures(msgspec.Struct, frozen=True):
    """``precision``: the share of what was put into the class that belongs there; ``recall``: the share of what belongs
    there that was put there; ``f1``: their harmonic mean; ``pages``: how many belong there."""

    precision: float
    recall: float
    f1: float
    pages: int


class Evaluation(msgspec.Struct, frozen=True):
    """``accuracy``: the share of pages that are put where they belong; ``macro_f1``: the mean of the classes' f1;
    ``calibration_error``: how far the probabilities are from the shares that are right, on average over ten bands of
    them; ``confusion``: pages by the class that they are of and the one that was said."""

    pages: int
    folds: int
    accuracy: float
    macro_f1: float
    calibration_error: float
    classes: dict[str, ClassMeasures]
    confusion: dict[str, dict[str, int]]


def evaluation(predictions: Sequence[Prediction], folds: int) -> Evaluation:
    """The measures of predictions, of which there is one at least."""
    pairs = Counter((prediction.label, prediction.said) for prediction in predictions)
    names = sorted({name for pair in pairs for name in pair})
    classes = {name: _measures(name, pairs) for name in names}
    right = sum(pairs[name, name] for name in names)
    there = [measures for measures in classes.values() if measures.pages]
    return Evaluation(
        len(predictions),
        folds,
        right / len(predictions),
        sum(measures.f1 for measures in there) / len(there),
        _calibration_error(predictions),
        classes,
        {name: {said: pairs[name, said] for said in names} for name in names if classes[name].pages},
    )


def lines(result: Evaluation) -> Iterable[str]:
    """The same for people."""
    width = max(5, *(len(name) for name in result.classes))
    yield f"{'CLASS':<{width}}  PRECISION  RECALL     F1  PAGES"
    for name, measures in result.classes.items():
        numbers = f"{measures.precision:>9.3f}  {measures.recall:>6.3f}  {measures.f1:>5.3f}  {measures.pages:>5}"
        yield f"{name:<{width}}  {numbers}"
    yield (
        f"{result.pages} pages in {result.folds} parts: accuracy {result.accuracy:.3f}, mean F1 {result.macro_f1:.3f}, "
        f"calibration error {result.calibration_error:.3f}"
    )


def _measures(name: str, pairs: Counter[tuple[str, str]]) -> ClassMeasures:
    right = pairs[name, name]
    said = sum(count for (_, other), count in pairs.items() if other == name)
    pages = sum(count for (label, _), count in pairs.items() if label == name)
    precision, recall = right / said if said else 0.0, right / pages if pages else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return ClassMeasures(precision, recall, f1, pages)


def _calibration_error(predictions: Sequence[Prediction]) -> float:
    bands: dict[int, list[tuple[float, bool]]] = {}
    for label, said, probabilities in predictions:
        sure = probabilities[said]
        bands.setdefault(min(9, int(10 * sure)), []).append((sure, label == said))
    apart = (abs(sum(sure for sure, _ in band) - sum(right for _, right in band)) for band in bands.values())
    return sum(apart) / len(predictions)

"""A model of labelled pages: a linear one over hashed words, its probabilities calibrated. Pure; wants scikit-learn.

The scores of pages that a model has not seen say how sure it may be: they are had by cross-validation, and the one
number by which all scores are multiplied makes what was seen most likely (temperature scaling, Guo et al. 2017).
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gregor.worker.base.amounts import count
from gregor.worker.base.errors import BadInput
from gregor.worker.base.extras import named_if_missing
from gregor.worker.topic.evaluation import Prediction
from gregor.worker.topic.features import features, of_page
from gregor.worker.topic.model_file import MOST_CLASSES, MOST_WEIGHTS, ModelData, model_data
from gregor.worker.topic.page_model import PageModel

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

FOLDS: Final = 5
FEWEST: Final = 3
"""Pages of a class that a model is made of, at least."""
_STRENGTH: Final = 10.0
"""How far the model may follow the labels (C of scikit-learn)."""
_TEMPERATURES: Final = (0.02, 50.0)
_SEED: Final = 0


class LabelledPage(NamedTuple):
    """A page that a person has put into a class."""

    title: str | None
    text: str
    href: str
    label: str


def train(pages: Sequence[LabelledPage], folds: int = FOLDS) -> ModelData:
    """A model of pages; the same pages give the same one. Raises `BadInput` for what cannot be learnt from."""
    _check(pages)
    with named_if_missing("topic"):
        return _trained(pages, folds)


def cross_validate(pages: Sequence[LabelledPage], folds: int = FOLDS) -> list[Prediction]:
    """What models say of pages that they have not seen: each of ``folds`` models learns from all but a part of the
    pages, and is asked about that part. In the order of ``pages``."""
    _check(pages, FEWEST if folds > 2 else 4)  # of each class two pages are learnt from
    with named_if_missing("topic"):
        predictions: dict[int, Prediction] = {}
        for train_on, ask in _parts([page.label for page in pages], folds):
            model = PageModel(_trained([pages[at] for at in train_on], folds))
            for at in ask:
                page = pages[at]
                said = model.classify(page.title, page.text, page.href)
                predictions[at] = Prediction(page.label, said.name, said.probabilities)
        return [predictions[at] for at in range(len(pages))]


def _check(pages: Sequence[LabelledPage], fewest: int = FEWEST) -> None:
    counts = Counter(page.label for page in pages)
    if len(counts) < 2:
        held = "are pages of one class" if counts else "is no page"
        raise BadInput(f"there {held}, and a model wants two classes at least")
    if len(counts) > MOST_CLASSES:
        raise BadInput(f"there are {len(counts)} classes, and a model has {MOST_CLASSES} at most")
    for label, labelled in counts.items():
        if labelled < fewest:
            there = f"there {'is' if labelled == 1 else 'are'} {count(labelled, 'page')}"
            raise BadInput(f"of the class {label!r} {there}, and {fewest} are wanted at least")


def _trained(pages: Sequence[LabelledPage], folds: int) -> ModelData:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # threads that compute would spin for most of the time: the matrices are small
        return _Trainer(pages).model(folds)


def _parts(labels: Sequence[str] | Sequence[int], folds: int) -> "list[tuple[list[int], list[int]]]":
    """How pages are parted: which are learnt from, which are asked about; each class in each part alike."""
    from sklearn.model_selection import StratifiedKFold

    most = min(folds, *Counter(labels).values())
    parted = StratifiedKFold(most, shuffle=True, random_state=_SEED).split(labels, labels)
    return [(list(map(int, train_on)), list(map(int, ask))) for train_on, ask in parted]


class _Trainer:
    def __init__(self, pages: Sequence[LabelledPage]) -> None:
        from scipy.sparse import csr_matrix

        counts = Counter(page.label for page in pages)
        self._classes = tuple(sorted(counts))
        self._examples = tuple(counts[name] for name in self._classes)
        self._labels = [self._classes.index(page.label) for page in pages]
        rows = [features(of_page(page.title, page.text, page.href)) for page in pages]
        starts = [0]
        for row in rows:
            starts.append(starts[-1] + len(row))
        self._numbers = sorted({number for row in rows for number in row})
        places = {number: place for place, number in enumerate(self._numbers)}
        values = [value for row in rows for value in row.values()]
        columns = [places[number] for row in rows for number in row]
        self._matrix: Any = csr_matrix((values, columns, starts), shape=(len(rows), max(1, len(places))))

    def model(self, folds: int) -> ModelData:
        import numpy

        labels = numpy.array(self._labels)
        unseen = numpy.zeros((len(labels), len(self._classes)))
        for train_on, ask in _parts(self._labels, folds):
            weights, bias = self._fitted(self._matrix[train_on], labels[train_on])
            unseen[ask] = self._matrix[ask] @ weights.T + bias
        factor = _temperature(unseen, labels)
        weights, bias = self._fitted(self._matrix, labels)
        weights, bias = weights * factor, bias * factor
        strongest = numpy.abs(weights).max(axis=0)
        most = MOST_WEIGHTS // len(self._classes)
        kept = numpy.sort(numpy.argsort(-strongest, kind="stable")[: min(most, int((strongest > 0).sum()))]).tolist()
        numbers = [self._numbers[place] for place in kept]
        return model_data(self._classes, self._examples, tuple(map(float, bias)), numbers, weights[:, kept].tolist())

    def _fitted(self, matrix: Any, labels: Any) -> "tuple[NDArray[numpy.float64], NDArray[numpy.float64]]":
        """Weights and bias of each class."""
        import numpy
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(C=_STRENGTH, max_iter=500).fit(matrix, labels)
        weights, bias = fitted.coef_, fitted.intercept_
        if len(self._classes) == 2:  # it tells the second by the first
            weights, bias = numpy.vstack((-weights, weights)) / 2, numpy.concatenate((-bias, bias)) / 2
        return weights, bias


def _temperature(scores: Any, labels: Any) -> float:
    """By what scores are multiplied so that the labels are as likely as they can be. Few pages prove nothing, even if
    all are told right: as if one more of each were not (Platt 1999)."""
    import numpy
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    pages, classes = scores.shape
    doubt = 1.0 / (pages + 2)
    targets = numpy.full(scores.shape, doubt / (classes - 1))
    targets[numpy.arange(pages), labels] = 1.0 - doubt

    def surprise(logarithm: float) -> float:
        scaled = scores * numpy.exp(logarithm)
        return float((logsumexp(scaled, axis=1) - (targets * scaled).sum(axis=1)).mean())

    low, high = _TEMPERATURES
    least = minimize_scalar(surprise, bounds=(numpy.log(low), numpy.log(high)), method="bounded")
    return float(numpy.exp(least.x))

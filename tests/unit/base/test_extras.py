"""What to install for what is missing."""

import pytest

from gregor.worker.base.errors import BadInput
from gregor.worker.base.extras import advice, named_if_missing


@pytest.mark.parametrize("missing", ["numpy", "scipy.optimize", "sklearn", "threadpoolctl"])
def test_what_several_extras_have_is_advised_for_who_missed_it(missing: str) -> None:
    with pytest.raises(BadInput, match=r"labelled pages .*gregor-crawler\[topic\]'$"), named_if_missing("topic"):
        raise ModuleNotFoundError(missing, name=missing)


def test_without_a_word_of_who_missed_it_the_usual_extra_is_advised() -> None:
    assert "gregor-crawler[search]" in (advice(ModuleNotFoundError("n", name="numpy")) or "")


@pytest.mark.parametrize(("missing", "wanted"), [("ours", None), ("ours", "topic"), ("tantivy", "topic")])
def test_what_the_extra_does_not_have_stays_an_error(missing: str, wanted: str | None) -> None:
    with pytest.raises(ModuleNotFoundError), named_if_missing(wanted):
        raise ModuleNotFoundError(missing, name=missing)

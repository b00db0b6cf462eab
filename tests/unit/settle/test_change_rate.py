"""What is known of how often a page changes: few visits say something, none of it is lost when it is kept."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import revisits as bench
from gregor.worker.settle.change_learning import ChangeLearning
from gregor.worker.settle.change_rate import RATES, ChangeRate
from gregor.worker.settle.crawl_value import Border, due_after, value

DAY = 86_400.0


@given(st.floats(60.0, 1e8), st.lists(st.tuples(st.floats(1.0, 1e8), st.booleans()), max_size=10))
def test_what_is_kept_is_what_was_known(interval: float, findings: list[tuple[float, bool]]) -> None:
    known = ChangeRate.expected(interval)
    for after, changed in findings:
        known = known.visited(after, changed)
    assert sum(known.weights) == pytest.approx(1.0)
    kept = ChangeRate.read(known.octets)
    assert kept is not None
    assert len(known.octets) == len(RATES)
    for weight, other in zip(known.weights, kept.weights, strict=True):
        assert other == pytest.approx(weight, rel=0.15, abs=1e-6)


@pytest.mark.parametrize("octets", [b"", b"x", bytes(len(RATES) + 1), b"\xff" * len(RATES)])
def test_what_is_no_distribution_is_none(octets: bytes) -> None:
    assert ChangeRate.read(octets) is None


@pytest.mark.parametrize("true", [1 / DAY, 1 / (20 * DAY)])
def test_irregular_visits_find_the_rate(true: float) -> None:
    chance, known = Random(5), ChangeRate.expected(10 * DAY)
    for _ in range(60):
        after = chance.uniform(0.1, 3.0) / true
        known = known.visited(after, chance.random() < 1.0 - math.exp(-true * after))
    assert true / 2 < known.mean < true * 2


def test_what_never_changed_in_long_hardly_will() -> None:
    known = ChangeRate.expected(DAY)
    for _ in range(10):
        known = known.visited(30 * DAY, changed=False)
    assert known.unchanged_for(30 * DAY) > 0.9
    assert known.visited(0.0, changed=True) == known, "two visits at once say nothing"


@given(st.floats(60.0, 1e8), st.floats(1.0, 1e6), st.floats(1.1, 3.0))
def test_a_visit_is_worth_more_the_longer_it_waits_and_the_more_it_matters(
    interval: float, age: float, more: float
) -> None:
    known = ChangeRate.expected(interval)
    assert value(known, age) <= value(known, age * more) + 1e-9
    assert value(known, age) <= value(known, age, importance=more)
    assert value(known, age) <= value(known, age, doubts=(0.4,)) + 1e-9


@given(st.floats(60.0, 1e7), st.floats(1.0, 1e7))
def test_the_next_visit_is_when_its_value_comes_to_the_border(interval: float, border: float) -> None:
    known = ChangeRate.expected(interval)
    due = due_after(known, border, 60.0, 1e8)
    if 60.0 < due < 1e8:
        assert value(known, due) == pytest.approx(border, rel=0.02)


def test_the_border_rises_while_visits_are_too_many_or_late_and_falls_while_they_are_too_few() -> None:
    border = Border(DAY)
    heights = [border.height]
    for interval, late in ((DAY / 2, 0.0), (DAY, DAY)):
        border.planned(interval, late)
        heights.append(border.height)
    assert heights == sorted(heights)
    border.planned(3 * DAY)
    assert border.height < heights[-1]


def test_a_crawl_that_stood_still_visits_its_pages_as_often_as_before() -> None:
    learning = ChangeLearning(DAY)
    before = learning.border.height
    for number in range(2_000):
        learning.planned(DAY, due=number, now=9 * DAY + number)
    assert before <= learning.border.height < 2.0 * before


@pytest.mark.parametrize("interval", [DAY / 8, 64 * DAY])
@pytest.mark.parametrize("late", [0.0, 9 * DAY])
def test_the_border_comes_back_soon_however_long_visits_were_late_or_few(interval: float, late: float) -> None:
    border = Border(DAY)
    usual = border.height
    for _ in range(50_000):
        border.planned(interval, late)
    assert late == 0.0 or interval < DAY or border.height <= usual, "late visits alone do not make all visits rare"
    there = border.height > usual
    for _ in range(1_000):
        border.planned(2 * DAY if there else DAY / 8)
    assert there != (border.height > usual)


@pytest.mark.parametrize("interval", [1e-300, 1e-40, 1e-3, 3e9])
def test_any_mean_interval_has_rates_and_a_border(interval: float) -> None:
    learning = ChangeLearning(interval)
    assert sum(learning.prior.weights) == pytest.approx(1.0)
    learning.planned(interval, 0.0, 0.0)
    assert learning.border.height > 0.0


@pytest.mark.parametrize("name", bench.DISTRIBUTIONS)
def test_pages_are_nearly_as_fresh_as_they_can_be_and_fresher_than_by_doubling_or_alike(name: str) -> None:
    """A small sample of `make revisits`."""
    possible = bench.best(bench.drawn(name, 100, 1))
    shares = {
        way: bench.Crawl(bench.drawn(name, 100, 1), way, 1).share(60.0) for way in ("value", "doubling", "uniform")
    }
    assert shares["value"] >= 0.95 * possible
    assert shares["value"] > max(shares["doubling"], shares["uniform"])

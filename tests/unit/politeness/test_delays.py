"""How long a host is left alone."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.politeness.delays import back_off, ceiling, delay_in_force, doubled, first_turn

SECONDS = st.floats(0.0, 1e6)
FACTOR = st.floats(0.0, 100.0)


@given(SECONDS, SECONDS, SECONDS, FACTOR, SECONDS)
def test_the_longest_wish_is_granted(
    configured: float, asked: float, cap: float, factor: float, latency: float
) -> None:
    delay = delay_in_force(configured, asked, cap, factor, latency)
    assert delay >= configured
    assert delay >= factor * latency
    assert delay >= min(asked, cap)
    assert delay in (configured, asked, cap, factor * latency)


@pytest.mark.parametrize(("asked", "delay"), [(0.0, 1.0), (5.0, 5.0), (30.0, 30.0), (86400.0, 30.0)])
def test_a_crawl_delay_holds_up_to_the_cap(asked: float, delay: float) -> None:
    assert delay_in_force(1.0, asked, 30.0, 0.0, 9.0) == delay


@given(st.floats(1e-6, 1e9))
def test_a_ceiling_is_the_next_power_of_two(delay: float) -> None:
    found = ceiling(delay)
    assert delay <= found < 2 * delay
    assert math.log2(found).is_integer()
    assert ceiling(found) == found


def test_no_delay_has_no_ceiling() -> None:
    assert ceiling(0.0) == 0.0


@given(st.floats(0.01, 1e4), st.integers(0, 10**9), st.floats(0.01, 1e6), st.floats(0.0, 1.0), st.integers())
def test_back_off_doubles_up_to_its_bound(
    pause: float, failures: int, longest: float, jitter: float, seed: int
) -> None:
    waited = back_off(pause, failures, longest, jitter, random.Random(seed))
    steady = back_off(pause, failures, longest, 0.0, random.Random(seed))
    assert steady <= waited <= steady * (1 + jitter)
    assert steady <= longest
    following = back_off(pause, failures + 1, longest, 0.0, random.Random(seed))
    assert following in (steady * (2 if failures else 1), longest) or failures > 32
    assert back_off(pause, 1, longest, 0.0, random.Random(seed)) == min(pause, longest)


@given(st.floats(0.01, 1e4), st.integers(0, 10**9), st.floats(0.01, 1e12))
def test_what_is_doubled_without_end_stays_bounded(first: float, times: int, longest: float) -> None:
    found = doubled(first, times, longest)
    assert found <= longest
    assert found == min(first * 2.0 ** min(times, 32), longest)


@given(SECONDS, SECONDS, SECONDS, SECONDS, SECONDS)
def test_a_new_owner_waits_for_all_that_it_cannot_know(
    now: float, taken: float, record: float, first: float, not_before: float
) -> None:
    turn = first_turn(now, taken, record, first, not_before)
    assert turn >= max(now, not_before, taken + record, taken + first)
    assert turn in (now, not_before, taken + record, taken + first)

"""How long a crawl may still take, and what several machines have left combined."""

import pytest

from gregor.worker.inspect.machine import memory_used
from gregor.worker.inspect.outlook import Outlook, Remaining, combined, time_left
from gregor.worker.inspect.rates import Rates

RATES, STILL = Rates(2.0, 4.0, 100.0), Rates(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("remaining", "rates", "left"),
    [
        (Remaining(40, 0.0, False), RATES, 10.0),
        (Remaining(40, 25.0, False), RATES, 25.0),  # one host alone takes longer than all combined
        (Remaining(40, 0.0, False, pages=10), RATES, 5.0),
        (Remaining(40, 0.0, False, bytes=100), RATES, 1.0),
        (Remaining(40, 0.0, False, seconds=3.0), RATES, 3.0),
        (Remaining(40, 0.0, False, pages=0), STILL, 0.0),
        (Remaining(40, 0.0, False, pages=-1), RATES, 0.0),
        (Remaining(40, 0.0, False), STILL, None),
        (Remaining(0, 0.0, False), STILL, 0.0),
        (Remaining(0, 0.0, True), RATES, None),  # a visit that is put off comes when it comes
        (Remaining(40, 0.0, True, pages=10), RATES, 5.0),
        (Remaining(40, 0.0, True, seconds=-1.0), STILL, 0.0),
    ],
)
def test_the_first_end_counts(remaining: Remaining, rates: Rates, left: float | None) -> None:
    assert time_left(remaining, rates) == left


def test_of_several_the_sum_waits_and_the_least_room_is_told() -> None:
    roomy, tight = Outlook(5, 9.0, 900, 1000, 10, 100), Outlook(7, 3.0, 100, 2000, 90, 100)
    assert combined([roomy, tight]) == Outlook(12, 9.0, 100, 2000, 90, 100)
    assert combined([roomy, Outlook(1)]) == Outlook(6, None, 900, 1000, 10, 100)
    assert combined([]) == Outlook()


def test_the_memory_of_this_process_is_told() -> None:
    assert 1_000_000 < memory_used() < 1_000_000_000_000

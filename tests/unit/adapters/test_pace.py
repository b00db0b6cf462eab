"""When an answer counts as too slow."""

from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.adapters.transport.pace import Pace
from gregor.worker.borders.transport import Limits

LIMITS = Limits(read_timeout=5, total_timeout=20, minimum_rate=100, rate_window=4)


def test_silence_counts_from_the_request_on() -> None:
    pace = Pace(LIMITS, 0)
    assert pace.fault(19) is None  # still connecting: that has a limit of its own
    pace.sent(10)
    assert pace.fault(14.9) is None
    assert pace.fault(15) == "nothing received for 5 s"


def test_any_piece_ends_the_silence() -> None:
    pace = Pace(LIMITS, 0)
    pace.sent(1)
    pace.received(0, 5)
    assert pace.fault(9.9) is None
    assert pace.fault(10) == "nothing received for 5 s"


def test_the_total_time_counts_from_the_start() -> None:
    pace = Pace(Limits(total_timeout=20), 100)
    pace.sent(101)
    for now in range(101, 120):
        pace.received(1000, now)
        assert pace.fault(now) is None
    assert pace.fault(120) == "no whole answer within 20 s"


def test_the_rate_counts_by_windows_of_the_body() -> None:
    pace = Pace(LIMITS, 0)
    pace.sent(0)
    pace.received(0, 1)  # the head
    pace.received(200, 2)
    pace.received(200, 5)
    assert pace.fault(6) is None  # 400 bytes in 4 s
    pace.received(399, 9)
    assert pace.fault(9.9) is None
    assert pace.fault(10) == "slower than 100 bytes/s"


@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(0, 10))), st.booleans())
def test_whoever_looks_when_told_sees_the_end_in_time(arrivals: list[tuple[int, float]], sent: bool) -> None:
    pace = Pace(LIMITS, 0)
    if sent:
        pace.sent(0)
    now, looks = 0.0, 0
    for count, pause in arrivals:
        now += pause
        pace.received(count, now)
    while pace.fault(now) is None:
        now += max(pace.next_look(now), 1e-6)
        looks += 1
        assert now <= LIMITS.total_timeout + 1e-3
        assert looks < 30

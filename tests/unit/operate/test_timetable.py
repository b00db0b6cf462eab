"""When the next run is due: an interval from the beginning of the last one, or a moment of a cron expression."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.base.errors import BadInput
from gregor.worker.operate.timetable import LEAST, Timetable

NOON = datetime(2026, 3, 4, 12, 0).astimezone().timestamp()  # a Wednesday


@pytest.mark.parametrize(
    ("text", "hours"),
    [("90", 0.025), ("45m", 0.75), ("6h", 6.0), ("1d", 24.0), ("2w", 336.0), (" 1D ", 24.0), ("1.5h", 1.5)],
)
def test_an_interval_counts_from_the_beginning(text: str, hours: float) -> None:
    assert Timetable.parse(text).after(NOON) == NOON + hours * 3600


@pytest.mark.parametrize(
    ("text", "hours"), [("0 3 * * *", 15.0), ("30 12 * * *", 0.5), ("0 12 * * *", 24.0), ("0 12 * * fri", 48.0)]
)
def test_a_cron_expression_means_the_clock_of_the_machine(text: str, hours: float) -> None:
    assert Timetable.parse(text).after(NOON) == NOON + hours * 3600


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("eve", [datetime(2026, 3, 28, 12, tzinfo=BERLIN), datetime(2026, 10, 24, 12, tzinfo=BERLIN)])
def test_summer_time_shifts_no_run(berlin: None, eve: datetime) -> None:
    after = Timetable.parse("0 12 * * *").after(eve.timestamp())
    assert datetime.fromtimestamp(after, BERLIN) == eve + timedelta(days=1)


def test_the_hour_that_comes_twice(berlin: None) -> None:
    second = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1).timestamp()
    assert second < Timetable.parse("*/5 * * * *").after(second) <= second + 3600


@pytest.mark.parametrize("text", ["", "soon", "0", "0s", "0.5s", "-1d", "* * * *", "61 * * * *", "0 0 31 2 *", "1d 2h"])
def test_what_is_no_time_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(BadInput, match="--every wants"):
        Timetable.parse(text)


@given(st.floats(0, 4e9), st.sampled_from(["1s", "1d", "* * * * *", "0 3 * * *", "0 0 1 1 *", "*/7 4 * * 1-5"]))
def test_the_next_run_is_later(begun: float, text: str) -> None:
    assert Timetable.parse(text).after(begun) > begun
    assert Timetable.parse("1s").after(begun) == begun + LEAST

"""Dates of a clock that was ahead are set back; a wait that may be an ordered one is never made shorter."""

import re
from pathlib import Path

import pytest

from gregor.schemas import messages
from gregor.schemas.messages import HostRecord
from gregor.worker.frontier.ahead import _DATES, LONGEST_WAIT, MARGIN, Ahead, dated_back, in_time
from tests.reading import ticket

NOW, DAY = 2e9, 86400.0


@pytest.mark.parametrize("seconds", [2 * MARGIN, DAY, 3 * DAY, 1825 * DAY])
@pytest.mark.parametrize("wait", [60.0, DAY / 2, DAY])
def test_a_wait_is_as_long_as_it_was_ordered_at_least(seconds: float, wait: float) -> None:
    ahead = Ahead(seconds, NOW)
    by_a_right_clock = dated_back(HostRecord(host="h", not_before=NOW + wait), ahead)
    assert by_a_right_clock.not_before == NOW + wait
    by_one_that_was_ahead = dated_back(HostRecord(host="h", not_before=NOW + seconds + wait), ahead)
    assert NOW + wait <= by_one_that_was_ahead.not_before <= NOW + max(wait, LONGEST_WAIT)


@pytest.mark.parametrize("seconds", [0.0, MARGIN / 2, DAY, 1825 * DAY])
def test_a_ticket_that_travels_waits_as_long_as_it_says_by_the_clock_of_who_reads_it(seconds: float) -> None:
    made = NOW + seconds
    read = in_time(ticket("http://a.test/", at=made, not_before=made + 2 * DAY, due=made + 9 * DAY, ordered=made), NOW)
    shift = seconds if seconds > MARGIN else 0.0
    assert read.at == read.ordered == made - shift
    assert read.not_before == made + 2 * DAY - shift and read.due == made + 9 * DAY - shift


def test_every_date_of_a_record_is_set_back_but_what_sites_say() -> None:
    assert messages.__file__ is not None
    lines = Path(messages.__file__).read_text().splitlines()
    dates = {line.split(":")[0].strip() for line in lines if re.match(r" +\w+: float.*# .*unix seconds", line)}
    assert {"at", "gone_since"} <= dates
    assert dates - {"lastmod"} <= _DATES

"""Dates of a clock that was ahead are set back; a wait that may be an ordered one is never made shorter."""

import pytest

from gregor.schemas.messages import HostRecord
from gregor.worker.adapters.embedded.dates import LONGEST_WAIT, MARGIN, Ahead, dated_back

NOW, DAY = 2e9, 86400.0


@pytest.mark.parametrize("seconds", [2 * MARGIN, DAY, 3 * DAY, 1825 * DAY])
@pytest.mark.parametrize("wait", [60.0, DAY / 2, DAY])
def test_a_wait_is_as_long_as_it_was_ordered_at_least(seconds: float, wait: float) -> None:
    ahead = Ahead(seconds, NOW)
    by_a_right_clock = dated_back(HostRecord(host="h", not_before=NOW + wait), ahead)
    assert by_a_right_clock.not_before == NOW + wait
    by_one_that_was_ahead = dated_back(HostRecord(host="h", not_before=NOW + seconds + wait), ahead)
    assert NOW + wait <= by_one_that_was_ahead.not_before <= NOW + max(wait, LONGEST_WAIT)

"""What a worker on servers says as it starts."""

import pytest

from gregor.worker.compose.cluster import of_servers_clock

_DAY = 86400.0


@pytest.mark.parametrize(
    ("ahead", "part"),
    [
        (5 * 365 * _DAY, "1825.0 days ahead of this machine's"),
        (-2 * _DAY, "2.0 days behind this machine's"),
        (1800.0, ""),
        (-1800.0, ""),
    ],
)
def test_a_crawl_that_is_dated_by_a_wrong_clock_is_told_of(ahead: float, part: str) -> None:
    said = of_servers_clock(ahead)
    assert part in said and bool(said) == bool(part)

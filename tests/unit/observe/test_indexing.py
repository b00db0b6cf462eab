"""How far an index is behind its crawl, in seconds."""

import pytest

from gregor.worker.observe.indexing import Lateness


@pytest.mark.parametrize(
    ("looks", "seconds"),
    [
        ([({0: 0}, {}, 1000.0)], 0.0),  # nothing is left
        ([({}, {}, 1000.0)], 0.0),  # nothing is owned
        ([({0: 9}, {0: 400.0}, 1000.0)], 600.0),  # by what was taken in last
        ([({0: 9, 1: 0}, {0: 400.0, 1: 10.0}, 1000.0)], 600.0),  # a partition that nobody told anything is not late
        ([({0: 0}, {0: 10.0}, 995.0), ({0: 1}, {0: 10.0}, 1000.0)], 5.0),  # nor is one that was told something now
        ([({0: 9}, {}, 100.0), ({0: 9}, {}, 1000.0)], 900.0),  # the engine is away from the beginning on
        ([({0: 9}, {0: 400.0}, 500.0), ({0: 9, 1: 1}, {0: 400.0}, 600.0)], 200.0),  # the worst
        ([({0: 9}, {}, 100.0), ({}, {}, 500.0), ({0: 9}, {}, 1000.0)], 0.0),  # it was another's meanwhile
        ([({0: 1}, {0: 1010.0}, 1000.0)], 0.0),  # another clock is ahead
    ],
)
def test_seconds(looks: list[tuple[dict[int, int], dict[int, float], float]], seconds: float) -> None:
    lateness = Lateness()
    for left, told, now in looks:
        found = lateness.seconds(left, told, now)
    assert found == seconds

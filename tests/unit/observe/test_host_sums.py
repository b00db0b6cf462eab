"""What a run did by host, bounded."""

import pytest

from gregor.worker.observe import host_sums
from gregor.worker.observe.host_sums import HostSum, HostSums


def test_hosts_are_summed_up_the_largest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_sums, "MOST", 2)
    sums = HostSums()
    sums.add("a.test", None, 0.5, failed=True)
    for _ in range(2):
        sums.add("b.test", 10, 0.25, failed=False)
    sums.add("c.test", 7, 1.0, failed=False)
    sums.add("d.test", 1, 1.0, failed=False)
    assert list(sums) == [
        HostSum("b.test", 2, 20, 0, 0.5),
        HostSum("a.test", 0, 0, 1, 0.5),
        HostSum("", 2, 8, 0, 2.0),
    ]

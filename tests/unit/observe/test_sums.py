"""What several processes tell of themselves, added up."""

from collections import Counter

import msgspec

from gregor.worker.observe.stats import Stats
from gregor.worker.observe.sums import Sums, SumsOfRun, WorkerSums, run_sums_of, sums_of


def told(pages: int, **more: object) -> WorkerSums:
    stats = Stats(pages=pages, states=Counter(fetched=pages), statuses=Counter({200: pages}), running=1, queued=pages)
    for name, value in more.items():
        setattr(stats, name, value)
    return msgspec.msgpack.decode(msgspec.msgpack.encode(sums_of(stats)), type=WorkerSums)


def test_what_they_did_counts_for_good_and_what_they_do_while_they_live() -> None:
    sums, stats = Sums(), Stats()
    sums.tell(0, told(3, limit="CPU", limiting="CPU: 99 %"))
    sums.tell(1, told(4))
    sums.tell(1, told(5, limit="CPU", limiting="CPU: 95 %"))
    sums.add_up(stats)
    assert (stats.pages, stats.states, stats.statuses) == (8, Counter(fetched=8), Counter({200: 8}))
    assert (stats.running, stats.queued, stats.limit) == (2, 8, "CPU")
    assert stats.limiting == "CPU: 95 % (so with 2 of 2 processes)"
    sums.end(1)
    sums.tell(2, told(1))
    sums.add_up(stats)
    assert (stats.pages, stats.running, stats.queued) == (9, 2, 4)


def test_the_report_has_what_each_counted() -> None:
    sums, stats = Sums(), Stats()
    sums.tell(0, told(1, drops=2, relevant=Counter({True: 1}), classes=Counter(offer=1)))
    sums.tell(1, told(2, drops=1, relevant=Counter({True: 1, False: 1})))
    sums.end(0)
    sums.add_up(stats)
    assert (stats.drops, stats.relevant, stats.classes) == (3, Counter({True: 2, False: 1}), Counter(offer=1))


def test_hosts_and_rules_are_added_up_at_the_end() -> None:
    sums, all_of_them = Sums(), Stats()
    for worker in range(2):
        stats = Stats()
        stats.by_host.add("a.example", 10, 0.5, failed=False)
        stats.by_host.add(f"b{worker}.example", None, 0.5, failed=True)
        stats.extracted.by_rule["jobs"] = 2
        code = msgspec.msgpack.encode(run_sums_of(stats))
        sums.tell_of_run(worker, msgspec.msgpack.decode(code, type=SumsOfRun))
    sums.add_up_run(all_of_them)
    found = {host.host: (host.pages, host.bytes, host.errors) for host in all_of_them.by_host}
    assert found == {"a.example": (2, 20, 0), "b0.example": (0, 0, 1), "b1.example": (0, 0, 1)}
    assert all_of_them.extracted.by_rule == {"jobs": 4}

"""Pages of domains that have a budget: own ones at once, those of others with the next count of all records."""

from gregor.worker.frontier.domain_budget import DomainPages, count_of, counts_still

HERE, THERE = "*.here.example", "*.there.example"


def test_own_pages_are_counted_once() -> None:
    pages = DomainPages()
    for _ in range(3):
        pages.stored(HERE)
    assert (pages.of(HERE), pages.of(THERE)) == (3, 0)
    before = pages.own.copy()  # the records are read now, and have these three and five of others
    pages.stored(HERE)
    pages.recounted(before, [{count_of(HERE): 3, "bytes": 9}, {count_of(HERE): 5}])
    assert pages.of(HERE) == 9
    pages.stored(HERE)
    assert pages.of(HERE) == 10


def test_a_budget_that_is_ordered_again_counts_from_then_on() -> None:
    pages = DomainPages()
    pages.stored(HERE)
    pages.stored(THERE)
    pages.recounted(pages.own.copy(), [{count_of(HERE): 1, count_of(THERE): 1}])
    pages.forget([THERE])
    assert (pages.of(HERE), pages.of(THERE)) == (0, 1)
    assert [counts_still(name, [THERE]) for name in (count_of(HERE), count_of(THERE), "bytes")] == [False, True, True]

"""Pages of domains that have a budget: own ones at once, those of others with the next count of all records."""

from gregor.worker.frontier.domain_budget import DomainPages

HERE, THERE = "*.here.example", "*.there.example"


def test_own_pages_are_counted_once() -> None:
    pages = DomainPages()
    for _ in range(3):
        pages.stored(HERE)
    assert (pages.of(HERE), pages.of(THERE)) == (3, 0)
    before = pages.own.copy()  # the records are read now, and have these three and five of others
    pages.stored(HERE)
    pages.recounted(before, [{HERE: 3}, {HERE: 5}])
    assert pages.of(HERE) == 9
    pages.stored(HERE)
    assert pages.of(HERE) == 10


def test_a_budget_that_is_ordered_again_counts_from_then_on() -> None:
    pages = DomainPages()
    pages.stored(HERE)
    pages.stored(THERE)
    pages.recounted(pages.own.copy(), [{HERE: 1, THERE: 1}])
    pages.forget([THERE])
    assert (pages.of(HERE), pages.of(THERE)) == (0, 1)

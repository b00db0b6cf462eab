"""How many pages are stored of the domains that have a budget, by this worker and by all of them. Pure."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence


class DomainPages:
    """Counts since the budget was given. ``own``: of this worker, since it started."""

    def __init__(self) -> None:
        self.own: Counter[str] = Counter()
        self._of_crawl: Counter[str] = Counter()
        self._crawl_has: Counter[str] = Counter()

    def stored(self, domain: str) -> None:
        """One page more."""
        self.own[domain] += 1

    def of(self, domain: str) -> int:
        """Pages of the whole crawl, as far as is known."""
        return self._of_crawl[domain] + self.own[domain] - self._crawl_has[domain]

    def forget(self, budgets: Container[str]) -> None:
        """Only these targets have a budget: another that is ordered later counts from then on."""
        for domain in [one for one in self.own if one not in budgets]:
            del self.own[domain]
            del self._of_crawl[domain], self._crawl_has[domain]

    def recounted(self, own: Counter[str], counts: Sequence[Mapping[str, int]]) -> None:
        """The counts by domain in the records of all partitions, which have the ``own`` ones of a moment before."""
        self._crawl_has = own
        self._of_crawl = Counter()
        for of_partition in counts:
            self._of_crawl.update(of_partition)

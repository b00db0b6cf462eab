"""How many pages are stored of the domains that have a budget, by this worker and by all of them. Pure."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence

_PREFIX = "pages "


def count_of(domain: str) -> str:
    """The name of a domain's count in the records of partitions."""
    return _PREFIX + domain


def counts_still(name: str, budgets: Container[str]) -> bool:
    """Whether a count of a partition's record is needed: not when it is of a domain without a budget."""
    return not name.startswith(_PREFIX) or name.removeprefix(_PREFIX) in budgets


class DomainPages:
    """Counts since the budget was given. ``own``: of this worker, since it started."""

    def __init__(self) -> None:
        self.own: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()
        self._whole_has: Counter[str] = Counter()

    def stored(self, domain: str) -> None:
        """One page more."""
        self.own[domain] += 1

    def of(self, domain: str) -> int:
        """Pages of the whole crawl, as far as is known."""
        return self._whole[domain] + self.own[domain] - self._whole_has[domain]

    def forget(self, budgets: Container[str]) -> None:
        """Only these targets have a budget: another that is ordered later counts from then on."""
        for domain in [one for one in self.own if one not in budgets]:
            del self.own[domain]
            del self._whole[domain], self._whole_has[domain]

    def recounted(self, own: Counter[str], counts: Sequence[Mapping[str, int]]) -> None:
        """The records of all partitions, which have the ``own`` counts of a moment before."""
        self._whole_has = own
        self._whole = Counter()
        for one in counts:
            for name, count in one.items():
                if name.startswith(_PREFIX):
                    self._whole[name.removeprefix(_PREFIX)] += count

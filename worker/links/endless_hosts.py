"""Names below one domain that all answer alike, and lead on to further ones. Pure, bounded in memory."""

from collections import OrderedDict
from typing import Final

SPENT: Final = 240
"""The score from which on the names below a domain lead to no further one."""
COPY: Final = 6
"""What a name adds whose first page has the content of another page: 40 in a row."""
NEW: Final = 160
"""What a name takes off whose first page brought something new."""


class EndlessHosts:
    """What the first pages of the names below each domain brought."""

    def __init__(self, most: int) -> None:
        """``most``: so many domains are remembered, those learnt longest ago are dropped."""
        self._most = most
        self._scores: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._scores)

    def learn(self, host: str, copied: bool) -> None:
        """The first page of a host was stored; ``copied``: its content is another page's."""
        if domain := domain_of(host):
            score = self._scores.pop(domain, 0) + (COPY if copied else -NEW)
            self._scores[domain] = max(0, min(SPENT, score))
            if len(self._scores) > self._most:
                self._scores.popitem(last=False)

    def spent(self, host: str) -> bool:
        """Whether the names below the domain of a host have brought nothing new for long."""
        return self._scores.get(domain_of(host), 0) >= SPENT


def domain_of(host: str) -> str:
    """The domain above a host name; empty for what has none that many hosts could share."""
    above = host.partition(".")[2]
    return above if "." in above and not above[-1].isdigit() else ""

"""Names below one domain that all answer alike, and lead on to further ones. Pure, bounded in memory."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final

from gregor.schemas.messages import Ticket
from gregor.worker.links.refusals import BACK_AT_ONCE, MOST_NEEDED, drop_first
from gregor.worker.links.shapes import host_of_key

SPENT: Final = 240
"""The score from which on the names below a domain lead to no further one."""
COPY: Final = 6
"""What a name adds whose first page has the content of another page: 40 in a row."""
NEW: Final = 160
"""What a name takes off whose first page brought something new."""
OF_A_DOMAIN: Final = 128
"""Refused names below one domain that are set aside; those that were refused first give way."""
DOMAINS: Final = 64
"""Domains of which names are set aside."""
OF_A_PARTITION: Final = 64
"""Links to refused names that are kept of the pages of one partition at most, the latest."""
KEPT_OCTETS: Final = 16384
"""What they take at most, about."""


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


class _OfDomain:
    """The refused names below one domain, each with a link to it."""

    __slots__ = ("back", "links", "needed", "returning", "waited")

    def __init__(self) -> None:
        self.links: dict[str, Ticket] = {}
        self.back: dict[str, None] = {}
        """Names that came back, of which no page was stored yet."""
        self.returning: list[Ticket] = []
        self.needed = 1
        self.waited = 0
        """Names with something new since one came back."""


class RefusedNames:
    """Links to names that were refused, set aside so that they can come back when a name below their domain brings
    something new, as URLs do: see ``refusals``. The latest are kept in the records of partitions (`kept`, `recall`)."""

    def __init__(self, partition_of: Callable[[str], int] = lambda host: 0) -> None:
        """``partition_of`` a host: with that of the page which has the link a refused name is kept."""
        self._partition_of = partition_of
        self._domains: OrderedDict[str, _OfDomain] = OrderedDict()
        self._kept: dict[int, tuple[Ticket, ...]] = {}

    def __len__(self) -> int:
        return sum(len(names.links) + len(names.back) + len(names.returning) for names in self._domains.values())

    def add(self, link: Ticket) -> bool:
        """A link is refused. Gives whether its name was not aside before."""
        domain = domain_of(link.host)
        names = self._domains.setdefault(domain, _OfDomain())
        self._domains.move_to_end(domain)
        if link.host in names.links:
            return False
        names.links[link.host] = link
        self._kept.pop(self._partition(link), None)
        drop_first(names.links, OF_A_DOMAIN)
        if len(self._domains) > DOMAINS:
            self._domains.popitem(last=False)
        return True

    def met(self, host: str, copied: bool) -> None:
        """The first page of a name was stored; ``copied``: its content is another page's."""
        if (names := self._domains.get(domain_of(host))) is None:
            return
        if (met := names.links.pop(host, None)) is not None:
            self._kept.pop(self._partition(met), None)
        came_back = host in names.back
        names.back.pop(host, None)
        if copied:
            names.needed = min(MOST_NEEDED, 2 * names.needed) if came_back else names.needed
            return
        names.needed = 1 if came_back else names.needed
        names.waited += 1
        if names.waited >= names.needed:
            names.waited = 0
            for _ in range(min(BACK_AT_ONCE if names.needed == 1 else 1, len(names.links))):
                name, link = names.links.popitem()
                names.returning.append(link)
                names.back[name] = None
            drop_first(names.back, OF_A_DOMAIN)

    def returning(self, host: str) -> list[Ticket]:
        """The links that come back now below the domain of a host, until they `came_back`."""
        names = self._domains.get(domain_of(host))
        return list(names.returning) if names is not None else []

    def came_back(self, host: str, links: Iterable[Ticket]) -> None:
        """They are followed now."""
        if (names := self._domains.get(domain_of(host))) is not None:
            followed = {link.host for link in links}
            for link in names.returning:
                self._kept.pop(self._partition(link), None)
            names.returning = [link for link in names.returning if link.host not in followed]

    def kept(self, partition: int) -> tuple[Ticket, ...]:
        """What a partition's record holds of it, so that who owns it next can follow it still: the latest."""
        if partition not in self._kept:
            self._keep_anew()
        return self._kept.setdefault(partition, ())

    def _keep_anew(self) -> None:
        """Of all partitions where something changed: their records are written together, and one look finds it all."""
        links: dict[int, list[Ticket]] = {}
        for link in self._latest():
            if (partition := self._partition(link)) not in self._kept:
                links.setdefault(partition, []).append(link)
        for partition, its in links.items():
            sizes = accumulate(len(link.href) + len(link.key) + len(link.via) for link in its[:OF_A_PARTITION])
            within = [link for link, size in zip(its, sizes, strict=False) if size <= KEPT_OCTETS]
            self._kept[partition] = tuple(reversed(within))

    def recall(self, links: Iterable[Ticket]) -> None:
        """Go on from what the record of a partition holds."""
        for link in links:
            self.add(link)

    def _latest(self) -> Iterator[Ticket]:
        """What is aside, and what comes back and is not followed yet, the latest first."""
        for names in reversed(self._domains.values()):
            yield from names.returning
            yield from reversed(names.links.values())

    def _partition(self, link: Ticket) -> int:
        return self._partition_of(host_of_key(link.via))

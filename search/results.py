"""Which hits are shown on a page of results: not many of one host, and one of those that say nearly the same. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from gregor.search.borders import Hit

PER_PAGE: Final = 10
MOST_OF_A_HOST: Final = 2
LOOKED_AT: Final = 200
"""Of so many hits the pages of results are made; what lies behind them is reached by asking for all."""


class Shown(msgspec.Struct, frozen=True):
    """A hit, and what is held back behind it: so many hits more of its host, and so many that say nearly the same."""

    hit: Hit
    of_host: int = 0
    alike: int = 0


def shown(hits: Sequence[Hit], *, everything: bool = False) -> list[Shown]:
    """The hits that are shown, in their order; all of them for ``everything``, or when they are of one host."""
    hosts = Counter(hit.host for hit in hits)
    if everything or len(hosts) <= 1:
        return [Shown(hit) for hit in hits]
    kept: list[Hit] = []
    first_of: dict[str, int] = {}
    by_host: Counter[str] = Counter()
    alike: Counter[int] = Counter()
    held: Counter[int] = Counter()
    for hit in hits:
        twin = next((first_of[name] for name in (hit.near, *hit.keys) if name in first_of), None)
        if twin is not None:
            alike[twin] += 1
        elif by_host[hit.host] >= MOST_OF_A_HOST:
            held[next(at for at, before in reversed(list(enumerate(kept))) if before.host == hit.host)] += 1
        else:
            by_host[hit.host] += 1
            first_of |= dict.fromkeys(filter(None, (hit.near, *hit.keys)), len(kept))
            kept.append(hit)
    return [Shown(hit, held[at], alike[at]) for at, hit in enumerate(kept)]

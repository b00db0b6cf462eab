"""How pages and hosts stand by the ranks of the index, and what that moves: the order of visits alone. Pure.

A step is a rank on a logarithmic scale, from 0 (the average and below, or not known) to `HIGHEST`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gregor.schemas.messages import url_fingerprint
from gregor.worker.links.priority import of_link

HIGHEST: Final = 15
ADVANCES: Final = 8
"""From this step on a URL comes one front queue sooner."""
_OF_SITEMAP: Final = 3
"""The front queue of what a sitemap lists and says nothing more of."""


MOST: Final = 50_000
"""Pages, and hosts, whose steps a crawl holds in memory, the highest."""

RankSteps = list[tuple[str, int]]
"""Keys of pages, or hosts, and their steps."""


class HighestRanks(NamedTuple):
    """The steps that an index has of its highest pages and hosts, and what tells these from others of it."""

    made: int
    pages: RankSteps
    hosts: RankSteps


@dataclass(slots=True)
class KnownRanks:
    """The steps of pages, by the fingerprints of their keys, and of hosts, as they are known now. Without any it is
    false."""

    pages: Mapping[int, int] = field(default_factory=dict)
    hosts: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.pages or self.hosts)

    def take(self, pages: Iterable[tuple[str, int]], hosts: Iterable[tuple[str, int]]) -> None:
        """From now on these, of keys and of hosts."""
        self.pages = {url_fingerprint(key): step for key, step in pages}
        self.hosts = dict(hosts)

    def queue(self, key: str, host: str, kind: str, depth: int) -> tuple[int, str]:
        """The front queue of a link and what gives it; (0, "") where it stays that of its depth.

        One queue sooner at most and none later, so that ranks cannot starve what nobody recommends.
        """
        of_host = self.hosts.get(host, 0)
        of_page = self.pages.get(url_fingerprint(key), 0) if self.pages else 0
        step, what = max((of_host, "its host"), (of_page, "the page"))
        usual = _OF_SITEMAP if kind == "url" else of_link(depth)
        if step < ADVANCES or usual == 1:
            return 0, ""
        return usual - 1, f"rank of {what}: step {step} of {HIGHEST}"

    def importance(self, key: str, host: str) -> float:
        """What a fresh copy of a page is worth, beside others: from 1 up to 2 for the highest rank."""
        if not self:
            return 1.0
        step = max(self.pages.get(url_fingerprint(key), 0), self.hosts.get(host, 0) // 2)
        return 1.0 + min(step, HIGHEST) / HIGHEST

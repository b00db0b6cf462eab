"""What the links of pages are kept as. Most links of a site are met again: what came of them is remembered."""

from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import Page
from gregor.search.adapters.link_rows import LinkRow, number_of
from gregor.search.links import MOST_LINKS, RECOMMENDING, words_of

_NO_TARGET: Final = 0
"""In the place of what a link leads to that is no URL of a crawl; no URL has this number in practice."""
_REMEMBERED: Final = 200_000


class LinkReader:
    """Makes rows of links."""

    def __init__(self, key_of: Callable[[str], str | None]) -> None:
        """``key_of`` gives the key of a URL as a link has it; None for what is no URL of a crawl."""
        self._key_of = key_of
        self._targets: dict[str, int] = {}
        self._linked: dict[tuple[str, str, bool], tuple[int, int, str]] = {}

    def rows(self, source: int, page: Page) -> dict[LinkRow, str]:
        """Where a page leads to, by which words, and these: target, words (0: none), its host; to itself aside."""
        host, linked, read = number_of(page.host), self._linked, self._read
        said = [(link.url, link.text, link.nofollow) for link in page.links if link.kind in RECOMMENDING]
        readings = [linked.get(each) or read(each) for each in said]
        leading = [reading for reading in readings if reading[0] != source and reading[0] != _NO_TARGET]
        return {(target, name, host): text for target, name, text in leading[:MOST_LINKS]}

    def _read(self, said: tuple[str, str, bool]) -> tuple[int, int, str]:
        """Where a link leads to, the number of its words, and these."""
        url, words, nofollow = said
        target, text = self._target(url), words.strip()
        if len(self._linked) >= _REMEMBERED:
            self._linked.clear()
        self._linked[said] = reading = (target, words_of(text, nofollow) if target != _NO_TARGET else 0, text)
        return reading

    def _target(self, url: str) -> int:
        target = self._targets.get(url)
        if target is None:
            if len(self._targets) >= _REMEMBERED:
                self._targets.clear()
            key = self._key_of(url)
            self._targets[url] = target = _NO_TARGET if key is None else number_of(key)
        return target

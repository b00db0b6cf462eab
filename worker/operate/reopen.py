"""What changed settings let in: URLs that an earlier scope, depth or budget turned down, and visits that are due.

Only what the crawl would do if it met the link, or settled the page, now. A URL that is known already is not visited
for that: its ticket is stale, or its fingerprint seen.
"""

from collections.abc import AsyncIterator
from typing import Final

from gregor.schemas.messages import KEPT, Link, Page, Row, Ticket
from gregor.worker.borders.reader import Reader
from gregor.worker.config.settings import Config, HostOverride
from gregor.worker.links.configured import followed_kinds
from gregor.worker.links.reasons import what_decided
from gregor.worker.links.scope import OutOfScope, Scope
from gregor.worker.links.tickets import again, reopened
from gregor.worker.settle.revisits import Revisits, SitemapHint, last_visit
from gregor.worker.web.urls import Url, Urls

_JUDGED: Final = ("kind", "nofollow", "depth")
"""The fates that settings decided, beside those of the scope."""


async def tickets(
    reader: Reader, urls: Urls, scope: Scope, config: Config, revisits: bool, now: float
) -> AsyncIterator[Ticket]:
    """All of them, by reading every page and row once. ``revisits``: pages are to be visited again that were not.

    ``now``: the coordinator's time, unix seconds.
    """
    followed, met = followed_kinds(config), set[str]()
    async for page in reader.pages():
        met.clear()
        for link in page.links:
            target = _let_in(link, page, urls, scope, config, followed)
            if target is not None and target.key not in met:
                met.add(target.key)
                yield reopened(target, link.kind, page.key, page.depth + 1, page.label, now)
    policy, overrides = Revisits.of(config), {override.host: override for override in config.hosts}
    async for row in reader.rows(None, None):
        if row.state == "redirected" and what_decided(row.rule, "scope") is not None:
            target = urls.parse(row.target)
            if target is not None and not isinstance(scope.allows(target), OutOfScope):
                yield reopened(target, "redirect", row.key, row.depth, row.label, now, row.hops + 1)
        elif row.state == "denied" and what_decided(row.rule, "budget"):
            if await _has_room(reader, row, config, overrides):
                yield again(row, None, now)
        elif revisits and policy is not None and row.state in KEPT and not row.due:
            hint, visited = SitemapHint(row.lastmod, row.changefreq), last_visit(row)
            due = visited + policy.interval(policy.known_of(row), hint, visited)
            yield again(row, None, now, max(now, due))


def _let_in(link: Link, page: Page, urls: Urls, scope: Scope, config: Config, followed: frozenset[str]) -> Url | None:
    """The target of a link that was turned down by what is set otherwise now."""
    if (link.fate not in _JUDGED and what_decided(link.fate, "scope") is None) or link.kind not in followed:
        return None
    if link.nofollow and config.nofollow and link.kind != "canonical":
        return None
    if config.max_depth is not None and page.depth + 1 > config.max_depth:
        return None
    target = urls.parse(link.url)
    return None if target is None or isinstance(scope.allows(target), OutOfScope) else target


async def _has_room(reader: Reader, row: Row, config: Config, overrides: dict[str, HostOverride]) -> bool:
    """Whether the budget of a host leaves room now."""
    record, override = await reader.host(row.host), overrides.get(row.host)
    pages, size = config.max_pages_per_host, config.max_bytes_per_host
    if override is not None:
        pages = pages if override.max_pages is None else override.max_pages
        size = size if override.max_bytes is None else override.max_bytes
    if record is None:
        return True
    return (pages is None or record.pages < pages) and (size is None or record.bytes < size)

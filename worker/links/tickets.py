"""The tickets of what is found: links, redirects, sitemaps and what they list, robots.txt files of other hosts. Pure.

`source` is the ticket of the visit that found it; `at` is unix seconds.
"""

from collections.abc import Callable
from typing import Final

from gregor.schemas.messages import Page, Row, Ticket
from gregor.worker.links.configured import REQUISITES
from gregor.worker.links.priority import of_link, of_sitemap_url
from gregor.worker.read.sitemaps.entries import SitemapUrl, latest_change
from gregor.worker.web.urls import Url

FOR_A_PAGE: Final = "requisite"
"""The fate of a link that is followed once its document, a requisite until then, is a page."""
OPEN: Final = frozenset({"sent", "depth", FOR_A_PAGE})
"""Fates of links that are followed, or will be once their page is found on a shorter way, or is a page."""
ARCHIVE: Final = "archive"
"""What led to a URL whose answer was taken in."""


def linked(source: Ticket, target: Url, kind: str, at: float, priority: int = 0) -> Ticket:
    """Of a link of a page; ``priority``: the front queue that a rule gives it, 0 for that of its depth."""
    depth = source.depth + 1
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=priority or of_link(depth),
        depth=depth,
        via=source.key,
        link=kind,
        label=source.label,
        at=at,
        astray=source.astray,
    )


def needed(source: Ticket, target: Url, kind: str, at: float) -> Ticket:
    """Of a requisite: it is as deep as its page, and comes before further pages. One of a style sheet that is itself a
    requisite has a hop more behind it."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=1,
        depth=source.depth,
        hops=source.hops + 1 if source.requisite else 0,
        via=source.key,
        link=kind,
        label=source.label,
        at=at,
        requisite=True,
    )


def referred(source: Ticket, target: Url, kind: str, at: float, priority: int = 0) -> Ticket:
    """Of what a page refers to, by its kind; ``priority`` as above."""
    return needed(source, target, kind, at) if kind in REQUISITES else linked(source, target, kind, at, priority)


def of_stored(page: Page, source: Ticket, parse: Callable[[str], Url | None], at: float) -> list[Ticket]:
    """Of the links of a stored page that are to be published; also of those that were too deep, if it was found on a
    shorter way since, and of those that nobody followed while it was a requisite."""
    fates = {"sent", *(["depth"] if source.depth < page.depth else []), *([] if source.requisite else [FOR_A_PAGE])}
    followed = [(parse(link.url), link.kind, link.priority) for link in page.links if link.fate in fates]
    return [referred(source, target, kind, at, priority) for target, kind, priority in followed if target is not None]


def redirected(source: Ticket, target: Url, at: float) -> Ticket:
    """Of the target of a redirect, which keeps the depth. Where a sitemap is redirected to is a sitemap."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=source.priority,
        depth=source.depth,
        hops=source.hops + 1,
        via=source.key,
        link=source.link if source.link == "sitemap" else "redirect",
        label=source.label,
        at=at,
        requisite=source.requisite,
        worth=source.worth,
        astray=source.astray,
    )


def listed(source: Ticket, target: Url, entry: SitemapUrl, at: float, *, dated: bool) -> Ticket:
    """Of a URL that a sitemap lists; ``dated``: what the sitemap says of it goes along."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=of_sitemap_url(entry.priority),
        depth=source.depth + 1,
        via=source.key,
        link="url",
        label=source.label,
        lastmod=latest_change(entry.lastmod, at) if dated else 0.0,
        changefreq=(entry.changefreq or "") if dated else "",
        at=at,
    )


def nested(source: Ticket, target: Url, entry: SitemapUrl, at: float, *, dated: bool) -> Ticket:
    """Of a sitemap that an index lists: it is as deep as the index; ``dated`` as above."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=1,
        depth=source.depth,
        hops=source.hops + 1,
        via=source.key,
        link="sitemap",
        label=source.label,
        lastmod=latest_change(entry.lastmod, at) if dated else 0.0,
        changefreq=(entry.changefreq or "") if dated else "",
        at=at,
    )


def announced(target: Url, robots: str, label: str, at: float) -> Ticket:
    """Of a sitemap that a robots.txt names; ``robots`` is the URL of that."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=1,
        via=robots,
        link="sitemap",
        label=label,
        at=at,
    )


def of_robots(target: Url, origin: str, hops: int, at: float) -> Ticket:
    """What asks the owner of another host for the robots.txt of an origin, which is said to be there."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        kind="robots",
        priority=1,
        hops=hops,
        link="robots",
        origin=origin,
        at=at,
    )


def seeded(url: Url, depth: int, priority: int | None, label: str, at: float) -> Ticket:
    """Of a seed; without a ``priority`` it has that of a link of its depth."""
    return Ticket(
        href=url.href,
        key=url.key,
        host=url.host,
        priority=of_link(depth) if priority is None else priority,
        depth=depth,
        label=label,
        at=at,
    )


def waking(host: str) -> Ticket:
    """The calendar entry that names a host which has a backlog."""
    return Ticket(href="", key="", host=host, kind="wake")


def again(row: Row, priority: int | None = None, at: float = 0.0, due: float = 0.0) -> Ticket:
    """What asks for another visit now of a URL that the crawl knows: the owner of its host makes it a revisit.

    It names the visit that comes next by the row, so that asking twice is asking once. ``at``: now, as far as that is
    known; ``due``: when, 0 for now.
    """
    return Ticket(
        href=row.href,
        key=row.key,
        host=row.host,
        visit=row.visits,
        kind="recrawl",
        priority=priority or row.priority,
        depth=row.depth,
        hops=row.hops,
        via=row.via,
        link=row.link,
        label=row.label,
        at=at,
        due=due,
        requisite=row.requisite,
    )


def dropping(row: Row, at: float) -> Ticket:
    """What asks the owner of a URL to delete what is kept of it, if it was not visited since."""
    return Ticket(href=row.href, key=row.key, host=row.host, visit=row.visits, kind="drop", priority=4, at=at)


def reopened(target: Url, kind: str, via: str, depth: int, label: str, at: float, hops: int = 0) -> Ticket:
    """Of what a stored link or redirect of the page ``via`` leads to, which was turned down then and is let in now."""
    return Ticket(
        href=target.href,
        key=target.key,
        host=target.host,
        priority=of_link(depth),
        depth=depth,
        hops=hops,
        via=via,
        link=kind,
        label=label,
        at=at,
    )


def of_archive(url: Url, row: Row | None) -> Ticket:
    """What would have asked for the visit whose answer an archive has; ``row``: that of the URL, if it has one."""
    if row is None:
        return Ticket(href=url.href, key=url.key, host=url.host, link=ARCHIVE)
    return Ticket(
        href=url.href,
        key=url.key,
        host=url.host,
        visit=row.visits,
        kind="revisit" if row.page else "retry",
        priority=row.priority,
        depth=row.depth,
        via=row.via,
        link=row.link,
        label=row.label,
        requisite=row.requisite,
    )

"""The sitemaps that the robots.txt of an origin names: they are links, published once for each copy of the file."""

from collections.abc import Callable, Iterable, Iterator

from gregor.schemas.messages import Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.log import FrontierLog
from gregor.worker.config.settings import Config
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links import tickets
from gregor.worker.links.scope import MAX_ELSEWHERE, InScope, Scope
from gregor.worker.read.sitemaps.parse import DEFAULT_LOCATIONS
from gregor.worker.robots.match import Robots
from gregor.worker.web.urls import Url, Urls, robots_url


class Announcer:
    """Publishes the sitemaps of one partition's origins."""

    def __init__(
        self,
        *,
        config: Config,
        log: FrontierLog,
        effects: Effects,
        urls: Urls,
        scope: Callable[[], Scope],
        now: Callable[[], float],
        sent: RecentlySent,
    ) -> None:
        """``scope`` gives the one by which sitemaps are measured now, ``now`` the coordinator's time."""
        self._wanted = config.sitemaps or config.sitemap_only
        self._log = log
        self._effect = effects.run
        self._urls = urls
        self._scope = scope
        self._now = now
        self._sent = sent

    async def announce(self, url: Url, ticket: Ticket, rules: Robots) -> bool:
        """Publish what the robots.txt of a URL's origin names, or else the default location; False if nobody asked.

        Whoever only reads a sitemap there, or a requisite, does not: the origin may be no site of the crawl. What is
        published gets the label of the ``ticket`` that asks.
        """
        scope = self._scope()
        if (ticket.link == "sitemap" or ticket.requisite) and not isinstance(scope.allows(url), InScope):
            return False
        if not self._wanted:
            return True
        named, now = rules.sitemaps or (f"{url.origin}{DEFAULT_LOCATIONS[0]}",), self._now()
        fresh = [
            tickets.announced(target, robots_url(url), ticket.label, now)
            for target in self._readable(named, scope)
            if not self._sent.knows(url_fingerprint(target.key))
        ]
        if fresh:
            await self._effect(lambda: self._log.publish(fresh))
            self._sent.learn(fresh)
        return True

    def _readable(self, named: Iterable[str], scope: Scope) -> Iterator[Url]:
        """The sitemaps that may be read: those in the scope, and a few elsewhere."""
        elsewhere = 0
        for target in filter(None, map(self._urls.parse, named)):
            if isinstance(scope.allows(target), InScope):
                yield target
            elif elsewhere < MAX_ELSEWHERE and isinstance(scope.allows_sitemap(target), InScope):
                elsewhere += 1
                yield target

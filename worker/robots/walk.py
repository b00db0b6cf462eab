"""robots.txt by origin: from memory, from the store, or by a fetch that is a turn of its host.

A file that another host has to answer (a redirect, RFC 9309 section 2.3.1.2) is asked of that host's owner by a ticket
of kind robots; the answer comes by way of the store, under the asking origin.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from gregor.schemas.messages import RobotsRecord, Ticket, url_fingerprint
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.outcomes import AddressRefused, Broken, Failed, LeaseOver, Outcome
from gregor.worker.frontier.host import ROBOTS_UNREACHABLE, Host, RobotsWalk
from gregor.worker.frontier.partition import Partition
from gregor.worker.frontier.sent import RecentlySent
from gregor.worker.links.scope import MAX_ELSEWHERE, Allowed, Scope
from gregor.worker.read.sitemaps import parse as sitemaps
from gregor.worker.robots import copies as robots_copies
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.answers import Answer, NotReachable, OriginRefused, Rules, TurnUsed, Wait
from gregor.worker.robots.cache import RobotsCache
from gregor.worker.robots.file import Robots
from gregor.worker.web.urls import Url, Urls, robots_url


class RobotsFetch:
    """Finds out what the files of one partition's origins say."""

    def __init__(
        self,
        partition: Partition,
        cache: RobotsCache,
        *,
        config: Config,
        log: FrontierLog,
        store: PageStore,
        effects: Effects,
        urls: Urls,
        scope: Callable[[], Scope],
        now: Callable[[], float],
        monotonic: Callable[[], float],
        fetcher: Fetcher,
        sent: RecentlySent,
    ) -> None:
        """``scope`` gives the one by which sitemaps are measured now, ``now`` the coordinator's time."""
        self._partition = partition
        self._cache = cache
        self._config = config
        self._log = log
        self._store = store
        self._effect = effects.run
        self._urls = urls
        self._scope = scope
        self._now = now
        self._monotonic = monotonic
        self._fetcher = fetcher
        self._sent = sent
        self._hops = config.robots_redirects
        self._limits = msgspec.structs.replace(fetcher.limits, max_body=config.max_robots, max_wire=config.max_robots)

    async def rules(self, host: Host, url: Url, ticket: Ticket, may_send: Callable[[], bool]) -> Answer:
        """What robots.txt says for a URL's origin, from memory, from the store, or by a request.

        The sitemaps that it names get the label of the ``ticket`` which asks.
        """
        answer: Answer = Rules(robots_file.ALLOW_ALL)
        if self._config.robots == "obey":
            remembered = self._cache.find(url.origin, self._now())
            if remembered is not None and remembered.announced:
                return remembered.rules
            answer = remembered.rules if remembered else await self._learn(host, url, may_send)
        if isinstance(answer, Rules | TurnUsed) and answer.robots is not None:
            await self._announce(url, ticket, answer.robots)
        return answer

    async def _learn(self, host: Host, url: Url, may_send: Callable[[], bool]) -> Answer:
        now = self._now()
        record = await self._effect(lambda: self._store.robots(url.origin))
        walk = host.walks.get(url.origin)
        answered = record is not None and walk is not None and 0.0 < walk.asked_at <= record.fetched_at
        if record is not None and (answered or robots_copies.holds(record, self._config.user_agent, now)):
            host.walks.pop(url.origin, None)
            return self._of_record(record, url, now)
        return await self._turn(host, url, record, now, may_send)

    async def _announce(self, url: Url, ticket: Ticket, rules: Robots) -> None:
        """Sitemaps are links of an origin's robots.txt; the default location when it names none. Whoever only reads a
        sitemap there does not ask for them: the origin may be no site of the crawl."""
        if ticket.link == "sitemap" and not isinstance(self._scope().allows(url), Allowed):
            return
        if self._config.sitemaps or self._config.sitemap_only:
            await self._publish(url, ticket.label, rules)
        self._cache.announced(url.origin)

    async def _publish(self, url: Url, label: str, rules: Robots) -> None:
        named = rules.sitemaps or (f"{url.origin}{sitemaps.DEFAULT_LOCATIONS[0]}",)
        now = self._now()
        tickets = [
            Ticket(u.href, u.key, u.host, priority=1, via=robots_url(url), link="sitemap", label=label, at=now)
            for u in self._readable(named, self._scope())
            if not self._sent.knows(url_fingerprint(u.key))
        ]
        if tickets:
            await self._effect(lambda: self._log.publish(tickets))
            self._sent.learn(tickets)

    def _readable(self, named: Iterable[str], scope: Scope) -> Iterator[Url]:
        """The sitemaps that may be read: those in the scope, and a few elsewhere."""
        elsewhere = 0
        for target in filter(None, map(self._urls.parse, named)):
            if isinstance(scope.allows(target), Allowed):
                yield target
            elif elsewhere < MAX_ELSEWHERE and isinstance(scope.allows_sitemap(target), Allowed):
                elsewhere += 1
                yield target

    def _of_record(self, record: RobotsRecord, url: Url, now: float, *, unused: bool = False) -> Answer:
        text = robots_copies.in_force(record, now)
        if text is None:
            return NotReachable(f"{ROBOTS_UNREACHABLE} ({record.status or 'no answer'})", record.expires - now)
        found = robots_file.parse(text, self._config.user_agent, robots_url(url)) if text else robots_file.ALLOW_ALL
        rules = Rules(found, record.fetched_at)
        self._cache.keep(record.origin, rules, record.expires, unused=unused)
        return rules

    async def _turn(
        self,
        host: Host,
        url: Url,
        record: RobotsRecord | None,
        now: float,
        may_send: Callable[[], bool],
    ) -> Answer:
        """One step of fetching an origin's file; the walk through its redirects may take several turns."""
        walk = host.walks.setdefault(url.origin, RobotsWalk(robots_url(url)))
        if walk.asked_until:
            if self._monotonic() < walk.asked_until:
                walk.looks += 1
                return Wait(min(0.5 * 2.0**walk.looks, 8.0))
            del host.walks[url.origin]
            return await self._conclude(url, 0, {}, b"", record)
        target = self._urls.parse(walk.href)
        if target is None:
            del host.walks[url.origin]
            return await self._conclude(url, 404, {}, b"", record)
        outcome, response = await self._fetcher.fetch(target, may_send, now, self._limits)
        try:
            return await self._heard(host, url, walk, record, outcome, response)
        finally:
            if response is not None:
                response.close()

    async def _heard(
        self,
        host: Host,
        url: Url,
        walk: RobotsWalk,
        record: RobotsRecord | None,
        outcome: Outcome,
        response: Response | None,
    ) -> Answer:
        """What the answer to one request means: another hop, or the end of the walk."""
        if isinstance(outcome, LeaseOver):
            raise LeaseLost
        if isinstance(outcome, AddressRefused):
            del host.walks[url.origin]
            return OriginRefused(outcome.detail)
        if response is None:
            del host.walks[url.origin]
            answer = await self._conclude(url, 0, {}, b"", record)
            if isinstance(answer, NotReachable) and isinstance(outcome, Failed | Broken):
                return NotReachable(f"{ROBOTS_UNREACHABLE} ({outcome.detail})", answer.after, outcome.cause)
            return answer
        headers, latency = _lower(response), response.latency
        verdict = robots_file.answer(
            response.status, headers, b"", self._config.user_agent, walk.href, walk.hops, self._hops
        )
        if isinstance(verdict, robots_file.Redirect) and (target := self._urls.parse(verdict.location)) is not None:
            walk.href, walk.hops = target.href, verdict.hops
            if target.host != host.name:
                walk.asked_at = self._now()
                await self._ask(url, target, verdict.hops)
                walk.asked_until = self._monotonic() + self._config.robots_answer
            return TurnUsed(latency)
        del host.walks[url.origin]
        status = robots_copies.status_of(response, verdict)
        answer = await self._conclude(url, status, headers, response.body.read(), record)
        if isinstance(answer, NotReachable) and not status:
            return NotReachable(f"{ROBOTS_UNREACHABLE} (it did not come whole)", answer.after)
        return TurnUsed(latency, answer.robots) if isinstance(answer, Rules) else answer

    async def _ask(self, url: Url, target: Url, hops: int) -> None:
        ticket = Ticket(
            target.href,
            target.key,
            target.host,
            kind="robots",
            priority=1,
            hops=hops,
            origin=url.origin,
            link="robots",
            at=self._now(),
        )
        await self._effect(lambda: self._log.publish([ticket]))

    async def _conclude(
        self,
        url: Url,
        status: int,
        headers: dict[str, str],
        body: bytes,
        before: RobotsRecord | None,
    ) -> Answer:
        """Store what was learnt of an origin's file, and say what holds."""
        now = self._now()
        record = robots_copies.recorded(url.origin, status, headers, body, before, now, self._config)
        await self._effect(lambda: self._store.put_robots(record, self._partition.stamp()))
        return self._of_record(record, url, now, unused=True)

    async def answer_for(self, host: Host, ticket: Ticket, may_send: Callable[[], bool]) -> bool:
        """Fetch a robots.txt for another host's origin, leave the answer in the store. True if a request was made."""
        now = self._now()
        before = await self._effect(lambda: self._store.robots(ticket.origin))
        target = self._urls.parse(ticket.href)
        agent = self._config.user_agent
        if target is None or (before is not None and robots_copies.holds(before, agent, now)):
            return False
        outcome, response = await self._fetcher.fetch(target, may_send, now, self._limits)
        try:
            if isinstance(outcome, LeaseOver):
                raise LeaseLost
            status, headers, body = 0, {}, b""
            if response is not None:
                host.latency = response.latency
                headers = _lower(response)
                verdict = robots_file.answer(response.status, headers, b"", agent, ticket.href, ticket.hops, self._hops)
                if isinstance(verdict, robots_file.Redirect):
                    further = self._urls.parse(verdict.location)
                    if further is not None:
                        asking = msgspec.structs.replace(
                            ticket, href=further.href, key=further.key, host=further.host, hops=verdict.hops, at=now
                        )
                        await self._effect(lambda: self._log.publish([asking]))
                        return True
                status = robots_copies.status_of(response, verdict)
                body = response.body.read()
            record = robots_copies.recorded(ticket.origin, status, headers, body, before, now, self._config)
            await self._effect(lambda: self._store.put_robots(record, self._partition.stamp()))
            return True
        finally:
            if response is not None:
                response.close()


def _lower(response: Response) -> dict[str, str]:
    """The first value of each header, by lower-case name; all of Cache-Control, which is a list."""
    lowered = {name.lower(): value for name, value in reversed(response.headers)}
    if (listed := response.combined("cache-control")) is not None:
        lowered["cache-control"] = listed
    return lowered

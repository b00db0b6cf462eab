"""What robots.txt says of a URL at its turn, from memory, from the store, or by a step of a fetch."""

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from gregor.schemas.messages import RobotsRecord, Ticket
from gregor.worker.borders.effects import Effects
from gregor.worker.borders.store import PageStore
from gregor.worker.config.settings import Config
from gregor.worker.observe import tracing
from gregor.worker.observe.stats import Stats
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.politeness.host_records import Answered, Later, OriginFailed
from gregor.worker.politeness.turns import Turn
from gregor.worker.robots import copies
from gregor.worker.robots.announce import Announcer
from gregor.worker.robots.answers import Unreachable
from gregor.worker.robots.cache import OriginRules, RobotsCache
from gregor.worker.robots.file import parse
from gregor.worker.robots.match import ALLOW_ALL
from gregor.worker.robots.shared import OriginRefused
from gregor.worker.robots.walk import LedElsewhere, RobotsFetch, Settled, Wait
from gregor.worker.web.urls import Url, robots_url


class Allowed(msgspec.Struct, frozen=True):
    """It may be fetched. ``since``: when the robots.txt that says so was fetched, unix seconds; 0: nobody was asked."""

    since: float


class Disallowed(msgspec.Struct, frozen=True):
    """It must not be fetched; ``rule`` names the line that decides."""

    rule: str


class NotNow(msgspec.Struct, frozen=True):
    """The turn is over: a request was made for the file, or the host has to wait. The ticket goes back to the queue."""


Ruling: TypeAlias = Allowed | Disallowed | OriginRefused | NotNow

_NOT_NOW: Final = NotNow()


class RobotsRulings:
    """Rules on the URLs of one partition."""

    def __init__(
        self,
        cache: RobotsCache,
        fetch: RobotsFetch,
        announcer: Announcer,
        *,
        config: Config,
        store: PageStore,
        effects: Effects,
        orders: OrdersInForce,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._cache = cache
        self._fetch = fetch
        self._announcer = announcer
        self._agent = config.user_agent
        self._obeys = config.robots == "obey"
        self._store = store
        self._effect = effects.run
        self._orders = orders
        self._now = now
        self._monotonic = monotonic
        self._stats = stats

    async def rule(self, turn: Turn, url: Url, ticket: Ticket) -> Ruling:
        """Whether the URL of a ticket may be fetched in this turn, which it ends if not now."""
        tracing.ended("row")
        ruling = await self._rule(turn, url, ticket)
        tracing.ended("robots")
        return ruling

    async def _rule(self, turn: Turn, url: Url, ticket: Ticket) -> Ruling:
        remembered = self._cache.find(url.origin, self._now()) if self._obeys else None
        if remembered is not None and _outdated(remembered.rules, url, remembered.rules.since, ticket.ordered):
            remembered = None
        if remembered is None:
            learnt = await self._learn(turn, url, ticket.ordered) if self._obeys else OriginRules(ALLOW_ALL)
            if not isinstance(learnt, OriginRules):
                return learnt
            rules = learnt
        else:
            rules = remembered.rules
        if (remembered is None or not remembered.announced) and await self._announcer.announce(
            url, ticket, rules.robots
        ):
            self._cache.announced(url.origin)
        if turn.used:  # for the file
            turn.host.crawl_delays[url.origin] = rules.robots.pace
            await turn.over(Answered(url.origin, robots=True))
            return _NOT_NOW
        if (later := self._too_early(turn, url, rules.robots.pace)) is not None:
            await turn.over(later)
            return _NOT_NOW
        decision = rules.robots.decide(url.href)
        self._stats.robots["allowed" if decision.allowed else "denied"] += 1
        if decision.allowed:
            return Allowed(rules.since)
        return Disallowed(f"robots.txt line {decision.line}: {decision.rule}")

    async def answer_for(self, turn: Turn, ticket: Ticket, url: Url) -> None:
        """Fetch a robots.txt, at ``url``, that another host's owner asked for by a ticket."""
        if self._orders.opted_out(turn.host.name):
            await self._fetch.refuse_for(ticket, f"{turn.host.name} has opted out")
            return
        await self._fetch.answer_for(turn, ticket)
        if turn.used:
            await turn.over(Answered(url.origin, robots=True, mends=False))

    def _too_early(self, turn: Turn, url: Url, crawl_delay: float | None) -> Later | None:
        """Note what an origin asks for. It may be more than was known, and the last page too lately for it."""
        crawl_delays = turn.host.crawl_delays
        if crawl_delays.get(url.origin) == crawl_delay:
            return None
        crawl_delays[url.origin] = crawl_delay
        return turn.too_early()

    async def _learn(self, turn: Turn, url: Url, ordered: float) -> OriginRules | OriginRefused | NotNow:
        """The rules by the store's record, or by a step of a fetch; see `_outdated`."""
        now, walks = self._now(), turn.host.walks
        record = await self._effect(lambda: self._store.robots(url.origin))
        walk = walks.get(url.origin)
        answered = record is not None and walk is not None and 0.0 < walk.asked_at <= record.fetched_at
        is_current = record is not None and (answered or copies.holds(record, self._agent, now))
        rules = self._rules(record, url, now) if record is not None and is_current else None
        if record is not None and is_current and not _outdated(rules, url, record.fetched_at, ordered):
            walks.pop(url.origin, None)
            return rules or await self._closed(turn, url, str(record.status or "no answer"), record.expires - now)
        match await self._fetch.step(turn, url, record):
            case Settled(record, answer, failure):
                now = self._now()
                why = answer.why if isinstance(answer, Unreachable) else ""
                rules = self._rules(record, url, now, unused=True)
                return rules or await self._closed(turn, url, why, record.expires - now, failure)
            case LedElsewhere():
                await turn.over(Answered(url.origin, robots=True, mends=False))
            case Wait(seconds):
                await turn.over(Later(self._monotonic() + seconds, looks=True))
            case OriginRefused() as refused:
                return refused
        return _NOT_NOW

    def _rules(self, record: RobotsRecord, url: Url, now: float, *, unused: bool = False) -> OriginRules | None:
        """What holds by a record, remembered from now on; None: nothing is allowed."""
        text = copies.in_force(record, now)
        if text is None:
            return None
        rules = OriginRules(parse(text, self._agent, robots_url(url)) if text else ALLOW_ALL, record.fetched_at)
        self._cache.keep(record.origin, rules, record.expires, unused=unused)
        return rules

    async def _closed(self, turn: Turn, url: Url, why: str, after: float, failure: str = "robots") -> NotNow:
        """Nothing is known of the file and no good copy stands in: the host waits, its tickets with it."""
        self._stats.errors[failure] += 1
        self._stats.trouble = f"{robots_url(url)}: {why}"
        self._stats.robots["unreachable"] += 1
        await turn.over(OriginFailed(url.origin, f"robots.txt unreachable ({why})", after, robots=True))
        return _NOT_NOW


def _outdated(rules: OriginRules | None, url: Url, fetched_at: float, ordered: float) -> bool:
    """Whether a visit was ordered after what refuses it was fetched: then the file is asked for anew."""
    return fetched_at < ordered and (rules is None or not rules.robots.decide(url.href).allowed)

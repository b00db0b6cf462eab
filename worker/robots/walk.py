"""The fetch of a robots.txt, as turns of its host: the walk through its redirects may take several.

A file that another host has to answer (a redirect, RFC 9309 section 2.3.1.2) is asked of that host's owner by a ticket
of kind robots; the answer comes by way of the store, under the asking origin.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Final, TypeAlias

import msgspec

from gregor.schemas.messages import RobotsRecord, Ticket
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.kept_heads import kept_head
from gregor.worker.fetch.outcomes import AddressRefused, Broken, Failed, LeaseOver
from gregor.worker.frontier.host import RobotsWalk
from gregor.worker.frontier.partition import Partition
from gregor.worker.links import tickets
from gregor.worker.observe.stats import Stats
from gregor.worker.politeness.turns import Turn
from gregor.worker.robots.answers import Came, Elsewhere, NoFile, Unreachable, of_response
from gregor.worker.robots.copies import holds, recorded
from gregor.worker.robots.shared import Further, OriginRefused, Reply, SharedAnswers
from gregor.worker.web.urls import Url, Urls, robots_url

_FIRST_LOOK, _LONGEST_LOOK = 0.5, 30.0
"""Seconds until the answer of another host is looked for, and at most."""
MOST_ASKS: Final = 6
"""How often another host's owner is asked, each time for twice as long, until its silence is a failure: what fails is
answered, so silence is a long queue as a rule, of a host that answers for hundreds of others."""


class Settled(msgspec.Struct, frozen=True):
    """The walk is over and its record stored. ``failure``: why its last request failed, by its cause, if it did."""

    record: RobotsRecord
    answer: Came | NoFile | Unreachable
    failure: str = "robots"


class LedElsewhere(msgspec.Struct, frozen=True):
    """A request was answered by a redirect, which a later turn follows, or another host's owner."""


class Wait(msgspec.Struct, frozen=True):
    """Another host is asked: look again in so many seconds."""

    seconds: float


Step: TypeAlias = Settled | LedElsewhere | Wait | OriginRefused
"""What one step of a walk came to."""


class RobotsFetch:
    """Fetches the files of one partition's origins, and those that other owners ask for."""

    def __init__(
        self,
        partition: Partition,
        *,
        config: Config,
        log: FrontierLog,
        store: PageStore,
        effects: Effects,
        urls: Urls,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        fetcher: Fetcher,
        shared: SharedAnswers,
        stats: Stats,
    ) -> None:
        """``now`` gives the coordinator's time in unix seconds."""
        self._partition = partition
        self._config = config
        self._log = log
        self._store = store
        self._effect = effects.run
        self._urls = urls
        self._now = now
        self._monotonic = monotonic
        self._fetcher = fetcher
        self._shared = shared
        self._stats = stats
        self._limits = msgspec.structs.replace(fetcher.limits, max_body=config.max_robots, max_wire=config.max_robots)

    async def step(self, turn: Turn, url: Url, before: RobotsRecord | None) -> Step:
        """One step towards the file of a URL's origin, of which ``before`` is on record: one request at most."""
        walks, origin = turn.host.walks, url.origin
        walk = walks.setdefault(origin, RobotsWalk(robots_url(url)))
        if walk.asked_until:
            if self._monotonic() < walk.asked_until:
                return self._look(walk)
            if walk.asks < MOST_ASKS:
                await self._ask_owner(walk, origin)
                return self._look(walk)
            del walks[origin]
            return await self._settled(origin, Reply(Unreachable("no answer")), before)
        target = self._parsed(walk)
        match await self._request(turn, target, walk.hops):
            case Further(further, hops):
                walk.href, walk.hops = further.href, hops
                if further.host != turn.host.name:
                    await self._ask_owner(walk, origin)
                return LedElsewhere()
            case OriginRefused() as refused:
                del walks[origin]
                return refused
            case Reply() as reply:
                del walks[origin]
                return await self._settled(origin, reply, before)

    def _parsed(self, walk: RobotsWalk) -> Url:
        """Where a walk is; always a URL: that of a host of the crawl, or parsed when the redirect to it came."""
        target = self._urls.parse(walk.href)
        assert target is not None
        return target

    async def _ask_owner(self, walk: RobotsWalk, origin: str) -> None:
        """Ask another host's owner, or ask again for what was asked first: an answer to either is one to both."""
        walk.asked_at = walk.asked_at or self._now()
        await self._ask(origin, self._parsed(walk), walk.hops, walk.asked_at)
        walk.asked_until = self._monotonic() + self._config.robots_answer * 2**walk.asks
        walk.asks += 1

    def _look(self, walk: RobotsWalk) -> Wait:
        """Look again, the later the longer it takes: at most half as long again as it took."""
        return Wait(min(max(_FIRST_LOOK, (self._now() - walk.asked_at) / 2), _LONGEST_LOOK))

    async def answer_for(self, turn: Turn, ticket: Ticket) -> None:
        """Fetch a robots.txt for another host's origin, and leave the answer in the store. What came since the ticket
        was made, for whomever, is the answer as well: one request serves all who wait for the same file."""
        now, store = self._now(), self._store
        before = await self._effect(lambda: store.robots(ticket.origin))
        target = self._urls.parse(ticket.href)
        if target is None or (before is not None and _answers(before, ticket, self._config.user_agent, now)):
            return
        answer = self._shared.since(ticket)
        if answer is None:
            result = await self._request(turn, target, ticket.hops)
            answer = self._shared.keep(ticket, result, self._now())
        match answer.result:
            case Further(further, hops):
                await self._ask(ticket.origin, further, hops, ticket.at)  # what came since serves those who ask later
            case OriginRefused(detail):
                await self._settled(ticket.origin, Reply(Unreachable(detail)), before, answer.at)
            case Reply() as reply:
                await self._settled(ticket.origin, reply, before, answer.at)

    async def refuse_for(self, ticket: Ticket, why: str) -> None:
        """Leave in the store that a robots.txt is not to be had, for an origin whose owner asked for it."""
        store = self._store
        before = await self._effect(lambda: store.robots(ticket.origin))
        await self._settled(ticket.origin, Reply(Unreachable(why)), before)

    async def _request(self, turn: Turn, url: Url, hops: int) -> Reply | Further | OriginRefused:
        outcome, response = await self._fetcher.fetch(url, turn.for_robots(), self._now(), self._limits)
        if response is not None:
            with closing(response):
                return self._reply_of(turn, response, url, hops)
        match outcome:
            case LeaseOver():
                raise LeaseLost
            case AddressRefused(detail):
                return OriginRefused(detail)
            case Failed(cause, detail) | Broken(cause, detail):
                return Reply(Unreachable(detail), failure=cause)
            case _:
                return Reply(Unreachable("no answer"))

    def _reply_of(self, turn: Turn, response: Response, url: Url, hops: int) -> Reply | Further:
        turn.host.latency = response.latency
        self._stats.stages["robots"].observe(response.latency)
        headers = _lower(response)
        answer = of_response(response, headers, url.href, hops, self._config.robots_redirects)
        if not isinstance(answer, Elsewhere):
            return Reply(answer, headers, head=kept_head(response, url.href))
        further = self._urls.parse(answer.location)
        if further is None:
            nowhere = Unreachable("redirected to no URL that can be asked for", response.status)
            return Reply(nowhere, headers, head=kept_head(response, url.href))
        return Further(further, answer.hops)

    async def _ask(self, origin: str, target: Url, hops: int, at: float) -> None:
        """Ask another host's owner for what is newer than ``at``, unix seconds."""
        ticket = tickets.of_robots(target, origin, hops, at)
        await self._effect(lambda: self._log.publish([ticket]))

    async def _settled(
        self, origin: str, reply: Reply, before: RobotsRecord | None, at: float | None = None
    ) -> Settled:
        """Store what was learnt of an origin's file, now or ``at`` a time, unix seconds."""
        learnt_at = self._now() if at is None else at
        record = recorded(origin, reply.answer, reply.headers, before, learnt_at, self._config)
        record = msgspec.structs.replace(record, answer=reply.head)
        await self._effect(lambda: self._store.put_robots(record, self._partition.stamp()))
        return Settled(record, reply.answer, reply.failure)


def _answers(record: RobotsRecord, ticket: Ticket, agent: str, now: float) -> bool:
    """Whether what is on record came since a ticket asked for it. A failure may be the asker's own, who heard nothing
    for long."""
    return record.verdict != "unreachable" and record.fetched_at >= ticket.at and holds(record, agent, now)


def _lower(response: Response) -> dict[str, str]:
    """The first value of each header, by lower-case name; all of Cache-Control, which is a list."""
    lowered = {name.lower(): value for name, value in reversed(response.headers)}
    if (listed := response.combined("cache-control")) is not None:
        lowered["cache-control"] = listed
    return lowered

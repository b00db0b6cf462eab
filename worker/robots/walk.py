"""The fetch of a robots.txt, as turns of its host: the walk through its redirects may take several.

A file that another host has to answer (a redirect, RFC 9309 section 2.3.1.2) is asked of that host's owner by a ticket
of kind robots; the answer comes by way of the store, under the asking origin.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TypeAlias

import msgspec

from gregor.schemas.messages import RobotsRecord, Ticket
from gregor.worker.borders.effects import Effects, LeaseLost
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.store import PageStore
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config
from gregor.worker.fetch.fetcher import Fetcher
from gregor.worker.fetch.outcomes import AddressRefused, Broken, Failed, LeaseOver
from gregor.worker.frontier.host import RobotsWalk
from gregor.worker.frontier.partition import Partition
from gregor.worker.links import tickets
from gregor.worker.observe.stats import Stats
from gregor.worker.politeness.delays import doubled
from gregor.worker.politeness.turns import Turn
from gregor.worker.robots.answers import Came, Elsewhere, NoFile, Unreachable, of_response
from gregor.worker.robots.copies import holds, recorded
from gregor.worker.web.urls import Url, Urls, robots_url

_FIRST_LOOK, _LONGEST_LOOK = 1.0, 8.0
"""Seconds until the answer of another host is looked for, and at most."""


class Settled(msgspec.Struct, frozen=True):
    """The walk is over and its record stored. ``failure``: why its last request failed, by its cause, if it did."""

    record: RobotsRecord
    answer: Came | NoFile | Unreachable
    failure: str = "robots"


class Redirected(msgspec.Struct, frozen=True):
    """A request was answered by a redirect, which a later turn follows, or another host's owner."""


class Wait(msgspec.Struct, frozen=True):
    """Another host is asked: look again in so many seconds."""

    seconds: float


class OriginRefused(msgspec.Struct, frozen=True):
    """The origin's address is not allowed, so none of its URLs can be fetched."""

    detail: str


Step: TypeAlias = Settled | Redirected | Wait | OriginRefused
"""What one step of a walk came to."""


class _Reply(msgspec.Struct, frozen=True):
    """What a request came to, the last one of a walk; ``headers`` by their lower-case names."""

    answer: Came | NoFile | Unreachable
    headers: Mapping[str, str] = {}
    failure: str = "robots"


class _Further(msgspec.Struct, frozen=True):
    """The file is at another URL, so many ``hops`` from where it was asked for first."""

    url: Url
    hops: int


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
        self._stats = stats
        self._limits = msgspec.structs.replace(fetcher.limits, max_body=config.max_robots, max_wire=config.max_robots)

    async def step(self, turn: Turn, url: Url, before: RobotsRecord | None) -> Step:
        """One step towards the file of a URL's origin, of which ``before`` is on record: one request at most."""
        walks, origin = turn.host.walks, url.origin
        walk = walks.setdefault(origin, RobotsWalk(robots_url(url)))
        if walk.asked_until:
            if self._monotonic() < walk.asked_until:
                walk.looks += 1
                return Wait(doubled(_FIRST_LOOK, walk.looks - 1, _LONGEST_LOOK))
            del walks[origin]
            return await self._settled(origin, _Reply(Unreachable("no answer")), before)
        target = self._urls.parse(walk.href)
        assert target is not None  # it is that of a URL, or was parsed when the redirect to it came
        match await self._request(turn, target, walk.hops):
            case _Further(further, hops):
                walk.href, walk.hops = further.href, hops
                if further.host != turn.host.name:
                    walk.asked_at = self._now()
                    await self._ask(origin, further, hops, walk.asked_at)
                    walk.asked_until = self._monotonic() + self._config.robots_answer
                return Redirected()
            case OriginRefused() as refused:
                del walks[origin]
                return refused
            case _Reply() as reply:
                del walks[origin]
                return await self._settled(origin, reply, before)

    async def answer_for(self, turn: Turn, ticket: Ticket) -> None:
        """Fetch a robots.txt for another host's origin, and leave the answer in the store."""
        now, store = self._now(), self._store
        before = await self._effect(lambda: store.robots(ticket.origin))
        target = self._urls.parse(ticket.href)
        if target is None or (before is not None and holds(before, self._config.user_agent, now)):
            return
        match await self._request(turn, target, ticket.hops):
            case _Further(further, hops):
                await self._ask(ticket.origin, further, hops, now)
            case OriginRefused(detail):
                await self._settled(ticket.origin, _Reply(Unreachable(detail)), before)
            case _Reply() as reply:
                await self._settled(ticket.origin, reply, before)

    async def _request(self, turn: Turn, url: Url, hops: int) -> _Reply | _Further | OriginRefused:
        outcome, response = await self._fetcher.fetch(url, turn.for_robots(), self._now(), self._limits)
        if response is not None:
            with closing(response):
                return self._heard(turn, response, url, hops)
        match outcome:
            case LeaseOver():
                raise LeaseLost
            case AddressRefused(detail):
                return OriginRefused(detail)
            case Failed(cause, detail) | Broken(cause, detail):
                return _Reply(Unreachable(detail), failure=cause)
            case _:
                return _Reply(Unreachable("no answer"))

    def _heard(self, turn: Turn, response: Response, url: Url, hops: int) -> _Reply | _Further:
        turn.host.latency = response.latency
        self._stats.stages["robots"].observe(response.latency)
        headers = _lower(response)
        answer = of_response(response, headers, url.href, hops, self._config.robots_redirects)
        if not isinstance(answer, Elsewhere):
            return _Reply(answer, headers)
        further = self._urls.parse(answer.location)
        if further is None:
            return _Reply(Unreachable("redirected to no URL that can be asked for", response.status), headers)
        return _Further(further, answer.hops)

    async def _ask(self, origin: str, target: Url, hops: int, now: float) -> None:
        """Ask another host's owner."""
        ticket = tickets.of_robots(target, origin, hops, now)
        await self._effect(lambda: self._log.publish([ticket]))

    async def _settled(self, origin: str, reply: _Reply, before: RobotsRecord | None) -> Settled:
        """Store what was learnt of an origin's file."""
        record = recorded(origin, reply.answer, reply.headers, before, self._now(), self._config)
        await self._effect(lambda: self._store.put_robots(record, self._partition.stamp()))
        return Settled(record, reply.answer, reply.failure)


def _lower(response: Response) -> dict[str, str]:
    """The first value of each header, by lower-case name; all of Cache-Control, which is a list."""
    lowered = {name.lower(): value for name, value in reversed(response.headers)}
    if (listed := response.combined("cache-control")) is not None:
        lowered["cache-control"] = listed
    return lowered

"""A whole crawl by the product's own worker, on a clock that jumps to the next event: what is fetched in which order.

Log, seen set, store and coordinator are those of the simulation, whose calls take no time and are not remembered here.
"""

import asyncio
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from benchmarks.ordering.webs import LinkedWeb
from gregor.schemas.messages import Row
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.resolver import Resolution
from gregor.worker.borders.services import Services
from gregor.worker.borders.transport import FetchResult, Limits, Permit, Request, Response, SocketAddress
from gregor.worker.compose.extraction import extraction_of
from gregor.worker.config.settings import Config
from gregor.worker.links.configured import scope_rules
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import ScoringPolicy
from gregor.worker.links.scope import Scope
from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.run.runtime import Runtime
from gregor.worker.web.urls import Urls
from tests.simulation.clock import VirtualClock, VirtualLoop
from tests.simulation.engine import Machine, World
from tests.simulation.handles import SimulatedLog, SimulatedSeen, SimulatedStore
from tests.simulation.membership import SimulatedCoordinator

T = TypeVar("T")
CONCURRENCY: Final = 64
LATENCY: Final = 0.1
SETTINGS: Final[dict[str, object]] = {
    "partitions": 8,
    "scope": "any",
    "robots": "ignore",
    "delay": 1.0,
    "delay_factor": 0.0,
    "first_contact_delay": 0.0,
    "concurrency": CONCURRENCY,
    "nofollow": False,
    "canonical_links": False,
    "frames": False,
}


class _Straight:
    """In the place of a `Wire`: what is asked is done at once."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def call(self, op: str, effect: Callable[..., T], *args: Any, patience: float | None = None) -> T:
        return effect(*args)

    async def pass_by(self, op: str) -> None:
        return None


class _Resolver:
    """Each name has an address of its own."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    def remembered(self, hostname: str, port: int) -> None:
        """Nothing is."""

    async def resolve(self, hostname: str, port: int) -> Resolution:
        return Resolution((SocketAddress("11.0.0.1", port),), self._clock.monotonic() + 3600.0)


class _Recorded:
    """Lets links to pages of a web through."""

    def __init__(self, web: LinkedWeb) -> None:
        self._numbers = web.numbers

    def follow(self, link: FoundLink) -> bool:
        return link.key in self._numbers


class _Transport:
    """Asks a web, and notes what was asked for."""

    def __init__(self, web: LinkedWeb, most: int, enough: Callable[[], None]) -> None:
        self._web = web
        self._urls = Urls()
        self._most = most
        self._enough = enough
        self.pages: list[int] = []
        self.waste = 0
        """Requests for what is no page of the web."""

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        permit.allows()
        permit.sent()
        url = self._urls.parse(request.href)
        key = "" if url is None else url.key
        number, answer = self._web.numbers.get(key), self._web.answer(key)
        if number is None:
            self.waste += 1
        elif number not in self._web.moved:
            self.pages.append(number)
            if len(self.pages) == self._most:
                self._enough()
        await asyncio.sleep(LATENCY)
        body = SpooledBody(cap=limits.max_body)
        body.write(answer.body[: limits.max_body])
        return Response(
            status=answer.status,
            reason="X",
            headers=list(answer.headers),
            http_version="1.1",
            body=body,
            wire_body=None,
            request_head=b"",
            response_head=b"",
            address="11.0.0.1",
            latency=LATENCY,
            elapsed=LATENCY,
        )

    async def close(self) -> None: ...


def crawl(
    web: LinkedWeb, most: int, policy: ScoringPolicy | None = None, **settings: object
) -> tuple[list[int], float]:
    """The first ``most`` pages in the order of their requests, and the share of requests that went to no page.
    ``policy``: in the place of that which the settings name; ``settings``: beside `SETTINGS`."""
    transport, _ = _run(web, most, settings, policy)
    return transport.pages, transport.waste / max(1, transport.waste + len(transport.pages))


def rows(web: LinkedWeb, **settings: object) -> list[Row]:
    """What is known of each URL when all were visited. ``settings``: beside `SETTINGS`."""
    _, world = _run(web, sys.maxsize, settings)
    return list(world.store.rows_by_key.values.values())


def _run(
    web: LinkedWeb, most: int, settings: dict[str, object], policy: ScoringPolicy | None = None
) -> tuple[_Transport, World]:
    config = Config(**{**SETTINGS, **settings})  # type: ignore[arg-type]
    loop = VirtualLoop(most_time=1e9, most_callbacks=1 << 62)  # type: ignore[abstract]
    outcome: tuple[_Transport, World] = loop.run_until_complete(_crawl(web, most, config, loop, policy))
    loop.close()
    return outcome


async def _crawl(
    web: LinkedWeb, most: int, config: Config, loop: VirtualLoop, policy: ScoringPolicy | None
) -> tuple[_Transport, World]:
    world, machine, clock = World(partitions=config.partitions), Machine("a"), VirtualClock(loop)
    straight: Any = _Straight(world)
    log, seen, store = SimulatedLog(world, machine), SimulatedSeen(world, machine), SimulatedStore(world, machine)
    coordinator = SimulatedCoordinator(world, machine, clock)
    for client in (log, seen, store, coordinator):
        client._wire = straight
    forget: Any = world.store
    forget.near = lambda sketch, least: None  # it would compare each page with all others
    transport = _Transport(web, most, lambda: runtime.stop("that is enough"))
    services = Services(log, seen, store, coordinator, transport, _Resolver(clock))
    urls = Urls()
    seeds = [url for url in map(urls.parse, web.seed_urls) if url is not None]
    extraction = extraction_of(config, ())
    if policy is not None:
        extraction = replace(extraction, judges=replace(extraction.judges, policy=policy))
    if web.closed:
        extraction = replace(extraction, judges=replace(extraction.judges, filters={"recorded": _Recorded(web)}))
    runtime = Runtime(
        config,
        services,
        clock,
        urls=urls,
        scope=Scope(scope_rules(config), [url.host for url in seeds]),
        random=random.Random(0),
        extraction=extraction,
    )
    await publish(log, store, map(Seed, seeds))
    await runtime.run()
    return transport, world

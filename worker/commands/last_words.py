"""What the report of a crawl says beside what its process knows: it is read of the crawl, once that is over.

A server may be away by then. It changes nothing of how the crawl ended, and nobody waits for it: what cannot be read is
named.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.settings import Config
from gregor.worker.inspect import unfetched
from gregor.worker.observe.stats import Stats
from gregor.worker.run.ending import Ending

if TYPE_CHECKING:
    from gregor.worker.extract.drift import Fallen
    from gregor.worker.operate.seeds_input import Seeds

T = TypeVar("T")
_MANY: Final = 1000
"""Seeds; whoever stops a crawl does not wait until more are looked at."""


async def nothing_came(ending: Ending, stats: Stats, config: Config, seeds: "Seeds") -> str:
    """Why a run has brought nothing that was asked for; empty when something came, a larger budget is needed, or it
    was stopped or its time was over before anything failed."""
    return await _unless_away("whether anything came", _nothing_came(ending, stats, _hurried(config), seeds), "")


async def fallen_away(config: Config) -> "tuple[Fallen, ...]":
    """What rules find no more on the pages of the crawl."""
    from gregor.worker.compose.drift import drift_of

    return await _unless_away("what rules find no more", drift_of(_hurried(config)), ())


def _hurried(config: Config) -> Config:
    return msgspec.structs.replace(config, start_timeout=0)


async def _unless_away(what: str, ask: Awaitable[T], otherwise: T) -> T:
    try:
        return await ask
    except (BadInput, Unavailable) as error:
        complain(f"the crawl is over; {what} cannot be read: {error}")
        return otherwise


async def _nothing_came(ending: Ending, stats: Stats, config: Config, seeds: "Seeds") -> str:
    from gregor.worker.compose.engine import engine_of

    stopped = ending.reason == "stopped"
    dropped = bool(stats.drops) and not seeds.count  # stale URLs, which was all there was to do
    came = stats.pages and (stopped or not engine_of(config).place.counted)  # servers are asked when nothing came
    if ending.needs_more or dropped or came or (stopped and seeds.count > _MANY):
        return ""
    reader, _ = await engine_of(config).read()
    try:
        failure = await unfetched.why_no_seed(reader, (seed.url for seed in seeds))
        if failure and not stopped:
            return failure
        if stats.pages:
            return ""
        async for _ in reader.pages():
            return ""
        if ending.reason in ("budget", "stopped"):
            return failure or await unfetched.why_not_yet(reader, (seed.url for seed in seeds))
        return await unfetched.why_nothing(reader)
    finally:
        await reader.close()

"""The settings that a crawl was made with: read before anything else is decided, kept once it runs."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeAlias

from gregor.worker.adapters.embedded import folder
from gregor.worker.base.amounts import count as counted
from gregor.worker.base.batches import in_batches
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import Reader
from gregor.worker.config import kept as belonging
from gregor.worker.config.kept import WIDENING, KeptSettings
from gregor.worker.config.settings import Config
from gregor.worker.config.sources import Settings
from gregor.worker.links.configured import scope_rules, urls_of
from gregor.worker.links.scope import Scope
from gregor.worker.operate import reopen

_NAME = "settings"
_BATCH = 1000
OpenReader: TypeAlias = Callable[[], AbstractAsyncContextManager[Reader]]
"""Opens what the crawl remembers, while it is used."""


def kept(data: str) -> KeptSettings | None:
    """What the crawl in a data folder was made with; None when there is none, or it does not say.

    On servers there is nothing: there the settings are those of the deployment, which all workers share.
    """
    try:
        connection, made_for = folder.connect_reading(Path(data))
    except BadInput:
        return None  # whoever needs the folder says what is wrong with it
    connection.close()
    return belonging.decode(made_for[_NAME]) if _NAME in made_for else None


async def take_up(
    settings: Settings, reading: OpenReader, log: FrontierLog, now: float, tell: Callable[[str], None]
) -> int:
    """Go on with a data folder under these settings: publish what they let in that was turned down before, or visits
    that are due by them, then keep them. Returns how many URLs; cut short, the next run does it again."""
    before, count = settings.kept, 0
    if before is not None:
        differing = belonging.changed(before, settings.config, settings.sources)
        if WIDENING & differing.keys():
            count = await _let_in(settings.config, reading, "revisit" in differing, log, now)
            if count:
                names = ", ".join(sorted(WIDENING & differing.keys()))
                tell(
                    f"{names} changed: {counted(count, 'known URL')} {'is' if count == 1 else 'are'} asked for by that"
                )
    folder.keep(
        Path(settings.config.data), _NAME, belonging.encode(belonging.to_keep(settings.config, settings.sources))
    )
    return count


async def _let_in(config: Config, reading: OpenReader, revisits: bool, log: FrontierLog, now: float) -> int:
    async with reading() as reader:
        scope = Scope(scope_rules(config), await reader.seed_hosts())
        count, tickets = 0, reopen.tickets(reader, urls_of(config), scope, config, revisits, now)
        async for batch in in_batches(tickets, _BATCH):
            await log.publish(batch)
            count += len(batch)
        return count

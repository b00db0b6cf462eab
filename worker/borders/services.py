"""The services of a worker."""

from dataclasses import dataclass

from gregor.worker.borders.addresses import AddressTurns
from gregor.worker.borders.coordinator import Coordinator
from gregor.worker.borders.counted_together import CountedTogether
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.resolver import Resolver
from gregor.worker.borders.seen import SeenSet
from gregor.worker.borders.settlement import Settler
from gregor.worker.borders.store import PageStore
from gregor.worker.borders.transport import Transport


@dataclass(frozen=True)
class Services:
    """The borders of one worker."""

    log: FrontierLog
    seen: SeenSet
    store: PageStore
    coordinator: Coordinator
    transport: Transport
    resolver: Resolver
    addresses: AddressTurns | None = None
    """None where one worker is the whole crawl."""
    settler: Settler | None = None
    """Settles a visit in one call, where log, seen set and store share a transaction."""
    counters: CountedTogether | None = None
    """What several processes on one folder count together."""

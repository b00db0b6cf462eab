"""The services of a worker."""

from dataclasses import dataclass

from gregor.worker.borders.coordinator import Coordinator
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.resolver import Resolver
from gregor.worker.borders.seen import SeenSet
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

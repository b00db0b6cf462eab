"""What a crawl on servers is verified and mended by, beside its workers or, for its dates, while none runs."""

from collections.abc import Mapping

from gregor.worker.adapters.cluster.ahead import DatesAhead
from gregor.worker.adapters.cluster.cassandra_client import Cassandra
from gregor.worker.adapters.cluster.contents import Contents
from gregor.worker.adapters.cluster.coordinator import ClusterCoordinator
from gregor.worker.adapters.cluster.engine import Opening
from gregor.worker.adapters.cluster.log import KafkaLog
from gregor.worker.adapters.cluster.seen import RedisSeen
from gregor.worker.adapters.cluster.stock import ClusterMending, ClusterStock
from gregor.worker.base.errors import BadInput
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.stock import TellMended
from gregor.worker.config.settings import Config
from gregor.worker.frontier.ahead import MARGIN, apart


async def open_stock(config: Config, canonical: str, environ: Mapping[str, str]) -> ClusterStock:
    """All that a crawl stored, beside its workers. Raises `BadInput`."""
    return ClusterStock(*await _opened(config, canonical, environ), config.partitions, config.bucket_width)


async def open_mending(config: Config, canonical: str, environ: Mapping[str, str], clock: Clock) -> ClusterMending:
    """What mends a crawl, beside its workers. Raises `BadInput`."""
    cassandra, log, seen = await _opened(config, canonical, environ)

    async def set_back(tell: TellMended) -> None:
        await _set_back(config, cassandra, environ, clock, tell)

    return ClusterMending(cassandra, log, seen, set_back)


async def _set_back(
    config: Config, cassandra: Cassandra, environ: Mapping[str, str], clock: Clock, tell: TellMended
) -> None:
    """Bring the crawl's dates back to the time of ZooKeeper, by which workers date. Raises `BadInput` while that is not
    this machine's, or a worker runs."""
    coordinator = await ClusterCoordinator.open(
        config, config.crawl, config.partitions, "check", clock, environ=environ
    )
    try:
        ahead = coordinator.now() - clock.wall()
        if abs(ahead) > MARGIN:
            raise BadInput(
                f"ZooKeeper's clock, which dates this crawl, is {apart(ahead)} this machine's: set it right, then "
                "`gregor check --mend` sets the dates back"
            )
        await _nobody(coordinator)
        dates = DatesAhead(cassandra, config.partitions, config.bucket_width)
        await dates.set_back(coordinator.now(), tell)
        try:
            await _nobody(coordinator)
        except BadInput:
            await dates.forget_done()
            raise
        await dates.finish()
    finally:
        await coordinator.close()


async def _nobody(coordinator: ClusterCoordinator) -> None:
    """See that no worker runs. Raises `BadInput`."""
    if names := await coordinator.alive():
        raise BadInput(f"dates are set back while no worker runs, and {', '.join(names)} does: stop all workers first")


async def _opened(config: Config, canonical: str, environ: Mapping[str, str]) -> tuple[Cassandra, KafkaLog, RedisSeen]:
    """The services of a crawl without its coordinator, for the caller to close. Raises `BadInput`."""
    opening = Opening(config, environ)
    async with opening.stack:
        cassandra, crawl_id = await opening.cassandra(canonical)
        seen = await opening(
            lambda: RedisSeen.open(config, crawl_id, Contents(cassandra, config.cassandra_retention), environ)
        )
        opening.keep(seen)
        log = await opening.kafka()
        opening.stack.pop_all()
        return cassandra, log, seen
    raise AssertionError("an exit stack swallows nothing")

"""The arithmetic: from pages, days, costs and prices to machines, disks and dollars. No I/O; nothing rounds down."""

import math
from collections.abc import Sequence
from typing import Final

from gregor.worker.base.errors import BadInput
from gregor.worker.capacity.types import Costs, Machine, Plan, Pool, Prices, Spend, Wish

ZONES: Final = 3
GIB: Final = 2**30
GB: Final = 10**9
MONTH: Final = 730.0
"""Hours."""

LEAST_DISK: Final = 100
LARGEST_DISK: Final = 16384
"""GiB of one broker or node."""

LEAST_CONCURRENCY: Final = 64
"""As the setting is by default."""
MOST_CONCURRENCY: Final = 10_000
"""More the setting does not take."""
LEAST_PARTITIONS: Final = 256
MOST_PARTITIONS: Final = 65536
TOPICS: Final = 6
_ENDPOINTS: Final = 4
_ZOOKEEPER_DISK: Final = 20


def plan(wish: Wish, costs: Costs, prices: Prices) -> Plan:
    """What the wish takes. Of several machines the cheapest that suffice are taken.

    Raises BadInput when it takes more workers than there may be partitions.
    """
    workers = _workers(wish, costs, prices)
    most = math.ceil(workers.count * costs.spare_workers) if costs.spare_workers > 1 else workers.count
    if most > MOST_PARTITIONS:
        raise BadInput(f"that takes {most:,} workers, and a crawl has at most {MOST_PARTITIONS:,} partitions")
    split = partitions(most, costs.worker_partitions)
    urls = wish.pages * max(1.0, costs.new_urls)
    event_share = min(1.0, costs.event_days / wish.days)
    logged = urls * costs.ticket_bytes + wish.pages * costs.event_bytes * event_share
    backlogs = (urls - wish.pages) * costs.backlog_share * costs.ticket_bytes
    stored = wish.pages * (costs.page_bytes * costs.body_share + costs.record_bytes) + backlogs
    remembered = urls * costs.redis_url + wish.pages * costs.redis_content
    shards, redis = _redis(remembered, costs, prices)
    passed = wish.pages * (costs.page_bytes + costs.requests * costs.request_bytes)
    far = (ZONES - 1) / ZONES * (stored + logged) + stored * (wish.cassandra_replication - 1)
    kafka = _kafka(wish, costs, prices, split, logged * wish.kafka_replication)
    cassandra = _cassandra(wish, costs, prices, stored * wish.cassandra_replication)
    sent = wish.pages * costs.requests * costs.request_bytes
    return Plan(
        wish=wish,
        pages_second=wish.rate,
        requests_second=wish.rate * costs.requests,
        hosts=math.ceil(wish.rate * costs.requests * wish.delay),
        partitions=split,
        workers=workers,
        workers_max=most,
        concurrency=_concurrency(wish, costs, workers.count),
        kafka=kafka,
        redis=redis,
        shards=shards,
        cassandra=cassandra,
        urls=urls,
        redis_gb=remembered / GB,
        kafka_gb=logged * wish.kafka_replication / GB,
        cassandra_gb=stored * wish.cassandra_replication / GB,
        nat_gb=passed / GB,
        nat_mbit=passed * 8 / (wish.days * 86400) / 1e6,
        zones_gb=far / GB,
        bill=_bill(wish, prices, (workers, kafka, redis, cassandra), shards, (passed / GB, sent / GB, far / GB)),
    )


def partitions(workers: int, each: float) -> int:
    """A power of two, so that each of the ``workers`` may have ``each``; fixed for the crawl's life."""
    wanted = max(LEAST_PARTITIONS, math.ceil(workers * each))
    return min(MOST_PARTITIONS, 1 << (wanted - 1).bit_length())


def _by_zones(count: float) -> int:
    """At least so many, the same number in each zone."""
    return ZONES * max(1, math.ceil(count / ZONES))


def _cores(wish: Wish, milliseconds: float, costs: Costs) -> float:
    """Cores for work of so many ms a page, with headroom."""
    return wish.rate * milliseconds / 1000 / costs.utilisation


def _workers(wish: Wish, costs: Costs, prices: Prices) -> Pool:
    (machine,) = prices.machines["worker"]  # a worker is one process that uses one core
    count = max(ZONES, math.ceil(_cores(wish, costs.worker_cpu + costs.requests * costs.tls_cpu, costs)))
    beyond_first = (count - 1) * costs.spot_share
    return Pool(machine, count, 0, machine.usd_hour * (1 + beyond_first) * MONTH)


def _concurrency(wish: Wish, costs: Costs, workers: int) -> int:
    """Visits that run at once in each worker, by Little's law: requests a second times the seconds of one, with
    headroom; `LEAST_CONCURRENCY` at least."""
    running = wish.rate * costs.requests * costs.answer_seconds / workers / costs.utilisation
    return min(MOST_CONCURRENCY, max(LEAST_CONCURRENCY, math.ceil(running)))


def _pool(machine: Machine, count: int, data: float, fill: float, gib_month: float) -> Pool:
    """So many machines with ``data`` bytes on their disks."""
    disk = max(LEAST_DISK, math.ceil(data / GIB / fill / count))
    return Pool(machine, count, disk, count * (machine.usd_hour * MONTH + disk * gib_month))


def _cheapest(pools: Sequence[Pool]) -> Pool:
    return min(pools, key=lambda pool: pool.usd_month)


def _kafka(wish: Wish, costs: Costs, prices: Prices, split: int, data: float) -> Pool:
    cores = _cores(wish, costs.servers_cpu * costs.kafka_share * wish.kafka_replication, costs)
    replicas = TOPICS * split * wish.kafka_replication
    disks = data / GIB / costs.disk_fill / LARGEST_DISK
    least = wish.kafka_replication
    pools = []
    for machine in prices.machines["kafka"]:
        count = _by_zones(max(least, disks, cores / machine.vcpu, replicas / machine.replicas))
        pools.append(_pool(machine, count, data, costs.disk_fill, prices.kafka_disk_gib_month))
    return _cheapest(pools)


def _cassandra(wish: Wish, costs: Costs, prices: Prices, data: float) -> Pool:
    cores = _cores(wish, costs.servers_cpu * costs.cassandra_share * wish.cassandra_replication, costs)
    disks = data / GIB / costs.disk_fill / min(costs.cassandra_disk, LARGEST_DISK)
    pools = []
    for machine in prices.machines["cassandra"]:
        count = _by_zones(max(wish.cassandra_replication, disks, cores / machine.vcpu))
        pools.append(_pool(machine, count, data, costs.disk_fill, prices.disk_gib_month))
    return _cheapest(pools)


def _redis(remembered: float, costs: Costs, prices: Prices) -> tuple[int, Pool]:
    """Shards for so many bytes, and the nodes of one: a primary and its replicas, one a zone."""
    gib = remembered / GIB / costs.redis_fill
    fits = [machine for machine in prices.machines["redis"] if machine.gib >= gib]
    largest = max(prices.machines["redis"], key=lambda machine: machine.gib)
    machine = min(fits, key=lambda node: node.usd_hour) if fits else largest
    return max(1, math.ceil(gib / machine.gib)), Pool(machine, ZONES, 0, ZONES * machine.usd_hour * MONTH)


def _bill(
    wish: Wish, prices: Prices, pools: tuple[Pool, Pool, Pool, Pool], shards: int, traffic: tuple[float, float, float]
) -> list[Spend]:
    """``traffic``: GB of the whole crawl through NAT, to the internet, from zone to zone."""
    of_month = wish.days * 24 / MONTH
    workers, kafka, redis, cassandra = pools
    through, out, far = traffic
    zookeeper, console = prices.machines["zookeeper"][0], prices.machines["console"][0]
    gate = prices.nat_hour + prices.address_hour + _ENDPOINTS * prices.endpoint_hour
    fixed = {
        "workers": workers.usd_month,
        "Kafka and its disks": kafka.usd_month,
        "Redis": shards * redis.usd_month,
        "Cassandra and its disks": cassandra.usd_month,
        "ZooKeeper": ZONES * (zookeeper.usd_hour * MONTH + _ZOOKEEPER_DISK * prices.disk_gib_month),
        "console": console.usd_hour * MONTH,
        "NAT gateways and endpoints": ZONES * MONTH * gate,
    }
    moved = {
        "traffic through NAT": through * prices.nat_gb,
        "traffic to the internet": out * prices.internet_out_gb,
        "traffic between zones": far * prices.zones_gb,
    }
    bill = [Spend(item, usd, usd * of_month) for item, usd in fixed.items()]
    return bill + [Spend(item, usd / of_month, usd) for item, usd in moved.items()]

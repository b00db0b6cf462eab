"""What a plan is made of and what it is: costs, prices, the wish, machines, the bill.

Units: bytes as they are, GB = 10^9 bytes (traffic), GiB = 2^30 (disks, memory), a month = 730 hours, USD.
"""

from typing import ClassVar

import msgspec


class Costs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page costs; costs.toml says each one's unit and source."""

    SHARES: ClassVar = frozenset(
        {
            "kafka_share",
            "cassandra_share",
            "body_share",
            "backlog_share",
            "utilisation",
            "disk_fill",
            "redis_fill",
            "spot_share",
        }
    )

    worker_cpu: float
    tls_cpu: float
    answer_seconds: float
    worker_memory: float
    servers_cpu: float
    redis_url: float
    redis_content: float
    kafka_share: float
    cassandra_share: float
    page_bytes: float
    body_share: float
    record_bytes: float
    requests: float
    request_bytes: float
    new_urls: float
    ticket_bytes: float
    backlog_share: float
    event_bytes: float
    event_days: float
    utilisation: float
    disk_fill: float
    redis_fill: float
    cassandra_disk: float
    spare_workers: float
    worker_partitions: float
    spot_share: float


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A type to rent: USD an hour, processors, GiB of memory; of a broker, how many partition replicas it may have."""

    name: str
    usd_hour: float
    vcpu: int
    gib: float
    replicas: int = 0


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """prices.toml."""

    date: str
    region: str
    disk_gib_month: float
    kafka_disk_gib_month: float
    nat_hour: float
    nat_gb: float
    address_hour: float
    internet_out_gb: float
    zones_gb: float
    endpoint_hour: float
    machines: dict[str, list[Machine]]


class Wish(msgspec.Struct, frozen=True):
    """What is to be crawled: ``pages`` in ``days``, ``delay`` seconds between requests to a host; copies of data."""

    pages: float
    days: float
    delay: float = 1.0
    kafka_replication: int = 3
    cassandra_replication: int = 3

    @property
    def rate(self) -> float:
        """Pages a second, on the mean."""
        return self.pages / (self.days * 86400)


class Pool(msgspec.Struct, frozen=True):
    """Equal machines: how many, each with ``disk`` GiB; USD a month."""

    machine: Machine
    count: int
    disk: int
    usd_month: float


class Spend(msgspec.Struct, frozen=True):
    """One item of the bill, in USD."""

    item: str
    month: float
    crawl: float


class Plan(msgspec.Struct, frozen=True):
    """What it takes. ``concurrency``: visits at once of a worker. ``hosts``: how many must have work at all times;
    ``shards`` of Redis with ``redis`` nodes each.

    GB are those of the whole crawl; in Kafka and Cassandra with all copies, in Redis one.
    """

    wish: Wish
    pages_second: float
    requests_second: float
    hosts: int
    partitions: int
    workers: Pool
    workers_max: int
    concurrency: int
    kafka: Pool
    redis: Pool
    shards: int
    cassandra: Pool
    urls: float
    redis_gb: float
    kafka_gb: float
    cassandra_gb: float
    nat_gb: float
    nat_mbit: float
    zones_gb: float
    bill: list[Spend]

    @property
    def month(self) -> float:
        """USD for 730 hours at that rate."""
        return sum(one.month for one in self.bill)

    @property
    def crawl(self) -> float:
        """USD for the days of the crawl."""
        return sum(one.crawl for one in self.bill)

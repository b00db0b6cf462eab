"""How many processes crawl on one machine, and what of the crawl's bounds each of them has."""

import math

from gregor.worker.base.errors import BadInput
from gregor.worker.base.machine import processors
from gregor.worker.config.settings import Config, replace


def number_of(config: Config) -> int:
    """How many processes crawl. Raises `BadInput`."""
    if config.processes == "auto":
        return max(1, min(processors() - 1, config.partitions, config.concurrency))
    number = config.processes
    if number > config.partitions:
        raise BadInput(f"processes is {number}, but there are {config.partitions} partitions to share")
    if number > config.concurrency:
        raise BadInput(f"processes is {number}, but concurrency lets {config.concurrency} requests run at once")
    return number


def part_of(config: Config, number: int) -> Config:
    """The settings of one of so many processes: what is bounded for the crawl is shared."""

    def share(whole: int, least: int) -> int:
        return max(least, math.ceil(whole / number))

    return replace(
        config,
        processes=1,
        concurrency=max(1, config.concurrency // number),
        memory_urls=share(config.memory_urls, 256),
        recently_sent=share(config.recently_sent, 0),
        robots_memory=share(config.robots_memory, 16),
        dns_memory=share(config.dns_memory, 16),
        max_time=None,  # told by the process that began them
        listen="127.0.0.1:0" if config.listen else "",
    )

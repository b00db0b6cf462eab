"""How long a host is left alone. Pure: times are seconds, and come in as arguments."""

import math
import random


def delay_in_force(
    configured: float, crawl_delay: float, longest_crawl_delay: float, factor: float, latency: float
) -> float:
    """The least time between two request starts: what is configured, what is asked for, or `factor` x latency."""
    asked = min(crawl_delay, longest_crawl_delay)
    return max(configured, asked, factor * latency)


def ceiling(delay: float) -> float:
    """A delay rounded up to a power of two seconds (0 stays 0), so that a host's record is written rarely."""
    return 0.0 if delay <= 0 else 2.0 ** math.ceil(math.log2(delay))


def back_off(pause: float, failures: int, longest: float, jitter: float, chance: random.Random) -> float:
    """The pause after the n-th failure in a row (1 = first): doubles, up to `longest`; longer by up to `jitter`."""
    doubled = pause * 2.0 ** min(max(failures, 1) - 1, 32)
    return min(doubled, longest) * (1.0 + jitter * chance.random())


def first_turn(now: float, taken_at: float, record_ceiling: float, first_contact: float, not_before: float) -> float:
    """When a new owner may first ask a host: the last request came before the takeover, more is not known."""
    return max(now, not_before, taken_at + max(record_ceiling, first_contact))

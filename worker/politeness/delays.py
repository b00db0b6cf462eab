"""How long a host is left alone. Pure: times are seconds, and come in as arguments."""

import math
import random
from typing import Final

_MOST_DOUBLINGS: Final = 32
"""More change nothing, and a power of two that is no number raises."""


def delay_in_force(
    configured: float, crawl_delay: float, longest_crawl_delay: float, factor: float, latency: float
) -> float:
    """The least time between two request starts: what is configured, what is asked for, or `factor` x latency."""
    asked = min(crawl_delay, longest_crawl_delay)
    return max(configured, asked, factor * latency)


def ceiling(delay: float) -> float:
    """A delay rounded up to a power of two seconds (0 stays 0), so that a host's record is written rarely."""
    return 0.0 if delay <= 0 else 2.0 ** math.ceil(math.log2(delay))


def doubled(first: float, times: int, longest: float) -> float:
    """``first``, doubled so many times: at most ``longest``, however often that was."""
    return min(first * 2.0 ** min(times, _MOST_DOUBLINGS), longest)


def back_off(pause: float, failures: int, longest: float, jitter: float, chance: random.Random) -> float:
    """The pause after the n-th failure in a row (1 = first): doubles, up to `longest`; longer by up to `jitter`."""
    return doubled(pause, max(failures, 1) - 1, longest) * (1.0 + jitter * chance.random())


def first_turn(now: float, taken_at: float, record_ceiling: float, first_contact: float, not_before: float) -> float:
    """When a new owner may first ask a host: the last request came before the takeover, more is not known."""
    return max(now, not_before, taken_at + max(record_ceiling, first_contact))

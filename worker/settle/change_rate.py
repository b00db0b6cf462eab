"""How often a page changes, as far as is known by few visits at irregular times, and by words that may be wrong. Pure.

What is known is a distribution over rates, a power of two apart, and that it never changes. A visit after a time t that
finds a change speaks for a rate r by 1 - exp(-rt), one that finds none by exp(-rt) (Cho and Garcia-Molina 2003 have the
same likelihood); what was said meanwhile (a sitemap's date) counts as far as such words were right before. So intervals
need not be regular, one visit already says something, and what is kept of a page is a few octets.
"""

import math
from typing import Final

import msgspec

_SLOWEST: Final = -28
_FASTEST: Final = 0
RATES: Final = (0.0, *(2.0**power for power in range(_SLOWEST, _FASTEST + 1)))
"""Changes a second: none, and from one in eight years to one a second."""
_STEPS: Final = 8.0
"""Steps a unit of the logarithm, as it is kept."""
_BLANK: Final = 255
_WIDTH: Final = 2.0
"""Of the rates that are expected of an unknown page, as a standard deviation of their logarithm."""
_NEVER: Final = 0.1
"""The share of pages of which nothing is known that never change."""
_FORGETTING: Final = 0.98
"""What is known fades a little with each visit: pages change their ways."""


class ChangeRate(msgspec.Struct, frozen=True):
    """The distribution: weights of `RATES`, which sum to one."""

    weights: tuple[float, ...]

    @classmethod
    def expected(cls, interval: float) -> "ChangeRate":
        """Of a page of which only that is known: it may change once an ``interval`` of so many seconds, or not."""
        middle = min(math.log(RATES[-1]), -math.log(interval))
        logs = [(math.log(rate) - middle) / _WIDTH for rate in RATES[1:]]
        bell = [math.exp(-0.5 * log * log) for log in logs]
        return cls(_normed([_NEVER * sum(bell) / (1.0 - _NEVER), *bell]))

    @classmethod
    def read(cls, octets: bytes) -> "ChangeRate | None":
        """What `octets` kept; None of what is none, be it of an older record or damaged."""
        if len(octets) != len(RATES) or min(octets) == _BLANK:
            return None
        return cls(_normed([0.0 if octet == _BLANK else math.exp(-octet / _STEPS) for octet in octets]))

    @property
    def octets(self) -> bytes:
        """As it is kept with a page: how far each weight is below the greatest."""
        most = math.log(max(self.weights))
        steps = (_STEPS * (most - math.log(weight)) if weight > 0.0 else _BLANK for weight in self.weights)
        return bytes(min(_BLANK, round(step)) for step in steps)

    def visited(self, after: float, changed: bool, prior: "ChangeRate | None" = None) -> "ChangeRate":
        """After a visit so many seconds after the last one, which found a change or none. ``prior``: what is known of
        pages as such, to which what is known of this one fades."""
        if after <= 0.0:
            return self
        weights = []
        for number, (rate, weight) in enumerate(zip(RATES, self.weights, strict=True)):
            stays = math.exp(-rate * after)
            faded = weight if prior is None else _FORGETTING * weight + (1.0 - _FORGETTING) * prior.weights[number]
            weights.append(faded * (1.0 - stays if changed else stays))
        return ChangeRate(_normed(weights)) if sum(weights) > 0.0 else self

    def unchanged_for(self, seconds: float) -> float:
        """The probability that nothing changed in so long."""
        return sum(w * math.exp(-rate * seconds) for rate, w in zip(RATES, self.weights, strict=True))

    @property
    def mean(self) -> float:
        """Changes a second that are expected."""
        return sum(rate * weight for rate, weight in zip(RATES, self.weights, strict=True))


def _normed(weights: list[float]) -> tuple[float, ...]:
    whole = sum(weights)
    return tuple(weight / whole for weight in weights)

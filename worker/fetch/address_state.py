"""What one worker knows of an address that it asks: what runs, when the last request began, until when it is its own.

Pure; times are monotonic seconds.
"""

import math
from collections.abc import Callable
from typing import Final

from gregor.worker.borders.addresses import AddressGrant, AddressUse

LEAD: Final = 0.05
"""A turn begins so many seconds before its request may: there is a row to read first."""
ASK_AGAIN: Final = 0.25
"""Seconds until others are asked again whether their requests have ended, or whoever was called but did not come."""


class AddressState:
    """One address. ``waiting``: whom to call when it may have room, each host once, in their order."""

    __slots__ = (
        "address",
        "asking",
        "began",
        "begin_until",
        "contended",
        "delay",
        "next_ask",
        "others",
        "own_began",
        "pending",
        "reserved_for",
        "reserved_until",
        "running",
        "send_until",
        "waiting",
    )

    def __init__(self, address: str) -> None:
        self.address = address
        self.running = 0
        self.pending = False  # a request to it is about to be written: nobody knows when
        self.asking = False  # others are asked for it
        self.began = -math.inf  # the last request of anyone
        self.own_began = -math.inf
        self.delay = 0.0  # the last one asked for: who waits is called by it
        self.begin_until = -math.inf  # until then it is this worker's own, and a request may be begun
        self.send_until = -math.inf  # and until then be written
        self.others = 0  # their requests that run, as far as is known
        self.contended = False
        self.next_ask = -math.inf
        self.waiting: dict[str, Callable[[], bool]] = {}
        self.reserved_for = ""  # a host of several addresses, which comes to its turn only where all are free at once
        self.reserved_until = -math.inf

    def has_room(self, limit: int | None) -> bool:
        """Whether one more request may run to it."""
        return limit is None or self.running + self.others < limit

    def due(self, delay: float) -> float:
        """When the next request may begin."""
        return self.began + delay

    def is_kept_from(self, host: str, now: float) -> bool:
        """Whether another host has it to itself."""
        return now < self.reserved_until and self.reserved_for != host

    def reserve(self, host: str, until: float) -> None:
        """Keep all others away; ``until`` in the past: no more."""
        self.reserved_for, self.reserved_until = host, until

    def use(self, now: float) -> AddressUse:
        """What others are to know of it."""
        since = -1.0 if self.own_began == -math.inf else now - self.own_began
        return AddressUse(self.address, self.running, since)

    def granted(self, grant: AddressGrant, others: AddressUse, asked: float, now: float, allowance: float) -> None:
        """It is this worker's own from when it ``asked``; what is known of the others is as old as the answer."""
        self.begin_until = asked + grant.seconds
        self.send_until = self.begin_until + allowance
        self.contended = grant.contended
        self.others = others.running
        if others.since >= 0.0:
            self.began = max(self.began, now - others.since)

    def refused(self, until: float) -> None:
        """It is not its own, and may be asked for again at a time."""
        self.begin_until = self.send_until = -math.inf
        self.next_ask = until

    def sent(self, now: float) -> None:
        """A request is being written."""
        self.began = self.own_began = now
        self.pending = False

    def is_idle(self, now: float) -> bool:
        """Whether nothing of it has to be remembered."""
        used = self.running or self.pending or self.asking or self.waiting
        return not used and now >= max(self.send_until, self.due(self.delay))

    def call_next(self, now: float) -> bool:
        """Call who waits first, or for whom it is kept, if anybody waits still."""
        if now < self.reserved_until:
            call = self.waiting.pop(self.reserved_for, None)
            return call is not None and call()
        while self.waiting:
            if self.waiting.pop(next(iter(self.waiting)))():
                return True
        return False

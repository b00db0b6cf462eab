"""The border to what all workers of a crawl know of the addresses that they ask: whose turn each is."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class HoldTerms(msgspec.Struct, frozen=True):
    """How long a worker has an address for itself, in seconds.

    ``shortest``: where others wait for it; twice as long each time while nobody does, up to ``longest``. What was begun
    may still be sent for ``allowance`` more. ``lasting``: after so long a request that nobody spoke of again has ended.
    """

    shortest: float
    longest: float
    allowance: float
    lasting: float


class AddressUse(msgspec.Struct, frozen=True):
    """What a worker did at an address: ``running``: its requests that run now; ``since``: seconds since the start of
    its last one, negative if it made none."""

    address: str
    running: int = 0
    since: float = -1.0


class AddressGrant(msgspec.Struct, frozen=True):
    """The answer to who asks for a turn of addresses.

    ``granted``: they are its own for ``seconds``; otherwise it may ask again after ``seconds``. ``contended``: others
    wait for one of them. ``others``: what all others did, address by address, as asked; of one who vanished, the latest
    that it may have done. ``server``: who keeps the turns; another one may have forgotten some.
    """

    granted: bool
    seconds: float
    contended: bool
    others: tuple[AddressUse, ...]
    server: str


class AddressTurns(Protocol):
    """Gives turns of addresses to workers: one at a time has an address, for a while, or until it lets it go.

    A turn ends by itself, so that who vanished holds nothing up; those who wait come in their order. It may be
    forgotten, then by a change of ``server`` only. Every method may raise `Unavailable`, then perhaps after its effect,
    and may be called again with the same arguments.
    """

    async def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        """Take a turn of all these addresses, or go on with it, or of none."""

    async def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        """Let addresses go, if they are its own, and tell what runs to them still. Nothing for those of others."""

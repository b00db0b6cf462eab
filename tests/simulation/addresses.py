"""Whose turn each address is, as a server that can fail over keeps it: the product's own rules. No time passes."""

from collections.abc import Callable, Sequence

import msgspec

from gregor.worker.adapters.embedded.address_book import AddressBook
from gregor.worker.borders.addresses import AddressGrant, AddressUse, HoldTerms


class AddressServer(AddressBook):
    """The turns of all workers."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(now)
        self.server = 0
        self._changed: dict[str, float] = {}

    def forget(self, seconds: float) -> None:
        """A fail-over to a replica that lags by so much: what came since then is lost, and another server answers."""
        self.server += 1
        since = self._now() - seconds
        self._addresses = {name: one for name, one in self._addresses.items() if self._changed[name] < since}

    def take(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> AddressGrant:
        self._note(uses)
        return msgspec.structs.replace(super().take(worker, uses, terms), server=str(self.server))

    def release(self, worker: str, uses: Sequence[AddressUse], terms: HoldTerms) -> None:
        self._note(uses)
        super().release(worker, uses, terms)

    def _note(self, uses: Sequence[AddressUse]) -> None:
        self._changed.update({use.address: self._now() for use in uses})

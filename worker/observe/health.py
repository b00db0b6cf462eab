"""Which services do not do their work now, by what their calls say. Pure: time is given.

Kept for each call of each border, since one service's answer says nothing of another, and a server that is full goes on
to answer what only reads.
"""

from typing import Final

from msgspec import Struct

from gregor.worker.borders.errors import Unavailable

BorderCall = tuple[str, str]
"""A border and one of its methods."""

FORGOTTEN: Final = 30.0
"""Seconds after which a call that failed and was not made again counts no more, once its border answers: longer than
any pause between two tries."""


class _Failure(Struct):
    service: str
    condition: str
    at: float


class BorderHealth:
    """Hears of every call that failed; of those that came through only while something is wrong."""

    def __init__(self) -> None:
        self._failing: dict[BorderCall, _Failure] = {}

    @property
    def wrong(self) -> bool:
        """Whether anything is."""
        return bool(self._failing)

    def failed(self, call: BorderCall, error: Unavailable, at: float) -> bool:
        """A call failed at a monotonic time; whether this service was well, or in another condition, until now."""
        before = self.conditions().get(error.service)
        self._failing[call] = _Failure(error.service, error.condition, at)
        return before != self.conditions()[error.service]

    def succeeded(self, call: BorderCall, begun: float) -> list[str]:
        """A call came through that began at a monotonic time; the services that are well again by that. One that began
        before another failed says nothing of what came after it."""
        before = self.conditions()
        border, _ = call
        for other, failure in list(self._failing.items()):
            if begun >= failure.at if other == call else other[0] == border and begun - failure.at > FORGOTTEN:
                del self._failing[other]
        return [service for service in before if service not in self.conditions()]

    def conditions(self) -> dict[str, str]:
        """What each service is, that is not well: "away", or "full" where it says so."""
        by_service: dict[str, str] = {}
        for failure in sorted(self._failing.values(), key=lambda failure: failure.at):
            by_service[failure.service] = failure.condition
        return dict(sorted(by_service.items()))

    def text(self) -> str:
        """The same for people; empty when all is well."""
        return ", ".join(f"{service} is {condition}" for service, condition in self.conditions().items())

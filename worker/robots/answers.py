"""What is known of an origin's robots.txt when a URL asks for it."""

from typing import TypeAlias

import msgspec

from gregor.worker.robots.file import Robots


class Rules(msgspec.Struct, frozen=True):
    """What holds for the origin now, and when the answer came that says so (unix seconds; 0: nobody was asked)."""

    robots: Robots
    known: float = 0.0


class TurnUsed(msgspec.Struct, frozen=True):
    """A request for a robots.txt was made; `latency` is its time to the first byte. Ask again at the next turn.

    `robots` is the file, when this request brought it: its crawl-delay holds from here on.
    """

    latency: float
    robots: Robots | None = None


class Wait(msgspec.Struct, frozen=True):
    """Another host is asked: look again in so many seconds."""

    seconds: float


class NotReachable(msgspec.Struct, frozen=True):
    """Nothing is known of the file and no good copy stands in: the host waits, its tickets with it.

    `after`: so many seconds at least. `failure`: why the request for it failed, when this turn made one.
    """

    cause: str
    after: float
    failure: str = "robots"


class OriginRefused(msgspec.Struct, frozen=True):
    """The origin's address is not allowed, so none of its URLs can be fetched."""

    detail: str


Answer: TypeAlias = Rules | TurnUsed | Wait | NotReachable | OriginRefused

"""Deleting what a crawl stored of hosts that opted out: whose it is, and what was found. Pure."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Order, Orders
from gregor.worker.web.urls import Urls


class Erased(msgspec.Struct):
    """How much was deleted; ``urls``: rows of which no more is kept than that their URLs are not asked for."""

    pages: int = 0
    bodies: int = 0
    urls: int = 0
    robots: int = 0
    dead_letters: int = 0

    def __bool__(self) -> bool:
        return any(msgspec.structs.astuple(self))

    def __add__(self, other: "Erased") -> "Erased":
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Erased(*(mine + theirs for mine, theirs in pairs))


HowFar: TypeAlias = Callable[[str, int], None]
"""Hears what a pass is looking at, and at how many it has looked."""


class Looked:
    """Counts what a pass looks at, one kind after the other."""

    def __init__(self, tell: HowFar = lambda *_: None) -> None:
        self._tell = tell
        self._what = ""
        self._count = 0

    def at(self, what: str, count: int) -> None:
        """At so many more of a kind."""
        if what != self._what:
            self._what, self._count = what, 0
        self._count += count
        self._tell(what, self._count)


class Whose(msgspec.Struct, frozen=True):
    """Tells what is of a host, or of a domain with all below it ("*.example.org")."""

    covers: Callable[[str], bool]
    urls: Urls

    @classmethod
    def of(cls, target: str, urls: Urls) -> "Whose":
        """What is of the target of an order."""
        order = Order("optout", target)
        orders = Orders(by_name={order.name: order})
        return cls(OrdersInForce(lambda: orders).opted_out, urls)

    def url(self, text: str) -> bool:
        """Whether a URL is of it."""
        url = self.urls.parse(text)
        return url is not None and self.covers(url.host)


async def until_nothing_is_left(
    erase: Callable[[], Awaitable[Erased]],
    wait: float,
    monotonic: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
) -> Erased:
    """Erase until a pass that began ``wait`` seconds from now or later finds nothing: until then a worker may not have
    heard that it has to keep nothing more."""
    obeyed_from, erased = monotonic() + wait, Erased()
    while True:
        begun = monotonic()
        erased_now = await erase()
        erased += erased_now
        if begun >= obeyed_from and not erased_now:
            return erased
        await sleep(max(0.0, obeyed_from - monotonic()))

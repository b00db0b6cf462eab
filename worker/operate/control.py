"""What an operator may change of a crawl: the one way to it, for the API of a worker and for commands beside it.

Every change is put on record: who, when, what, why and from where. A change that comes again under its key has no
second effect; where the effect lies outside the orders, a crash between effect and record may repeat it, harmlessly.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import mask_user_info
from gregor.worker.borders.coordinator import OrderBook
from gregor.worker.borders.log import FrontierLog
from gregor.worker.borders.reader import Reader
from gregor.worker.borders.store import PageStore
from gregor.worker.links.tickets import again
from gregor.worker.observe.logging import Log
from gregor.worker.operate import dead_letters
from gregor.worker.operate.dead_letters import Treated
from gregor.worker.operate.seeds import Seed, publish
from gregor.worker.orders.model import By, Change, Order, check, give, made_before, record, take_back
from gregor.worker.web.urls import Url

_LOG = Log("control")
_URGENT: Final = 1
_TOLD: Final = 3


class InProgress(BadInput):
    """The same change is being made at this moment."""


class Recrawl(Struct, frozen=True):
    """How many URLs are visited again; those that the crawl does not know."""

    count: int
    unknown: tuple[str, ...] = ()


class Ordering:
    """Orders of one crawl. Methods raise `BadInput` for what cannot be, and `Unavailable`."""

    def __init__(self, coordinator: OrderBook) -> None:
        self._coordinator = coordinator
        self._making: set[str] = set()

    async def give(self, order: Order, by: By) -> Order:
        """Give an order; as it stands then."""
        check(order)
        orders = await self._coordinator.change_orders(partial(give, order=order, by=by))
        _LOG.info("order given", order=order.name, value=order.value, who=by.who, why=by.why, where=by.where)
        return orders.by_name.get(order.name, order)

    async def take_back(self, name: str, by: By) -> None:
        """Take an order back; nothing when it does not stand."""
        await self._coordinator.change_orders(partial(take_back, name=name, by=by))
        _LOG.info("order taken back", order=name, who=by.who, why=by.why, where=by.where)

    async def note(self, what: str, by: By) -> None:
        """Put on record what is changed elsewhere."""

        async def nothing() -> int:
            return 0

        await self._once(what, by, nothing)

    async def changes(self, before: int, limit: int) -> list[Change]:
        """What was changed, the newest first, of numbers below ``before``."""
        return await self._coordinator.changes(before, limit)

    async def _once(self, what: str, by: By, effect: Callable[[], Awaitable[int]]) -> int:
        """An effect, then its record; what the record counts if it is there already."""
        if (before := made_before(self._coordinator.orders(), by)) is not None:
            return before.count
        if by.key in self._making:
            raise InProgress("the same change is being made: ask again when it is done")
        self._making.update([by.key] if by.key else [])
        try:
            count = await effect()
            await self._coordinator.change_orders(partial(record, what=what, by=by, count=count))
        finally:
            self._making.discard(by.key)
        _LOG.info("changed", what=what, count=count, who=by.who, why=by.why, where=by.where)
        return count


class Control(Ordering):
    """All changes of one crawl."""

    def __init__(self, log: FrontierLog, store: PageStore, coordinator: OrderBook, reader: Reader) -> None:
        super().__init__(coordinator)
        self._log = log
        self._store = store
        self._reader = reader

    async def seed(self, seeds: Sequence[Seed], by: By) -> int:
        """Publish seeds; how many."""
        told = [seed.url.href for seed in seeds]
        return await self._once(_urls("seed", told), by, lambda: publish(self._log, self._store, seeds))

    async def recrawl(self, urls: Sequence[Url], by: By) -> Recrawl:
        """Have URLs visited again now, whatever their state."""
        urls = list({url.key: url for url in urls}.values())
        rows = await self._store.rows([url.key for url in urls])
        known_rows = [row for row in rows if row is not None]
        unknown = tuple(url.href for url, row in zip(urls, rows, strict=True) if row is None)

        async def ask() -> int:
            await self._log.publish([again(row, _URGENT, self._coordinator.now()) for row in known_rows])
            return len(known_rows)

        if not known_rows:
            return Recrawl(0, unknown)
        count = await self._once(_urls("recrawl", [row.href for row in known_rows]), by, ask)
        return Recrawl(count, unknown)

    async def retry_dead(self, cause: str | None, keys: Sequence[str], by: By) -> Treated:
        """Have URLs that were given up visited again: `deadletters.MOST` at most.

        A letter about a record that could not be read stays: nobody knows of which URL it was.
        """
        letters, more = await dead_letters.some(self._reader, cause, keys, of_urls=True)
        what = f"retry dead letters{_of(cause, keys)}"
        count = await self._once(
            what, by, lambda: dead_letters.retry(self._log, self._store, letters, self._coordinator.now())
        )
        return Treated(count, more)

    async def drop_dead(self, cause: str | None, keys: Sequence[str], by: By) -> Treated:
        """Forget dead letters: `deadletters.MOST` at most. Their URLs stay given up."""
        letters, more = await dead_letters.some(self._reader, cause, keys)
        count = await self._once(
            f"drop dead letters{_of(cause, keys)}", by, lambda: dead_letters.drop(self._store, letters)
        )
        return Treated(count, more)

    async def treat_all_dead(self, verb: Literal["retry", "drop"], cause: str | None, by: By) -> AsyncIterator[int]:
        """The same of all letters, however many: how many were treated so far. What is cut short is gone on with by the
        next call."""
        count = 0
        async for letters in dead_letters.slices(self._reader, cause, of_urls=verb == "retry"):
            count += await self._once(f"{verb} dead letters{_of(cause, ())}", by, partial(self._treat, verb, letters))
            yield count

    async def _treat(self, verb: str, letters: list[dead_letters.Dead]) -> int:
        if verb == "retry":
            return await dead_letters.retry(self._log, self._store, letters, self._coordinator.now())
        return await dead_letters.drop(self._store, letters)


class FolderControl(Ordering):
    """All changes of a crawl that does not run: what is more than an order is made while its folder is taken.

    That raises `BadInput` while a crawl runs there: its own API makes such changes.
    """

    def __init__(self, coordinator: OrderBook, taken: Callable[[], AbstractAsyncContextManager[Control]]) -> None:
        super().__init__(coordinator)
        self._taken = taken

    async def seed(self, seeds: Sequence[Seed], by: By) -> int:
        """See `Control.seed`."""
        async with self._taken() as control:
            return await control.seed(seeds, by)

    async def recrawl(self, urls: Sequence[Url], by: By) -> Recrawl:
        """See `Control.recrawl`."""
        async with self._taken() as control:
            return await control.recrawl(urls, by)

    async def retry_dead(self, cause: str | None, keys: Sequence[str], by: By) -> Treated:
        """See `Control.retry_dead`."""
        async with self._taken() as control:
            return await control.retry_dead(cause, keys, by)

    async def drop_dead(self, cause: str | None, keys: Sequence[str], by: By) -> Treated:
        """See `Control.drop_dead`."""
        async with self._taken() as control:
            return await control.drop_dead(cause, keys, by)


def _urls(verb: str, urls: Sequence[str]) -> str:
    told = [mask_user_info(url) for url in urls[:_TOLD]]
    more = f" and {len(urls) - _TOLD} more" if len(urls) > _TOLD else ""
    return f"{verb} {' '.join(told)}{more}"


def _of(cause: str | None, keys: Sequence[str]) -> str:
    return (f" of cause {cause}" if cause is not None else "") + (_urls("", keys) if keys else "")

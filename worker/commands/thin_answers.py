"""What `gregor search --thin-orders N` does: thin answers become orders of the crawl, a bounded number of them.

Old documents are asked to be visited again, by the API of the crawl, as `gregor recrawl` does; hosts of which few are
found get a priority, which stands until it is taken back. Both are put on record with the query as the reason.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Final

from gregor.worker.base.errors import BadInput, complain
from gregor.worker.base.spans import seconds as in_seconds
from gregor.worker.base.tasks import cancel
from gregor.worker.borders.errors import Unavailable
from gregor.worker.commands import api_client, ordering
from gregor.worker.orders.in_force import OrdersInForce
from gregor.worker.orders.model import Order, Orders

if TYPE_CHECKING:
    from gregor.search.borders import Answer, Index
    from gregor.search.query import ParsedQuery
    from gregor.search.thin import ThinAnswer

WHO: Final = "search"
"""Who gives these orders, as their record says."""
_PRIORITY: Final = 2
_WAITING: Final = 100
"""Thin answers that wait to become orders; more are let go."""
_FORMS: Final = "--old-after takes an age such as 12h, 30d or 2w"

OnAnswer = Callable[["ParsedQuery", "Answer"], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many orders, and what is old."""
    text = (
        "where few or only old pages are found, have the crawl visit them again and find more of their hosts: "
        "at most N orders an hour, and N that stand; default: 0, none"
    )
    parser.add_argument("--thin-orders", type=_bound, default=0, metavar="N", help=text)
    text = "with --thin-orders: pages are old that were fetched so long ago; default: 30d"
    parser.add_argument("--old-after", default="30d", metavar="AGE", help=text)
    parser.add_argument("--api", metavar="URL", help="with --thin-orders: the API of the crawl, if it is elsewhere")


def _bound(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 1000:
        raise ValueError(text)
    return number


class ThinAnswers:
    """Gives the orders for answers that are thin."""

    def __init__(self, arguments: argparse.Namespace, index: "Callable[[], Index]") -> None:
        """``index`` opens what is searched. Raises `BadInput`."""
        from gregor.search.thin import OrderAllowance

        self._most: int = arguments.thin_orders
        self._old_after = in_seconds(arguments.old_after)
        if self._old_after is None:
            raise BadInput(_FORMS)
        self._arguments = arguments
        self._index = index
        self._allowance = OrderAllowance(self._most, time.monotonic)

    def wish(self, asked: "ParsedQuery", answer: "Answer") -> "ThinAnswer | None":
        """What is to be ordered; None where the answer is not thin, or was within a day."""
        from gregor.search import thin

        assert self._old_after is not None
        wished = thin.wish(asked, answer, time.time(), self._old_after)
        return wished if wished is not None and self._allowance.is_new(asked.said) else None

    def give(self, wished: "ThinAnswer") -> None:
        """Order it, as far as that is allowed. Blocks. Raises `BadInput`, `Unavailable`."""
        self._give_priorities(wished)
        visits = list(wished.visits[: self._allowance.take(len(wished.visits))])
        if visits:
            body = {"urls": visits, "who": WHO, "why": wished.why}
            if api_client.by_api(self._arguments, "POST", "/api/v1/recrawl", body) is None:
                complain("no API answers: what was found is old, and is not visited again", "info")

    def _give_priorities(self, wished: "ThinAnswer") -> None:
        if not wished.hosts:
            return
        given_before, _ = ordering.in_force(self._arguments)
        own = [order for order in given_before if order.kind == "priority" and order.who == WHO]
        orders = Orders(by_name={order.name: order for order in given_before})
        in_force = OrdersInForce(lambda: orders)
        hosts = [host for host in wished.hosts if not self._is_ordered(in_force, host) and self._is_known(host)]
        room = max(0, self._most - len(own))
        for host in hosts[: self._allowance.take(min(room, len(hosts)))]:
            named = {**vars(self._arguments), "who": WHO, "why": wished.why}
            ordering.ordered(argparse.Namespace(**named), "priority", host, _PRIORITY)

    @staticmethod
    def _is_ordered(in_force: OrdersInForce, host: str) -> bool:
        """Whether somebody said already what its priority is, or that it is not to be asked."""
        bare = host.removeprefix("*.")
        has_priority = Order("priority", host).name in in_force.latest.by_name or in_force.priority(bare) is not None
        return has_priority or in_force.blocks(bare) or in_force.opted_out(bare)

    def _is_known(self, host: str) -> bool:
        """Whether the index has a document of a host or domain. Raises `BadInput`."""
        from gregor.search.borders import Unusable
        from gregor.search.query import ParsedQuery, QueryFilter

        name = "site" if host.startswith("*.") else "host"
        asked = ParsedQuery(filters=(QueryFilter(name, (host.removeprefix("*."),)),))
        try:
            with closing(self._index()) as index:
                return index.search(asked, 1).total > 0
        except Unusable as error:  # the index was taken away, or is made anew, since the answer
            raise BadInput(str(error)) from None


@asynccontextmanager
async def following(thin: ThinAnswers | None) -> AsyncIterator[OnAnswer | None]:
    """What hears of answers while the search page is served, and gives orders beside it."""
    if thin is None:
        yield None
        return
    waiting: asyncio.Queue[ThinAnswer] = asyncio.Queue(_WAITING)

    def on_answer(asked: "ParsedQuery", answer: "Answer") -> None:
        if not waiting.full() and (wished := thin.wish(asked, answer)) is not None:
            waiting.put_nowait(wished)

    async def give() -> None:
        while True:
            wished = await waiting.get()
            try:
                await asyncio.to_thread(thin.give, wished)
            except (BadInput, Unavailable) as error:
                complain(f"no order was given for {wished.why}: {error}")

    task = asyncio.create_task(give())
    try:
        yield on_answer
    finally:
        await cancel([task])

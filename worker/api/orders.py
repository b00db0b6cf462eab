"""The endpoints of orders: those that stand, and for each kind one to give it and one to take it back."""

from itertools import islice
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.requests import Request

from gregor.worker.api.backend import Backend
from gregor.worker.api.endpoint import V1, Endpoint, Handler, Reason, by
from gregor.worker.api.requests import body, query, target
from gregor.worker.orders.model import RULES, Order, OrderKind, listed, name_of


class Value(Reason, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is ordered: seconds, requests a second, requests at once, a priority or pages."""

    value: float


class OrdersQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after``: go on behind the order of this name."""

    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000
    after: Annotated[str, Meta(max_length=400)] = ""


class StandingOrders(msgspec.Struct, frozen=True):
    """Some of them. ``version`` grows with every change; ``unread``: names of what this version cannot read, and does
    not obey; ``next``: the ``after`` of the next page, empty on the last one."""

    version: int
    orders: list[Order]
    unread: list[str]
    next: str = ""


async def _orders(backend: Backend, request: Request) -> StandingOrders:
    asked = query(request, OrdersQuery)
    orders = backend.orders()
    page = list(islice(listed(orders, asked.after), asked.limit + 1))
    more = page[asked.limit - 1].name if len(page) > asked.limit else ""
    return StandingOrders(orders.version, page[: asked.limit], sorted(orders.unread), more)


def _give(kind: OrderKind) -> Handler:
    async def handler(backend: Backend, request: Request) -> Order:
        reason = await body(request, Value if RULES[kind].unit else Reason)
        value = reason.value if isinstance(reason, Value) else None
        return await backend.control.give(Order(kind, target(request, kind), value), by(backend, request, reason))

    return handler


def _take_back(kind: OrderKind) -> Handler:
    async def handler(backend: Backend, request: Request) -> None:
        reason = await body(request, Reason)
        await backend.control.take_back(name_of(kind, target(request, kind)), by(backend, request, reason))

    return handler


async def _forget_unread(backend: Backend, request: Request) -> None:
    reason = await body(request, Reason)
    await backend.control.take_back(request.path_params["name"], by(backend, request, reason))


_SUMMARIES: Final[dict[OrderKind, tuple[str, str]]] = {
    "pause": ("Pause the crawl", "Go on"),
    "block": ("Send a host or domain nothing", "Let it be crawled again"),
    "optout": ("Ask nothing of a host or domain and store nothing of it, for good", "Let it be crawled again"),
    "delay": ("Set the least delay of a host, of each host of a domain or of the crawl", "Set none"),
    "rate": ("Set the most requests a second of a host, or of a domain or the crawl in all", "Set none"),
    "concurrency": ("Set the most requests at once of a domain or the crawl", "Set none"),
    "priority": ("Set the priority of what is found of a host or domain", "Set none"),
    "budget": ("Set the pages that may be stored of a host, a domain or the crawl", "Set none"),
    "drain": ("Have a worker hand over all its partitions and stand by", "Let it own partitions again"),
}


def _of_kind(kind: OrderKind) -> tuple[Endpoint, Endpoint]:
    path = f"{V1}/orders/{kind}" + ("" if kind == "pause" else "/{target}")
    give, back = _SUMMARIES[kind]
    asks = Value if RULES[kind].unit else Reason
    return (
        Endpoint("PUT", path, "operator", give, _give(kind), Order, asks),
        Endpoint("DELETE", path, "operator", back, _take_back(kind), None, Reason, status=204),
    )


ENDPOINTS: Final = (
    Endpoint("GET", f"{V1}/orders", "viewer", "The orders that stand", _orders, StandingOrders, query=OrdersQuery),
    *(endpoint for kind in RULES for endpoint in _of_kind(kind)),
    Endpoint("DELETE", f"{V1}/orders/unread/{{name}}", "operator", "Forget an order that cannot be read",
             _forget_unread, None, Reason, status=204),
)  # fmt: skip

"""Every endpoint of the API: method, path, who may use it, what goes in and comes out.

The router and the OpenAPI document are made of this table.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from gregor.worker import metrics
from gregor.worker.api.desk import Desk, Status
from gregor.worker.api.endpoint import V1, Endpoint, Handler
from gregor.worker.api.reading import READING
from gregor.worker.api.requests import body, host, query
from gregor.worker.condition import HostState, HostView
from gregor.worker.orders import LONGEST_DELAY, Kind, Order


class Health(msgspec.Struct, frozen=True):
    """``detail`` says what is wrong; empty when nothing is."""

    ok: bool
    detail: str = ""


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gives an order and why, for the record."""

    who: Annotated[str, Meta(max_length=200)] = "operator"
    why: Annotated[str, Meta(max_length=200)] = ""


class Delay(Reason, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The least delay of a host, in seconds."""

    seconds: Annotated[float, Meta(ge=0, le=LONGEST_DELAY)]


class HostsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after``: go on behind this host, by name; without it those come first whose turn is due first."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    state: HostState | Literal[""] = ""
    after: Annotated[str, Meta(max_length=300)] = ""


class Hosts(msgspec.Struct, frozen=True):
    """Some hosts in memory. ``next`` is the ``after`` of the next page; empty on the last one."""

    hosts: list[HostView]
    next: str = ""


class StandingOrders(msgspec.Struct, frozen=True):
    """All of them."""

    orders: list[Order]


async def _healthz(desk: Desk, _: Request) -> Response:
    return _health(desk.unhealthy())


async def _readyz(desk: Desk, _: Request) -> Response:
    return _health(desk.unready())


def _health(detail: str) -> Response:
    return Response(
        msgspec.json.encode(Health(not detail, detail)), 503 if detail else 200, media_type="application/json"
    )


async def _metrics(desk: Desk, _: Request) -> Response:
    return Response(await desk.metrics(), headers={"Content-Type": metrics.CONTENT_TYPE})


async def _status(desk: Desk, _: Request) -> Status:
    return await desk.status()


async def _hosts(desk: Desk, request: Request) -> Hosts:
    asked = query(request, HostsQuery)
    found = await desk.hosts(asked.limit, asked.state, asked.after)
    more = asked.after and len(found) == asked.limit
    return Hosts(found, found[-1].host if more else "")


async def _orders(desk: Desk, _: Request) -> StandingOrders:
    return StandingOrders(desk.orders())


async def _pause(desk: Desk, request: Request) -> Order:
    reason = await body(request, Reason)
    return await desk.give("pause", "", None, reason.who, reason.why)


async def _block(desk: Desk, request: Request) -> Order:
    reason = await body(request, Reason)
    return await desk.give("block", host(request), None, reason.who, reason.why)


async def _delay(desk: Desk, request: Request) -> Order:
    delay = await body(request, Delay)
    return await desk.give("delay", host(request), delay.seconds, delay.who, delay.why)


def _take_back(kind: Kind) -> Handler:
    async def handler(desk: Desk, request: Request) -> None:
        reason = await body(request, Reason)
        await desk.take_back(kind, "" if kind == "pause" else host(request), reason.who)

    return handler


async def _stop(desk: Desk, request: Request) -> Health:
    reason = await body(request, Reason)
    desk.stop(reason.who, reason.why)
    return Health(True, "the worker stops; nothing is lost")


ENDPOINTS: Final = (
    Endpoint("GET", "/healthz", "anyone", "Whether the worker's loop turns and its leases hold", _healthz, Health),
    Endpoint("GET", "/readyz", "viewer", "Whether the worker crawls", _readyz, Health),
    Endpoint("GET", "/metrics", "viewer", "Metrics for Prometheus", _metrics),
    Endpoint("GET", f"{V1}/status", "viewer", "What the worker does, how fast, what limits it", _status, Status),
    Endpoint("GET", f"{V1}/hosts", "viewer", "Hosts in memory", _hosts, Hosts, query=HostsQuery),
    Endpoint("GET", f"{V1}/orders", "viewer", "The orders that stand", _orders, StandingOrders),
    Endpoint("PUT", f"{V1}/orders/pause", "operator", "Pause the crawl", _pause, Order, Reason),
    Endpoint("DELETE", f"{V1}/orders/pause", "operator", "Go on", _take_back("pause"), None, Reason, status=204),
    Endpoint("PUT", f"{V1}/orders/block/{{host}}", "operator", "Send a host nothing", _block, Order, Reason),
    Endpoint("DELETE", f"{V1}/orders/block/{{host}}", "operator", "Let a host be crawled again",
             _take_back("block"), None, Reason, status=204),
    Endpoint("PUT", f"{V1}/orders/delay/{{host}}", "operator", "Set the least delay of a host", _delay, Order, Delay),
    Endpoint("DELETE", f"{V1}/orders/delay/{{host}}", "operator", "Set no delay for a host",
             _take_back("delay"), None, Reason, status=204),
    Endpoint("POST", f"{V1}/stop", "operator", "End this worker cleanly", _stop, Health, Reason, status=202),
    *READING,
)  # fmt: skip
"""All of them but the OpenAPI document and the console, which have no worker to ask."""

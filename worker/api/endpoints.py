"""Every endpoint of the API: method, path, who may use it, what goes in and comes out.

The router and the OpenAPI document are made of this table.
"""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gregor.worker.api import actions, orders
from gregor.worker.api.archive_views import Brief
from gregor.worker.api.backend import Backend, HostsQuery, Status
from gregor.worker.api.endpoint import V1, Endpoint
from gregor.worker.api.reading import READING
from gregor.worker.api.requests import query
from gregor.worker.inspect import metrics
from gregor.worker.inspect.host_views import HostView

_FRESH: Final = 0.25


class Health(msgspec.Struct, frozen=True):
    """``detail`` says what is wrong; empty when nothing is."""

    ok: bool
    detail: str = ""


class Recent(msgspec.Struct, frozen=True):
    """What the last visits came to, the newest first."""

    urls: list[Brief]


class Hosts(msgspec.Struct, frozen=True):
    """Some hosts in memory. ``next`` is the ``after`` of the next page where they are sorted by name; empty on the last
    one, and in any other order, of which only the first are told."""

    hosts: list[HostView]
    next: str = ""


async def _healthz(backend: Backend, _: Request) -> Response:
    return _health(backend.unhealthy())


async def _readyz(backend: Backend, _: Request) -> Response:
    return _health(backend.unready())


def _health(detail: str) -> Response:
    return Response(
        msgspec.json.encode(Health(not detail, detail)), 503 if detail else 200, media_type="application/json"
    )


async def _metrics(backend: Backend, _: Request) -> Response:
    return Response(await backend.metrics(), headers={"Content-Type": metrics.CONTENT_TYPE})


async def _status(backend: Backend, _: Request) -> Status:
    return await backend.status()


async def _recent(backend: Backend, _: Request) -> Recent:
    return Recent(await backend.recent())


async def _hosts(backend: Backend, request: Request) -> Hosts:
    asked = query(request, HostsQuery)
    found = await backend.hosts(asked)
    more = (asked.after or (asked.sort == "host" and asked.order == "first")) and len(found) == asked.limit
    return Hosts(found, found[-1].host if more else "")


ENDPOINTS: Final = (
    Endpoint("GET", "/healthz", "anyone", "Whether the worker's loop turns and its leases hold", _healthz, Health,
             also=(503,)),
    Endpoint("GET", "/readyz", "viewer", "Whether the worker crawls", _readyz, Health, also=(503,)),
    Endpoint("GET", "/metrics", "viewer", "Metrics for Prometheus", _metrics),
    Endpoint("GET", f"{V1}/status", "viewer", "What the worker does, how fast, what limits it", _status, Status,
             fresh=_FRESH),
    Endpoint("GET", f"{V1}/recent", "viewer", "What the last visits came to", _recent, Recent, fresh=_FRESH),
    Endpoint("GET", f"{V1}/hosts", "viewer", "Hosts in memory", _hosts, Hosts, query=HostsQuery, fresh=_FRESH),
    *orders.ENDPOINTS,
    *actions.ENDPOINTS,
    *READING,
)  # fmt: skip
"""All of them but the OpenAPI document and the console, which have no worker to ask."""

"""What an endpoint of the API is; the tables are made of it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal

import msgspec
from starlette.requests import Request

from gregor.worker.api.access import Role
from gregor.worker.api.desk import Desk

V1: Final = "/api/v1"
Handler = Callable[[Desk, Request], Awaitable[Any]]


class Endpoint(msgspec.Struct, frozen=True):
    """``answer``: what the handler gives is encoded as JSON; a `Response` goes out as it is, None as 204."""

    method: Literal["GET", "PUT", "DELETE", "POST"]
    path: str
    role: Role
    summary: str
    handler: Handler
    answer: Any = None
    body: Any = None
    query: Any = None
    status: int = 200

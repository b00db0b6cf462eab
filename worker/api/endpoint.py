"""What an endpoint of the API is, and what all that change something have in common."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request

from gregor.worker.api.access import Role
from gregor.worker.api.backend import Backend
from gregor.worker.api.problems import Problem
from gregor.worker.orders.model import LONGEST_KEY, By, request_digest

V1: Final = "/api/v1"
KEY: Final = "Idempotency-Key"
"""The header of draft-ietf-httpapi-idempotency-key-header: what is asked again under its key has no second effect."""

Handler = Callable[[Backend, Request], Awaitable[Any]]


class Endpoint(msgspec.Struct, frozen=True):
    """``answer``: what the handler gives is encoded as JSON; a `Response` goes out as it is, None as 204.

    ``fresh``: seconds for which an answer may be told again to the same question, unless something was changed.
    ``also``: other statuses that the same answer comes with; ``refuses``: those of refusals of its own.
    """

    method: Literal["GET", "PUT", "DELETE", "POST"]
    path: str
    role: Role
    summary: str
    handler: Handler
    answer: Any = None
    body: Any = None
    query: Any = None
    status: int = 200
    fresh: float = 0.0
    also: tuple[int, ...] = ()
    refuses: tuple[int, ...] = ()


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who changes something and why, for the record."""

    who: Annotated[str, Meta(max_length=200)] = "operator"
    why: Annotated[str, Meta(max_length=200)] = ""


def by(backend: Backend, request: Request, reason: Reason) -> By:
    """Who asks for a change, for the record. Raises `Problem`."""
    key = request.headers.get(KEY, "").strip('"')
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise Problem(400, f"An {KEY} has at most {LONGEST_KEY} printable characters.")
    where = f"API of {backend.name}, from {request.client.host if request.client else 'nowhere'}"
    what = request_digest(request.method, request.url.path, msgspec.json.encode(reason)) if key else 0
    return By(reason.who, backend.wall(), reason.why, where, key, what)

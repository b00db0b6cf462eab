"""What a request carries, read within bounds: body, query, host in the path. Everything wrong is a `Problem`."""

import asyncio
from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from gregor.worker.api.problems import Problem
from gregor.worker.base.printable import one_line
from gregor.worker.orders.model import OrderKind
from gregor.worker.orders.targets import target_of

B = TypeVar("B")
MOST_BODY: Final = 8192
_PATIENCE: Final = 10.0
_MOST_TOLD: Final = 200  # characters: a fault may name a field, which may have any name


async def body(request: Request, kind: type[B], most: int = MOST_BODY) -> B:
    """The JSON body of at most so many bytes; an empty one stands for an object without fields."""
    raw = await _body_within(request, most)
    media_type = _media_type(request, "application/json")
    if raw and media_type != "application/json":
        raise Problem(415, "The body must be application/json.")
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Problem(400, f"The body is not as it should be: {one_line(str(error), _MOST_TOLD)}.") from None


async def form(request: Request) -> bytes:
    """The body of an HTML form, as it was sent."""
    if _media_type(request, "") != "application/x-www-form-urlencoded":
        raise Problem(415, "The body must be application/x-www-form-urlencoded.")
    return await _body_within(request, MOST_BODY)


def _media_type(request: Request, default: str) -> str:
    return request.headers.get("content-type", default).partition(";")[0].strip().lower()


async def _body_within(request: Request, most: int) -> bytes:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _raw(request, most)
    except TimeoutError:
        raise Problem(408, f"The body did not come within {_PATIENCE:g} seconds.") from None
    except ClientDisconnect:
        raise Problem(400, "The body did not come whole.") from None


async def _raw(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise Problem(413, f"A body has at most {most} bytes.")
    return bytes(body)


def query(request: Request, kind: type[B]) -> B:
    """The query string, each parameter once."""
    parameters: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in parameters:
            raise Problem(400, "A parameter of the query is given twice.")
        parameters[name] = value
    try:
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"The query is not as it should be: {one_line(str(error), _MOST_TOLD)}.") from None


def target(request: Request, kind: OrderKind) -> str:
    """The target of an order in the path; empty where the path has none. Raises `BadInput`."""
    return target_of(kind, request.path_params.get("target", ""))

"""What a request carries, read within bounds: body, query, host in the path. Everything wrong is a `Problem`."""

import asyncio
from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from gregor.worker.api.problems import Problem
from gregor.worker.errors import BadInput
from gregor.worker.orders import host_of

B = TypeVar("B")
MOST_BODY: Final = 8192
_PATIENCE: Final = 10.0


async def body(request: Request, kind: type[B]) -> B:
    """The JSON body; an empty one stands for an object without fields."""
    try:
        async with asyncio.timeout(_PATIENCE):
            raw = await _raw(request)
    except TimeoutError:
        raise Problem(408, f"The body did not come within {_PATIENCE:g} seconds.") from None
    except ClientDisconnect:
        raise Problem(400, "The body did not come whole.") from None
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if raw and media_type != "application/json":
        raise Problem(415, "The body must be application/json.")
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Problem(400, f"The body is not as it should be: {error}.") from None


async def _raw(request: Request) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > MOST_BODY:
            raise Problem(413, f"A body has at most {MOST_BODY} bytes.")
    return bytes(found)


def query(request: Request, kind: type[B]) -> B:
    """The query string, each parameter once."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise Problem(400, "A parameter of the query is given twice.")
        given[name] = value
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"The query is not as it should be: {error}.") from None


def host(request: Request) -> str:
    """The host in the path."""
    try:
        return host_of(request.path_params["host"])
    except BadInput as error:
        raise Problem(400, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None

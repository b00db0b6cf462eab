"""What an API answers when it refuses: problem details (RFC 9457), as a value that is raised."""

import asyncio
from collections.abc import Awaitable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec
from starlette.responses import Response

T = TypeVar("T")
MEDIA_TYPE: Final = "application/problem+json"
PATIENCE: Final = 10.0
"""Seconds for which an answer is worked at."""


class Details(msgspec.Struct, frozen=True):
    """The body. ``detail`` is one clear sentence; of what was sent it repeats names of fields at most."""

    type: str
    title: str
    status: int
    detail: str


class Problem(Exception):
    """A request that is refused."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


EVERY: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
"""Headers of every answer, refusals and others."""


def too_many() -> Problem:
    """More is asked than is answered."""
    return Problem(429, "Too many requests.", {"Retry-After": "1"})


def unreachable() -> Problem:
    """What the crawl is kept in does not answer, or has no room."""
    return Problem(503, "What the crawl is kept in cannot be reached now.", {"Retry-After": "5"})


def late() -> Problem:
    """It was worked at long enough."""
    return Problem(503, f"This took longer than {PATIENCE:g} seconds.", {"Retry-After": "10"})


async def within(answer: Awaitable[T]) -> T:
    """The answer, if it comes in time. Raises `Problem` (503)."""
    try:
        return await asyncio.wait_for(answer, PATIENCE)
    except TimeoutError:
        raise late() from None


def response(problem: Problem) -> Response:
    """The answer."""
    details = Details("about:blank", HTTPStatus(problem.status).phrase, problem.status, problem.detail)
    return Response(msgspec.json.encode(details), problem.status, dict(problem.headers), MEDIA_TYPE)

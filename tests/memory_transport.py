"""A transport without a network: answers are scripted by URL. For tests and simulations."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec

from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Response, Truncation


class Scripted(msgspec.Struct, frozen=True):
    """An answer to be; `delay` in seconds of the event loop's clock, before its first byte."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    body: bytes = b""
    delay: float = 0.0
    truncated: Truncation | None = None


Script: TypeAlias = Scripted | Failure
Scripts: TypeAlias = Script | Iterable[Script] | Callable[[Request], Script]

_NOTHING_THERE = Scripted(status=404)


class MemoryTransport:
    """A `Transport`. Of several answers to one URL the last one stays; a URL without a script is answered 404.

    `requests` has what was sent, in order.
    """

    def __init__(self, scripts: Mapping[str, Scripts] | None = None) -> None:
        self._scripts: dict[str, Callable[[Request], Script]] = {}
        self.requests: list[Request] = []
        for href, script in (scripts or {}).items():
            self.script(href, script)

    def script(self, href: str, script: Scripts) -> None:
        """Set what `href` answers from now on."""
        if callable(script):
            self._scripts[href] = script
        else:
            self._scripts[href] = _in_turn([script] if isinstance(script, Scripted | Failure) else list(script))

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        """See `Transport.fetch`."""
        if not permit.allows():
            return Failure("lease", "the lease ended before the request was sent")
        permit.sent()
        self.requests.append(request)
        script = self._scripts[request.href](request) if request.href in self._scripts else _NOTHING_THERE
        if isinstance(script, Failure):
            return script
        if script.delay >= min(limits.read_timeout, limits.total_timeout):
            await asyncio.sleep(min(limits.read_timeout, limits.total_timeout))
            return Failure("timeout", "scripted to be slow")
        await asyncio.sleep(script.delay)
        return _response(script, limits)

    async def close(self) -> None:
        """See `Transport.close`."""


def _in_turn(scripts: list[Script]) -> Callable[[Request], Script]:
    def next_one(_: Request) -> Script:
        return scripts.pop(0) if len(scripts) > 1 else scripts[0]

    return next_one


def _response(script: Scripted, limits: Limits) -> Response:
    body = SpooledBody(cap=limits.max_body)
    body.write(script.body[: limits.max_body])
    return Response(
        status=script.status,
        reason="",
        headers=list(script.headers),
        http_version="HTTP/1.1",
        body=body,
        wire_body=None,
        request_head=b"",
        response_head=_head(script),
        address="",
        latency=script.delay,
        elapsed=script.delay,
        truncated="size" if len(script.body) > limits.max_body else script.truncated,
    )


def _head(script: Scripted) -> bytes:
    lines = [f"HTTP/1.1 {script.status}", *(f"{name}: {value}" for name, value in script.headers)]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"

"""One simulated worker's way to the simulated web: the transport and the resolver."""

import asyncio
from contextvars import Context

from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.clock import Clock
from gregor.worker.borders.resolver import DnsFailure, Resolution
from gregor.worker.borders.transport import Failure, FetchResult, Limits, Permit, Request, Response, SocketAddress
from tests.simulation.engine import Machine, Wire, World
from tests.simulation.web import Exchange, Web


class SimulatedTransport:
    """`Transport`: the lease is asked and the request logged at one virtual moment."""

    def __init__(self, world: World, machine: Machine, web: Web) -> None:
        self._wire = Wire(world, machine, "web")
        self._web = web
        self.running = 0
        self.most_running = 0

    async def fetch(self, request: Request, limits: Limits, permit: Permit) -> FetchResult:
        fault = await self._wire.pass_by("fetch")
        endpoints = [one for one in request.endpoints if self._web.allows(one.address, one.port)]
        if not endpoints:
            return Failure("refused_address" if request.endpoints else "connect", "no address is allowed")
        site = self._web.site(request.href)
        loop = asyncio.get_running_loop()
        if site is None or loop.time() < site.dead_until or endpoints[0].address not in site.addresses:
            self._web.attempts.append((loop.time(), request.href))
            await asyncio.sleep(limits.connect_timeout)
            return Failure("connect", "nobody listens")
        await asyncio.sleep(site.latency_at(loop.time()) * self._web.chance.random())
        if not permit.allows():
            return Failure("lease", "not sent")
        permit.sent()
        exchange = self._web.begin(self._wire.machine.name, request.href, endpoints[0].address, loop.time())
        exchange.unless = dict(request.headers).get("If-None-Match", "")
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if fault is not None:
                await self._wire.suffer(fault)
            return await self._answer(exchange, limits)
        finally:
            self.running -= 1
            if exchange.end > loop.time():
                exchange.end, exchange.aborted = loop.time(), True

    async def _answer(self, exchange: Exchange, limits: Limits) -> FetchResult:
        loop = asyncio.get_running_loop()
        reply = self._web.reply(exchange)
        if reply.hangs or reply.latency > limits.read_timeout:
            await asyncio.sleep(limits.read_timeout)
            exchange.end = loop.time()
            return Failure("timeout", "no answer")
        served = exchange.start + reply.latency
        done: asyncio.Future[None] = loop.create_future()
        loop.call_at(served, _serve, exchange, reply.status, served, context=Context())
        timer = loop.call_at(served, _end, done)
        try:
            await done
        finally:
            timer.cancel()
        if not reply.status:
            return Failure(reply.failure, "the connection ended")
        headers = list(reply.headers)
        exchange.retry_after = next((float(value) for name, value in headers if name == "Retry-After"), None)
        exchange.location = next((value for name, value in headers if name == "Location"), "")
        head = f"HTTP/1.1 {reply.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        body = SpooledBody(cap=limits.max_body)
        body.write(reply.body[: limits.max_body])
        return Response(
            status=reply.status,
            reason="X",
            headers=headers,
            http_version="1.1",
            body=body,
            wire_body=None,
            request_head=f"GET {exchange.path} HTTP/1.1\r\nHost: {exchange.host}\r\n\r\n".encode(),
            response_head=head.encode(),
            address=exchange.address,
            latency=reply.latency,
            elapsed=reply.latency,
            truncated="size" if body.size < len(reply.body) else None,
        )

    async def close(self) -> None: ...


def _end(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _serve(exchange: Exchange, status: int, now: float) -> None:
    """The answer is on its way, whatever has become of the client: the server's part ends."""
    if not exchange.aborted:
        exchange.end, exchange.status, exchange.latency = now, status, now - exchange.start


class SimulatedResolver:
    """`Resolver`, over the addresses that the sites have."""

    def __init__(self, world: World, machine: Machine, web: Web, clock: Clock) -> None:
        self._wire = Wire(world, machine, "dns")
        self._web = web
        self._clock = clock

    def remembered(self, hostname: str, port: int) -> None:
        """Nothing is remembered here."""

    async def resolve(self, hostname: str, port: int) -> Resolution | DnsFailure:
        fault = await self._wire.pass_by("resolve")
        await asyncio.sleep(self._wire.world.latencies.get("dns", 0.02))
        if fault is not None:
            await self._wire.suffer(fault)
        expires = self._clock.monotonic() + 60.0
        site = self._web.sites.get(hostname)
        if site is None or asyncio.get_running_loop().time() < site.unknown_until:
            self._web.attempts.append((asyncio.get_running_loop().time(), hostname))
        if site is None:
            return DnsFailure("nxdomain", "no such name", expires)
        if asyncio.get_running_loop().time() < site.unknown_until:
            return DnsFailure("servfail", "no answer", self._clock.monotonic() + 5.0)
        return Resolution(tuple(SocketAddress(address, port) for address in site.addresses), expires)

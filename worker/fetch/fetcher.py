"""One request of a host's turn: resolve, respect the address's limit, send under the lease."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from gregor.schemas.messages import Page
from gregor.worker.base.shortage import LocalShortage, Thrift, pause
from gregor.worker.borders.resolver import DnsFailure
from gregor.worker.borders.transport import Limits, Permit, Request, Response, SocketAddress, Transport
from gregor.worker.config.credentials import keeps_cookies
from gregor.worker.config.settings import Config
from gregor.worker.fetch.address_gate import AddressGate
from gregor.worker.fetch.cookie_file import GivenCookie
from gregor.worker.fetch.cookies import Cookies
from gregor.worker.fetch.line_watch import LineWatch, NotingPermit
from gregor.worker.fetch.names import NameLookups
from gregor.worker.fetch.outcomes import Failed, Outcome, PortRefused, of_result
from gregor.worker.fetch.ports import PortPolicy
from gregor.worker.frontier.queue_item import QueueItem
from gregor.worker.observe import tracing
from gregor.worker.observe.logging import logs
from gregor.worker.web.urls import Url, Urls

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


_LOG = logs("fetch")


class TurnPermit(Permit, Protocol):
    """The permit of a request of a host's turn."""

    def goes_to(self, addresses: tuple[str, ...], delay: float) -> None:
        """The request goes to one of these, ``delay`` seconds after the last one to each: told before it is sent."""


class Fetcher:
    """Turns a URL into an outcome, with at most one request on the wire."""

    def __init__(
        self,
        config: Config,
        transport: Transport,
        names: NameLookups,
        gate: AddressGate,
        urls: Urls,
        authorizations: Mapping[str, str],
        cookies: Sequence[GivenCookie] = (),
    ) -> None:
        self._config = config
        self._transport = transport
        self.names = names
        self.gate = gate
        self._address_delay = gate.delay_of(config.delay)
        delays = {override.host: override.delay for override in config.hosts if override.delay is not None}
        self._address_delays = {host: gate.delay_of(delay) for host, delay in delays.items()}
        self.thrift = Thrift()
        self._ports = PortPolicy(config.allow_ports)
        self.line = LineWatch(config.failure_ttl or config.retry_pause, _now)
        self._shortages_told: set[str] = set()  # shortages that a person was told of
        self._urls = urls
        self._authorizations = authorizations
        self._cookies = Cookies(cookies) if keeps_cookies(config) else None
        usual = {"User-Agent": config.user_agent, "Accept": ACCEPT, "Accept-Encoding": "gzip, deflate, br, zstd"}
        self._general = _over(usual, config.headers)
        self._overrides = {
            override.host: _over(self._general, override.headers) for override in config.hosts if override.headers
        }
        self.limits = Limits(
            connect_timeout=config.connect_timeout,
            read_timeout=config.read_timeout,
            total_timeout=config.total_timeout,
            max_body=config.max_body,
            max_wire=config.max_wire or config.max_body,
            max_header_count=config.max_header_count,
            max_header_bytes=config.max_header_bytes,
            minimum_rate=config.minimum_rate,
            rate_window=config.rate_window,
        )
        most = max(config.max_sitemap, self.limits.max_body)
        self._sitemap_limits = msgspec.structs.replace(
            self.limits, max_body=most, max_wire=max(most, self.limits.max_wire)
        )

    def limits_of(self, link: str) -> Limits:
        """What the answer may cost of a URL to which such a link led."""
        return self._sitemap_limits if link == "sitemap" else self.limits

    def prefetch(self, items: Iterable[QueueItem | None]) -> None:
        """Look up the names of the tickets whose turns come near, so that their turns need not wait for it."""
        for item in items if not self._config.proxy else ():
            url = self._urls.parse(item.ticket.href) if item is not None else None
            if url is not None:
                self.names.prefetch(url.hostname, url.port)

    async def fetch(
        self,
        url: Url,
        permit: TurnPermit,
        now: float,
        limits: Limits,
        conditions: tuple[tuple[str, str], ...] = (),
    ) -> tuple[Outcome, Response | None]:
        """Ask for a URL. The response comes too, where there was one, and is the caller's to close.

        Raises `TurnHeld` before anything is sent when an address has no room or is not known yet, and `LocalShortage`
        when this machine lacks something: then nothing is known of the URL, although a request may have been made. The
        same holds for `TurnHeld` where this machine's own line is, or may be, what failed.
        """
        if (refused := self.refused_port(url)) is not None:
            return refused, None
        self.line.ask()
        result = await self._fetch(url, permit, now, limits, conditions)
        if result[1] is not None:
            self.thrift.went_well()
            self.line.answered(url.host)
        return result

    def lacks(self, lack: LocalShortage, visits: int, times: int) -> float:
        """This machine lacks something that a visit needs, to ask for a page, to read it or to keep it: fewer run at
        once for a while, and a person is told once. Gives the seconds for which the URL waits.

        ``visits``: how many run now; ``times``: how often the URL met a shortage before.
        """
        self.thrift.lacks(visits, _now())
        if str(lack) not in self._shortages_told:
            self._shortages_told.add(str(lack))
            _LOG.warning(
                "this machine lacks something: URLs wait, and fewer are fetched at once",
                lacks=str(lack),
                at_once=self.thrift.most(self._config.concurrency),
            )
        return pause(times)

    def refused_port(self, url: Url) -> PortRefused | None:
        """The outcome of a URL whose port is another protocol's."""
        return PortRefused(url.port) if self._ports.refuses(url.port) else None

    async def _fetch(
        self,
        url: Url,
        permit: TurnPermit,
        now: float,
        limits: Limits,
        conditions: tuple[tuple[str, str], ...],
    ) -> tuple[Outcome, Response | None]:
        endpoints: tuple[SocketAddress, ...] = ()
        if not self._config.proxy:
            answer = await self.names.find(url.hostname, url.port)
            if isinstance(answer, DnsFailure):
                if answer.kind == "local":
                    raise LocalShortage(answer.detail)
                unnamed = Failed("dns", f"{answer.kind}: {answer.detail}", host=True)
                self.line.note(url.host, "", unnamed, sent=False)
                return unnamed, None
            endpoints = answer.endpoints
            tracing.ended("dns")
        addresses = tuple(dict.fromkeys(endpoint.address for endpoint in endpoints))
        delay = self._address_delays.get(url.host, self._address_delay)
        address_turn = await self.gate.enter(url.host, addresses, delay)
        if address_turn is not None:
            permit.goes_to(addresses, delay)
        allowed = permit if address_turn is None else address_turn.permit(permit)
        try:
            request = Request(
                url.href,
                self._headers(url, conditions, now),
                endpoints,
                self._config.proxy or None,
                self._config.insecure_tls,
            )
            noted = NotingPermit(allowed)
            result = await self._transport.fetch(request, limits, noted)
        finally:
            if address_turn is not None:
                address_turn.end()
        if address_turn is not None and address_turn.late:
            return Failed("connect", "no connection in time: its address is another worker's by now", host=True), None
        if isinstance(result, Response):
            tracing.exchanged(result)
            if self._cookies is not None:
                self._cookies.store(url, result.headers, now)
            return of_result(result, url.href, now, self._config.retry_after_max), result
        tracing.ended("request")
        outcome = of_result(result, url.href, now, self._config.retry_after_max)
        self.line.note(url.host, next(iter(addresses), self._config.proxy), outcome, noted.was_sent)
        return outcome, None

    def _headers(self, url: Url, conditions: tuple[tuple[str, str], ...], now: float) -> tuple[tuple[str, str], ...]:
        """Request headers, those of the host over the general ones, credentials for exactly their origin."""
        headers = {**self._overrides.get(url.host, self._general), **dict(conditions)}
        if credentials := self._authorizations.get(url.origin):
            headers = _over(headers, {"Authorization": credentials})
        if self._cookies is not None and (cookies := self._cookies.header(url, now)):
            headers["Cookie"] = cookies
        return tuple(headers.items())


def conditions(stored: Page | None) -> tuple[tuple[str, str], ...]:
    """The validators of a stored version, as request headers (RFC 9110 section 13)."""
    if stored is None:
        return ()
    stated = (("If-None-Match", stored.etag), ("If-Modified-Since", stored.last_modified))
    return tuple((name, value) for name, value in stated if value)


def _over(headers: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Headers with others in the place of those that have their names, in any case."""
    replaced = {name.lower() for name in others}
    return {name: value for name, value in headers.items() if name.lower() not in replaced} | dict(others)


def _now() -> float:
    return asyncio.get_running_loop().time()

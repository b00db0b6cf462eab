"""A simulated web: what exists on it, how its servers answer, and its request log, which is a witness.

Times are virtual seconds of the run. A site is one host under both schemes.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import urlsplit

from gregor.worker.borders.transport import FailureKind
from gregor.worker.fetch.address_policy import AddressPolicy
from tests.simulation.resources import (
    Changing,
    Fault,
    File,
    Flaky,
    Html,
    Link,
    Redirect,
    Resource,
    Status,
    Unusable,
    Vanishing,
    body_of,
    lasting,
)

FOREVER = float("inf")
CUT = ""
"""In the place of a robots.txt's Location: the connection ends without an answer."""


@dataclass(frozen=True)
class RobotsPhase:
    """How robots.txt is answered until a moment: a file, a status, a redirect (Location), CUT, or not at all."""

    until: float
    answer: bytes | int | str | None


@dataclass
class Site:
    """One host. ``dead_until``: no connection before; ``unknown_until``: its name does not resolve before."""

    host: str
    addresses: tuple[str, ...]
    latency: float = 0.1
    resources: dict[str, Resource] = field(default_factory=dict)
    disallowed: tuple[str, ...] = ()
    crawl_delay: float = 0.0
    robots: tuple[RobotsPhase, ...] = ()
    dead_until: float = 0.0
    unknown_until: float = 0.0
    slow_until: float = 0.0
    slowness: float = 0.0
    """Its latency until then."""
    trap: str = ""
    """Below this path every number is a page that links to the next."""

    def latency_at(self, now: float) -> float:
        """How long an answer takes."""
        return self.slowness if now < self.slow_until else self.latency

    def resource(self, path: str) -> Resource:
        """What a path is."""
        if path in self.resources:
            return self.resources[path]
        number = path.removeprefix(self.trap)
        if self.trap and path.startswith(self.trap) and number.isdigit():
            day = int(number)
            words = f"{self.host} " + " ".join(f"day{day}x{place * place * (day + 7)}" for place in range(40))
            return Html(words, (Link(f"{self.trap}{day + 1}"), Link("/")))
        return Status(404)

    def allows(self, path: str) -> bool:
        """What the site's robots.txt says when it is readable."""
        return not any(path.startswith(prefix) for prefix in self.disallowed)

    def robots_file(self) -> bytes:
        """The readable robots.txt."""
        lines = ["User-agent: *", *(f"Disallow: {prefix}" for prefix in self.disallowed)]
        if self.crawl_delay:
            lines.append(f"Crawl-delay: {self.crawl_delay:g}")
        return "\n".join([*lines, ""]).encode()

    def robots_at(self, now: float) -> bytes | int | str | None:
        """How robots.txt is answered at a moment."""
        for phase in self.robots:
            if now < phase.until:
                return phase.answer
        return self.robots_file()


@dataclass
class Exchange:
    """One request as the web server saw it. ``end`` is when the connection ended or the answer was whole;
    ``unless``: the ETag of the version that is held already."""

    start: float
    client: str
    scheme: str
    host: str
    path: str
    address: str
    end: float = FOREVER
    status: int = 0
    latency: float = 0.0
    retry_after: float | None = None
    location: str = ""
    unless: str = ""
    aborted: bool = False
    owned: bool = True
    leased: bool = True

    @property
    def url(self) -> str:
        """The URL that was asked for."""
        return f"{self.scheme}://{self.host}{self.path}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.host}"


@dataclass(frozen=True)
class Reply:
    """What a server sends, and after how long; ``status`` 0 means that no answer comes."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    latency: float = 0.0
    hangs: bool = False
    failure: FailureKind = "cut"


class Web:
    """All sites, the log of all requests, and the attempts that reached nobody (time, URL or name)."""

    def __init__(self, sites: list[Site]) -> None:
        self.sites = {site.host: site for site in sites}
        self.log: list[Exchange] = []
        self.allows: Callable[[str, int], bool] = AddressPolicy().allows
        self.attempts: list[tuple[float, str]] = []
        self.chance = Random(0)
        self.on_request: Callable[[Exchange], None] = lambda exchange: None
        self._asked: Counter[str] = Counter()

    def site(self, url: str) -> Site | None:
        """The site of a URL."""
        return self.sites.get(urlsplit(url).netloc)

    def resource(self, url: str) -> Resource | None:
        """What a URL is; None where no site is."""
        site = self.site(url)
        return None if site is None else site.resource(path_of(url))

    def begin(self, client: str, url: str, address: str, now: float) -> Exchange:
        """A request arrives."""
        parts = urlsplit(url)
        exchange = Exchange(now, client, parts.scheme, parts.netloc, path_of(url), address)
        self.log.append(exchange)
        self.on_request(exchange)
        return exchange

    def reply(self, exchange: Exchange) -> Reply:
        """What the server will answer."""
        site = self.sites[exchange.host]
        latency = site.latency_at(exchange.start)
        if exchange.path == "/robots.txt":
            return _robots_reply(site, exchange.start)
        resource = site.resource(exchange.path)
        asked = self._asked[exchange.url]
        self._asked[exchange.url] += 1
        if isinstance(resource, Flaky) and asked < len(resource.faults):
            return _fault_reply(resource.faults[asked], latency)
        if isinstance(resource, Vanishing) and asked:
            return _reply(Status(404), latency)
        if isinstance(resource, Changing) and not asked:
            return _reply(resource.first, latency)
        lasts = lasting(resource)
        if isinstance(lasts, File) and exchange.unless and exchange.unless == lasts.etag:
            return _reply(Status(304), latency)
        return _reply(lasts, latency)

    def close_connections(self, client: str, now: float) -> None:
        """A client's process is gone, and its connections with it."""
        for exchange in self.log:
            if exchange.client == client and exchange.end == FOREVER:
                exchange.end, exchange.aborted = now, True


def path_of(url: str) -> str:
    """Path and query."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _robots_reply(site: Site, now: float) -> Reply:
    match site.robots_at(now):
        case None:
            return Reply(0, latency=site.latency, hangs=True)
        case int(status):
            return Reply(status, latency=site.latency)
        case "":
            return Reply(0, latency=site.latency)
        case str(location):
            return Reply(301, (("Location", location),), latency=site.latency)
        case bytes(body):
            return Reply(200, (("Content-Type", "text/plain"),), body, site.latency)


def _fault_reply(fault: Fault, latency: float) -> Reply:
    what, retry_after = fault
    if what == "timeout" or what == "cut":
        return Reply(0, latency=latency, hangs=what == "timeout")
    return Reply(what, () if retry_after is None else (("Retry-After", f"{retry_after:.0f}"),), latency=latency)


def _reply(resource: Resource, latency: float) -> Reply:
    match resource:
        case Html():
            return Reply(200, (("Content-Type", "text/html; charset=utf-8"),), body_of(resource), latency)
        case File(body, content_type, etag):
            validator = (("ETag", etag),) if etag else ()
            return Reply(200, (("Content-Type", content_type), *validator), body, latency)
        case Redirect(status, target):
            return Reply(status, (("Location", target),), latency=latency)
        case Status(status):
            return Reply(status, latency=latency)
        case Unusable(failure):
            return Reply(0, latency=latency, failure=failure)
        case Flaky() | Vanishing() | Changing():
            raise ValueError("only what lasts is an answer")

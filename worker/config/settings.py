"""Every setting of a crawl: its name, type, bounds, default and meaning, in one flat structure.

Times are seconds, sizes bytes, unless a field says otherwise. None means "no bound" or "off"; where another setting
stands in for None, the field says so. `config_sources.py` says where the values come from; docs/configuration.md is
made of the descriptions below.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from gregor import __version__
from gregor.schemas.messages import LONGEST_URL
from gregor.worker.base.errors import BadInput
from gregor.worker.config.revisiting import Revisiting
from gregor.worker.config.times import SECONDS

CanonicalRule: TypeAlias = Literal["session_ids", "tracking_parameters", "index_files", "sort_query"]
_NETWORK = r"^[0-9a-fA-F:.]+(/[0-9]{1,3})?$"


class HostOverride(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What differs for one host: a `[[host]]` table of the config file.

    Secrets are never in the file: `username_env`, `password_env` and `bearer_env` name environment variables. They
    are sent to the listed origins only, and to `https://HOST` when none is listed.
    """

    host: Annotated[str, Meta(min_length=1, description="the host, with its port when it is neither 80 nor 443")]
    delay: Annotated[float, SECONDS, Meta(ge=0, le=31_536_000)] | None = None
    max_pages: Annotated[int, Meta(ge=0)] | None = None
    max_bytes: Annotated[int, Meta(ge=0)] | None = None
    headers: dict[str, str] = {}
    username_env: str = ""
    password_env: str = ""
    bearer_env: str = ""
    origins: tuple[str, ...] = ()


class Config(Revisiting, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is in force for one process."""

    # Where the crawl lives
    data: Annotated[str, Meta(min_length=1, description="data folder of the embedded engine")] = "./data"
    engine: Annotated[Literal["embedded", "cluster"], Meta(description="what remembers the crawl")] = "embedded"
    crawl: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$", description="the crawl's name: a-z, 0-9, -")] = (
        "crawl"
    )
    partitions: Annotated[int, Meta(ge=1, le=65536, description="hash ranges of hosts; fixed once per crawl")] = 64
    processes: Annotated[
        Annotated[int, Meta(ge=1, le=256)] | Literal["auto"],
        Meta(description="worker processes on one data folder; auto: the cores of this machine less one"),
    ] = 1

    # Who asks
    user_agent: Annotated[
        str,
        Meta(
            pattern=r"^[!-~][ -~]*$",
            description="User-Agent in ASCII, with a contact (URL or mail); the robots.txt token is what stands "
            "before the first slash",
        ),
    ] = f"gregor/{__version__} (+https://example.org/bot)"
    headers: Annotated[
        dict[str, str],
        Meta(
            description="further request headers, for every host; Host, User-Agent, Range and those of framing are ours"
        ),
    ] = {}  # noqa: RUF012

    # What belongs to the crawl
    scope: Annotated[
        Literal["host", "domain", "domains", "prefixes", "any"],
        Meta(description="the seeds' hosts, their registered domains, the list in domains or in prefixes, or any host"),
    ] = "host"
    domains: Annotated[tuple[str, ...], Meta(description="with scope domains: these and all below them")] = ()
    prefixes: Annotated[tuple[str, ...], Meta(description="with scope prefixes: beginnings of URLs")] = ()
    include: Annotated[
        tuple[str, ...], Meta(description="if any: only URLs that match one; `*` is any text, or RE2 after `re:`")
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Meta(description="no URL found that matches one of these patterns; wins over all; seeds are taken as given"),
    ] = ()
    canonical: Annotated[
        tuple[CanonicalRule, ...],
        Meta(description="optional operations on the key of a URL; fixed once per crawl"),
    ] = ()
    nofollow: Annotated[bool, Meta(description="obey nofollow: rel, meta robots, X-Robots-Tag")] = True
    meta_refresh: Annotated[bool, Meta(description="follow meta refresh, and the Refresh header")] = False
    canonical_links: Annotated[bool, Meta(description="follow rel=canonical")] = True
    frames: Annotated[bool, Meta(description="follow the frames of a frameset; iframes are followed always")] = True
    sitemaps: Annotated[
        bool,
        Meta(
            description="read the sitemaps that robots.txt names, also on other hosts (`scope` holds for what they"
            " list, `exclude` for them too), else `/sitemap.xml`, and seeds that are sitemaps"
        ),
    ] = False
    sitemap_only: Annotated[bool, Meta(description="follow sitemaps only, no link of any page")] = False

    # Budgets
    max_pages: Annotated[int, Meta(ge=0, description="URLs whose newest page has status 200, per crawl")] | None = None
    max_depth: Annotated[int, Meta(ge=0, description="links from a seed, on the shortest way found")] | None = None
    max_bytes: Annotated[int, Meta(ge=0, description="stored bytes, per data folder")] | None = None
    max_pages_per_host: Annotated[int, Meta(ge=0, description="stored pages of one host")] | None = None
    max_bytes_per_host: Annotated[int, Meta(ge=0, description="stored bytes of one host")] | None = None
    linger: Annotated[bool, Meta(description="when all is done, wait for more seeds instead of ending")] = False
    max_time: Annotated[float, SECONDS, Meta(ge=0, description="run time of this process")] | None = None

    # One request
    connect_timeout: Annotated[
        float, SECONDS, Meta(gt=0, le=31_536_000, description="name lookup, and connect with TLS, each")
    ] = 10.0
    read_timeout: Annotated[
        float, SECONDS, Meta(gt=0, le=31_536_000, description="the longest silence of a server")
    ] = 20.0
    total_timeout: Annotated[float, SECONDS, Meta(gt=0, le=31_536_000, description="one answer in all")] = 120.0
    minimum_rate: Annotated[int, Meta(ge=0, description="bytes a second, below it an answer is given up; 0: off")] = 0
    rate_window: Annotated[
        float, SECONDS, Meta(gt=0, le=31_536_000, description="over how long the rate is measured")
    ] = 30.0
    max_body: Annotated[int, Meta(ge=1, description="one body, decoded; the rest is cut")] = 16 * 1024 * 1024
    max_sitemap: Annotated[int, Meta(ge=1, description="bytes of a sitemap, unpacked or not (sitemaps.org: 50 MB)")] = (
        50 * 1024 * 1024
    )
    max_wire: Annotated[int, Meta(ge=1, description="one body as received; none: as max_body")] | None = None
    max_header_bytes: Annotated[int, Meta(ge=1024, description="all headers of an answer")] = 256 * 1024
    max_header_count: Annotated[int, Meta(ge=16, description="header lines of an answer")] = 1000
    max_redirects: Annotated[int, Meta(ge=0, description="redirects in a row")] = 10
    cookies: Annotated[bool, Meta(description="a cookie jar per host")] = False
    cookies_file: Annotated[str, Meta(description="Netscape cookies.txt to send from; turns `cookies` on")] = ""
    transport: Annotated[Literal["curl", "requests"], Meta(description="what fetches")] = "curl"
    http2: Annotated[bool, Meta(description="HTTP/2 where a server offers it (curl only)")] = False
    insecure_tls: Annotated[bool, Meta(description="record the fault of a certificate and go on")] = False
    legacy_tls: Annotated[
        bool, Meta(description="speak with servers whose TLS lacks secure renegotiation (RFC 5746)")
    ] = False
    ca_file: Annotated[str, Meta(description="PEM file of CAs trusted beside the usual ones")] = ""

    # Where connections go
    proxy: Annotated[
        str,
        Meta(
            pattern=r"^$|^(http|socks5h?)://.",
            description="http:// or socks5:// URL; resolving names and checking addresses is then its business",
        ),
    ] = ""
    allow_networks: Annotated[
        tuple[Annotated[str, Meta(pattern=_NETWORK)], ...],
        Meta(description="networks (CIDR) allowed though not global, for crawling inside a private one"),
    ] = ()
    allow_ports: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=65535)], ...],
        Meta(description="ports asked though other protocols have them (the bad ports of the Fetch Standard)"),
    ] = ()
    host_table: Annotated[str, Meta(description="file of lines `host[:port] address:port`")] = ""
    resolver: Annotated[str, Meta(description="DNS server, ADDRESS:PORT; default: the system's")] = ""
    dns_ttl_min: Annotated[float, SECONDS, Meta(ge=0, description="shortest life of a name looked up")] = 30.0
    dns_ttl_max: Annotated[float, SECONDS, Meta(ge=0, description="longest life of a name looked up")] = 3600.0
    dns_negative_ttl: Annotated[
        float, SECONDS, Meta(ge=0, description="longest life of a name that does not exist")
    ] = 300.0

    # When something fails
    retries: Annotated[int, Meta(ge=0, le=100, description="further tries of a failed URL or robots.txt")] = 3
    retry_pause: Annotated[
        float, SECONDS, Meta(gt=0, le=31_536_000, description="first pause; doubles with every try")
    ] = 30.0
    retry_pause_max: Annotated[float, SECONDS, Meta(gt=0, le=31_536_000, description="longest pause")] = 3600.0
    retry_jitter: Annotated[float, Meta(ge=0, le=1, description="a pause is longer by up to this share")] = 0.25
    retry_after_max: Annotated[float, SECONDS, Meta(ge=0, le=31_536_000, description="longest Retry-After obeyed")] = (
        86400.0
    )
    failure_ttl: (
        Annotated[float, SECONDS, Meta(gt=0, le=31_536_000, description="life of a failed look-up; none: retry_pause")]
        | None
    ) = None
    host_failures: Annotated[
        int,
        Meta(
            ge=1,
            description="failed connections, or URLs not answered in time, in a row after which those of an origin are "
            "given up; one that was never reached has no more tries than a URL",
        ),
    ] = 5

    # Memory
    memory_urls: Annotated[int, Meta(ge=256, description="URLs in memory, over all back queues")] = 65536
    queue_size: Annotated[int, Meta(ge=2, description="URLs in the back queue of one host")] = 64
    queue_low: Annotated[int, Meta(ge=1, description="below it a back queue is filled from its backlog")] = 16
    window: Annotated[int, Meta(ge=16, description="unfinished records per partition and priority")] = 4096
    recently_sent: Annotated[int, Meta(ge=0, description="links remembered as published")] = 262144
    robots_memory: Annotated[int, Meta(ge=16, description="robots.txt kept parsed")] = 4096
    dns_memory: Annotated[int, Meta(ge=16, description="names kept resolved")] = 16384
    chunk_size: Annotated[int, Meta(ge=1, description="URLs in a chunk of a backlog")] = 512
    bucket_width: Annotated[
        float,
        SECONDS,
        Meta(ge=0.001, le=86400, description="seconds of a bucket of the calendar; fixed once per crawl"),
    ] = 1.0
    bucket_size: Annotated[int, Meta(ge=1, description="URLs in a bucket of the calendar")] = 512
    checkpoint_interval: Annotated[float, SECONDS, Meta(gt=0, description="between two commits of the watermarks")] = (
        1.0
    )

    # Order, duplicates, traps
    weights: Annotated[
        tuple[
            Annotated[int, Meta(ge=1)],
            Annotated[int, Meta(ge=1)],
            Annotated[int, Meta(ge=1)],
            Annotated[int, Meta(ge=1)],
        ],
        Meta(description="how often each priority is picked, from 1 (highest) to 4"),
    ] = (8, 4, 2, 1)
    text: Annotated[Literal["all", "main"], Meta(description="what is kept of a page: all, or its main content")] = (
        "all"
    )
    near_duplicate_share: Annotated[float, Meta(ge=0.5, le=1, description="least share of text in common")] = 0.68
    max_url_length: Annotated[int, Meta(ge=64, le=LONGEST_URL, description="a longer URL is skipped")] = 4096
    max_links: Annotated[int, Meta(ge=0, description="links taken from one page")] = 10000
    requisites: Annotated[
        bool,
        Meta(
            description="fetch what stored pages show: images, style sheets, scripts, fonts, media; they are no pages, "
            "so `scope` and `max_depth` do not hold for them, `exclude` does"
        ),
    ] = False
    requisites_scope: Annotated[Literal["any", "scope"], Meta(description="anywhere, or where pages may be")] = "any"
    max_requisites: Annotated[int, Meta(ge=0, description="requisites taken from one page or style sheet")] = 1000
    max_requisites_in_all: (
        Annotated[int, Meta(ge=0, description="stored requisites of the crawl; none more are taken from pages then")]
        | None
    ) = None

    # What is told, and stopping
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Meta(description="least level logged")] = "info"
    log_format: Annotated[Literal["text", "json"], Meta(description="one event a line, as text or JSON")] = "text"
    log_file: Annotated[str, Meta(description="where the log goes; default: standard error")] = ""
    trace_endpoint: Annotated[
        str,
        Meta(
            pattern=r"^$|^https?://[^\s/]+(/\S*)?$",
            description="URL of an OpenTelemetry collector (OTLP over HTTP) for traces of visits; empty: off",
        ),
    ] = ""
    trace_share: Annotated[float, Meta(ge=0, le=1, description="share of the visits that are traced")] = 0.01
    progress_interval: Annotated[float, SECONDS, Meta(gt=0, description="between two lines of progress in a pipe")] = (
        10.0
    )
    stop_grace: Annotated[
        float, SECONDS, Meta(ge=0, le=31_536_000, description="what running requests have at a stop")
    ] = 10.0

    hosts: Annotated[tuple[HostOverride, ...], Meta(description="`[[host]]` tables: what differs for a host")] = ()

    @property
    def on_one_machine(self) -> bool:
        """Whether the crawl lives in the folder ``data``, where its settings and tokens may be kept, too."""
        return self.engine == "embedded"


class ConfigError(BadInput):
    """A setting that cannot hold: one line that names it and says what would."""


def replace(config: Config, **changes: object) -> Config:
    """A copy with changed fields, validated as if it had been read."""
    return msgspec.convert({**msgspec.to_builtins(config), **changes}, Config)

"""Whether settings make sense, alone and together."""

import ipaddress
import math
import re
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from gregor.worker.base.errors import BadInput
from gregor.worker.config.about import check_about
from gregor.worker.config.api import check_api
from gregor.worker.config.revisiting import revisit_bounds
from gregor.worker.config.settings import Config, ConfigError

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


_WRITTEN_BY_US: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "if-modified-since",
        "if-none-match",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
"""Headers that are nobody's to set: they say where a request ends and goes, what is asked for, and as whom, by which
robots.txt is read."""


_CONTACT = ("http://", "https://", "@")
_NOBODYS: Final = re.compile(
    r"[@/.](example\.(org|com|net|edu)|[a-z0-9-]+\.(example|invalid))(?![.\w-])", re.IGNORECASE
)
"""Names that nobody has (RFC 2606): a contact there reaches nobody."""
_BROWSERS: Final = re.compile(
    r"^(Mozilla|Opera)/|\b(Chrome|Safari|Firefox|AppleWebKit|Gecko|MSIE|Edg|Trident)/", re.IGNORECASE
)


def check(config: Config) -> None:
    """What types cannot say; raises ConfigError."""
    for table in (config, *config.hosts):
        for name, value in msgspec.structs.asdict(table).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ConfigError(f"{name} must be a finite number, not {value}")
    if config.processes != 1 and not config.on_one_machine:
        raise ConfigError("processes is for a crawl on one machine: on servers begin more workers, each on its own")
    try:
        check_about(config)
        check_api(config)
    except BadInput as error:
        raise ConfigError(str(error)) from None
    for network in config.allow_networks:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise ConfigError(f"allow_networks: {error}") from None
    if config.queue_low >= config.queue_size:
        raise ConfigError(f"queue_low ({config.queue_low}) must be below queue_size ({config.queue_size})")
    if config.dns_ttl_min > config.dns_ttl_max:
        raise ConfigError(f"dns_ttl_min ({config.dns_ttl_min}) is above dns_ttl_max ({config.dns_ttl_max})")
    if config.retry_pause > config.retry_pause_max:
        raise ConfigError(f"retry_pause ({config.retry_pause}) is above retry_pause_max ({config.retry_pause_max})")
    if config.revisit is not None and (bounds := revisit_bounds(config))[0] > bounds[1]:
        raise ConfigError(f"revisit_min ({bounds[0]:g}) is above revisit_max ({bounds[1]:g})")
    if config.revisit is not None and config.stale_after is not None and config.stale_after <= config.revisit:
        raise ConfigError(
            f"stale_after ({config.stale_after:g}) must be above revisit ({config.revisit:g}): what is visited again "
            "would be deleted before"
        )
    _check_topic(config)
    if config.proxy and config.resolver:
        raise ConfigError("resolver has no effect with a proxy, which resolves names itself: set only one of them")
    _check_proxy(config.proxy)
    for headers in (config.headers, *(override.headers for override in config.hosts)):
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable() or not value.isascii():
                raise ConfigError(f"headers: {name!r} is no header name, or its value no line of ASCII text")
            if name.lower() in _WRITTEN_BY_US:
                raise ConfigError(f"headers: {name} is not to be set there; user_agent sets the agent")
    names = [override.host for override in config.hosts]
    if with_canonical_hosts(config) != config:
        raise ConfigError("[[host]] tables: a host is not written as in its URLs")
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"[[host]] {name} stands there twice: put what differs into one table")


def _check_topic(config: Config) -> None:
    """That what asks for a topic has one."""
    if config.topic_classes and not config.topic_model:
        raise ConfigError("topic_classes name classes of a model: set topic_model, too")
    for word in config.topic_words:
        if not any(map(str.isalnum, word)):
            raise ConfigError(f"topic_words: {word[:80]!r} has no letter and no digit")
    if config.has_topic:
        return
    advice = "give topic words, good pages, or a model and its classes"
    if config.ordering == "topic":
        raise ConfigError(f"ordering is topic, and no topic is told: {advice}")
    for name in ("topic_bad", "topic_hops", "topic_discover"):
        if getattr(config, name) not in (None, ()):
            raise ConfigError(f"{name} wants a topic: {advice}")


def with_canonical_hosts(config: Config) -> Config:
    """The settings with the hosts of their tables as URLs have them: another spelling would never meet one. Raises
    ConfigError for what is no host, or many."""
    if not config.hosts:
        return config
    from gregor.worker.web.hostnames import one_host  # heavy, and most have no such table

    tables = []
    for table in config.hosts:
        host = one_host(table.host)
        if host is None:
            raise ConfigError(f"[[host]] {table.host}: not one host: write www.example.org, or www.example.org:8080")
        tables.append(msgspec.structs.replace(table, host=host))
    return msgspec.structs.replace(config, hosts=tuple(tables))


def _check_proxy(proxy: str) -> None:
    """That it names a host, and a port if any; it is not repeated, since it may hold a password.

    What of a password stands raw behind an @ / ? or # would be taken for the host or a path, and shown as such.
    """
    try:
        parts = urlsplit(proxy)
        usable = not proxy or (
            bool(parts.hostname)
            and parts.port != 0
            and proxy.isascii()
            and proxy.isprintable()
            and " " not in proxy
            and not any(octet < " " or octet == "\x7f" for octet in unquote(proxy, "latin-1"))
            and proxy.count("@") <= 1
            and (parts.path, parts.query, parts.fragment) in {("", "", ""), ("/", "", "")}
        )
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            "proxy must be http://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before HOST if need be, "
            "their special characters percent-encoded (@ as %40)"
        )


def warnings(config: Config) -> list[str]:
    """What is allowed, but hardly meant."""
    texts = []
    if not any(mark in config.user_agent for mark in _CONTACT):
        texts.append("user_agent names no contact: add a URL or a mail address, so that a site can reach you")
    elif nobody := _NOBODYS.search(config.user_agent):
        texts.append(
            f"user_agent names {nobody[1]}, where nobody can be reached: say who you are, "
            "--user-agent 'mybot/1.0 (+https://your.site/bot)'"
        )
    if _BROWSERS.search(config.user_agent):
        texts.append(
            "user_agent pretends to be a browser: sites take that for an attack, and robots.txt is read for "
            f"{config.user_agent.partition('/')[0]!r}; say who you are, --user-agent 'mybot/1.0 (+https://your.site/bot)'"
        )
    if config.robots == "ignore":
        texts.append("robots.txt is ignored: do this only with sites that are yours")
    if config.proxy and config.host_table:
        texts.append("host_table has no effect: with a proxy, it is the proxy that connects")
    return texts

"""What the configuration says of URLs: their canonical form, how they are parsed, which belong to the crawl. Pure."""

from typing import Final

from gregor.worker.config.settings import Config, ConfigError
from gregor.worker.links.scope import Scope, ScopeKind, ScopeRules
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Urls

FOLLOWED: Final = frozenset(
    {"a", "area", "iframe", "frame", "next", "canonical", "refresh", "redirect", "sitemap", "url"}
)
"""Kinds of links that lead to documents."""

REQUISITES: Final = frozenset(
    {
        *("audio", "background", "css", "embed", "icon", "image", "img", "input", "object", "poster", "preload"),
        *("script", "source", "srcset", "style", "track", "use", "video"),
    }
)
"""Kinds of links to what a page shows, or needs for it."""
OF_STYLES: Final = frozenset({"css", "style"})
"""Those that a style sheet has."""


def canonical_rules(config: Config) -> CanonicalRules:
    """The optional operations on keys."""
    return CanonicalRules(**dict.fromkeys(config.canonical, True))


def urls_of(config: Config) -> Urls:
    """How the crawl parses URLs."""
    return Urls(canonical_rules(config), max_length=config.max_url_length)


def followed_kinds(config: Config) -> frozenset[str]:
    """Which kinds of links are followed."""
    if config.sitemap_only:
        return frozenset({"sitemap", "url", "redirect"})
    asked = {"refresh": config.meta_refresh, "canonical": config.canonical_links, "frame": config.frames}
    return FOLLOWED - {kind for kind, wanted in asked.items() if not wanted}


def scope_rules(config: Config) -> ScopeRules:
    """The scope as configured; raises `ConfigError` for a pattern that cannot hold."""
    kind: ScopeKind = config.scope
    if config.topic_discover is not None and kind in ("host", "domain"):
        kind = "any"
    rules = ScopeRules(kind, config.domains, config.prefixes, config.include, config.exclude)
    try:
        Scope(rules)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return rules

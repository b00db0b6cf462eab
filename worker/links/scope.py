"""Which URLs belong to the crawl, and which rule says so."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec
import re2

from gregor.worker.links.patterns import REGEX, canonical_domain, canonical_glob, canonical_prefix, canonical_regex
from gregor.worker.links.reasons import reason
from gregor.worker.web.domains import registered_domain
from gregor.worker.web.urls import Url, split_port

MAX_ELSEWHERE: Final = 20
"""Sitemaps outside the scope that a robots.txt or an index may send us to: they are asked of other people's servers."""

ScopeKind = Literal["host", "domain", "domains", "prefixes", "any"]


class InScope(msgspec.Struct, frozen=True):
    """The URL belongs to the crawl."""

    rule: str
    """What decided, for ``explain``."""

    @property
    def fate(self) -> str:
        """That of a link which leads there."""
        return reason("scope", self.rule)


class OutOfScope(msgspec.Struct, frozen=True):
    """The URL does not belong to the crawl."""

    rule: str
    """What decided, for ``explain``."""

    @property
    def fate(self) -> str:
        """That of a link which leads there."""
        return reason("scope", self.rule)


class ScopeRules(msgspec.Struct, frozen=True):
    """What the operator asks for.

    A pattern is a glob over the whole URL, in which ``*`` is any text, or, after ``re:``, an RE2 expression that may
    match anywhere. It is brought to the canonical form, and held against that of a URL and against what would be
    requested.
    """

    kind: ScopeKind = "host"
    """``host``: the seeds' hosts; ``domain``: the seeds' registered domains; ``domains`` and ``prefixes``: the lists
    below; ``any``: the whole web."""
    domains: tuple[str, ...] = ()
    """Each with everything below it."""
    prefixes: tuple[str, ...] = ()
    """Beginnings of URLs, scheme included."""
    include: tuple[str, ...] = ()
    """If there are any, a URL must match one of them as well."""
    exclude: tuple[str, ...] = ()
    """A URL must match none of them."""


class Scope:
    """The rules, applied to a crawl's seeds. A value: seeds that come later make another one."""

    def __init__(self, rules: ScopeRules, seed_hosts: Iterable[str] = ()) -> None:
        """``seed_hosts`` are :attr:`Url.host` of the seeds. Raises ValueError if a pattern or a list is no use."""
        _check_lists(rules)
        self._rules = rules
        self._exclude = _Patterns("exclude", rules.exclude)
        self._include = _Patterns("include", rules.include)
        self._prefixes = tuple(map(canonical_prefix, rules.prefixes))
        self._domains = frozenset(map(canonical_domain, rules.domains))
        self._hosts: frozenset[str] = frozenset()
        self._out_of_scope = OutOfScope(f"scope {rules.kind}")
        self._not_included = OutOfScope("include: no pattern matches")
        self._add(seed_hosts)
        self._hosts_alone = rules.kind == "host" and not self._exclude and not self._include

    def allows(self, url: Url) -> InScope | OutOfScope:
        """Whether the URL belongs to the crawl. ``exclude`` wins over everything else."""
        if excluded := self._exclude.first(url):
            return OutOfScope(excluded)
        rule = self._by_kind(url)
        if rule is None:
            return self._out_of_scope
        if self._include and not (rule := self._include.first(url)):
            return self._not_included
        return InScope(rule)

    def excludes(self, url: Url) -> str:
        """The fate of what does not belong to the crawl; empty if it does. As `allows`, for every link of every page:
        hosts are looked up alone where nothing else is asked for."""
        if self._hosts_alone:
            return "" if url.host in self._hosts else self._out_of_scope.fate
        verdict = self.allows(url)
        return verdict.fate if isinstance(verdict, OutOfScope) else ""

    def allows_sitemap(self, url: Url) -> InScope | OutOfScope:
        """Whether a sitemap may be read that a site of the crawl announces: wherever it is (sitemaps.org, "cross
        submits"), unless ``exclude`` names it. The scope says which pages belong to the crawl, and a sitemap is none;
        what it lists is judged by :meth:`allows`."""
        excluded = self._exclude.first(url)
        return OutOfScope(excluded) if excluded else InScope("sitemap announced by a site of the crawl")

    def allows_requisite(self, url: Url, anywhere: bool) -> InScope | OutOfScope:
        """Whether what a page shows may be fetched: ``anywhere`` but what ``exclude`` names, or where pages may be."""
        if not anywhere:
            return self.allows(url)
        excluded = self._exclude.first(url)
        return OutOfScope(excluded) if excluded else InScope("requisite of a page")

    def _add(self, seed_hosts: Iterable[str]) -> None:
        if self._rules.kind == "host":
            self._hosts = self._hosts.union(seed_hosts)
        elif self._rules.kind == "domain":
            names = {split_port(host)[0] for host in seed_hosts}
            domains = {name: registered_domain(name) for name in names}
            self._domains = self._domains.union(filter(None, domains.values()))
            # Below an address or a bare public suffix there is nothing that a seed could speak for.
            self._hosts = self._hosts.union(name for name, domain in domains.items() if domain is None)

    def _by_kind(self, url: Url) -> str | None:
        """The rule that lets the URL in."""
        match self._rules.kind:
            case "any":
                return "scope any"
            case "prefixes":
                prefix = next(filter(url.key.startswith, self._prefixes), None)
                return prefix and f"scope prefix {prefix}"
            case "host":
                return f"scope host {url.host}" if url.host in self._hosts else None
            case "domain" | "domains":
                name = split_port(url.host)[0]
                domain = name if name in self._hosts else self._domain_over(name)
                return domain and f"scope domain {domain}"

    def _domain_over(self, name: str) -> str | None:
        while name not in self._domains:
            _, dot, name = name.partition(".")
            if not dot:
                return None
        return name


class _Patterns:
    """Patterns that are tried at once; RE2 matches in linear time whatever a site puts into its URLs."""

    def __init__(self, name: str, patterns: tuple[str, ...]) -> None:
        self._each = [(f"{name} {pattern}", _compile(pattern)) for pattern in patterns]
        self._any = _compile_regex("|".join(f"(?:{regex.pattern})" for _, regex in self._each), ", ".join(patterns))

    def __bool__(self) -> bool:
        return bool(self._each)

    def first(self, url: Url) -> str | None:
        """The first pattern that matches, by its name."""
        if not self._each:
            return None
        return self._first(url.key) or (self._first(url.href) if url.href != url.key else None)

    def _first(self, text: str) -> str | None:
        if not self._any.search(text):
            return None
        return next(name for name, regex in self._each if regex.search(text))


def _compile(pattern: str) -> "re2._Regexp":
    if pattern.startswith(REGEX):
        return _compile_regex(canonical_regex(pattern.removeprefix(REGEX)), pattern)
    return _compile_regex("^" + "(?s:.*)".join(map(re2.escape, canonical_glob(pattern).split("*"))) + "$", pattern)


def _compile_regex(regex: str, pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise ValueError(f"pattern {pattern!r} is no RE2 expression: {reason}") from None


def _check_lists(rules: ScopeRules) -> None:
    for name in ("domains", "prefixes"):
        if bool(getattr(rules, name)) != (rules.kind == name):
            raise ValueError(f"a list of {name} and scope {name!r} go together: one is given without the other")

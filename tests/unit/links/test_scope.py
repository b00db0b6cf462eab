"""Which URLs belong to the crawl."""

import time

import msgspec
import pytest

from gregor.worker.links.scope import InScope, OutOfScope, Scope, ScopeRules
from gregor.worker.web.urls import Url, Urls


def url(text: str) -> Url:
    parsed = Urls().parse(text)
    assert parsed is not None
    return parsed


def admits(scope: Scope, text: str) -> bool:
    return isinstance(scope.allows(url(text)), InScope)


def test_host_means_exactly_the_hosts_of_the_seeds() -> None:
    scope = Scope(ScopeRules("host"), ["example.com", "h:8080"])
    assert scope.allows(url("https://example.com/a")) == InScope("scope host example.com")
    assert scope.allows(url("http://www.example.com/")) == OutOfScope("scope host")
    assert admits(scope, "http://h:8080/")
    assert not admits(scope, "http://h/")


@pytest.mark.parametrize(
    "rules",
    [
        ScopeRules("host"),
        ScopeRules("domain"),
        ScopeRules("any"),
        ScopeRules("host", exclude=("*/private/*",)),
        ScopeRules("host", include=("*/a*",)),
    ],
)
@pytest.mark.parametrize("text", ["http://h/a", "https://h:80/private/x", "http://sub.h.example/b", "http://other/a"])
def test_what_is_excluded_is_what_is_not_allowed(rules: ScopeRules, text: str) -> None:
    scope = Scope(rules, ["h", "h:80", "h.example"])
    verdict = scope.allows(url(text))
    assert scope.excludes(url(text)) == (verdict.fate if isinstance(verdict, OutOfScope) else "")


def test_domain_means_the_registered_domains_and_all_below() -> None:
    scope = Scope(ScopeRules("domain"), ["www.example.co.uk", "alice.github.io", "127.0.0.1:8080", "localhost"])
    assert scope.allows(url("http://a.b.example.co.uk:81/")) == InScope("scope domain example.co.uk")
    assert admits(scope, "http://example.co.uk/")
    assert not admits(scope, "http://badexample.co.uk/")
    assert not admits(scope, "http://bob.github.io/")
    assert admits(scope, "http://127.0.0.1:9090/")
    assert not admits(scope, "http://sub.localhost/")


def test_listed_domains() -> None:
    scope = Scope(ScopeRules("domains", domains=("Bücher.example", "news.example.org")), ["elsewhere.example"])
    assert admits(scope, "http://www.xn--bcher-kva.example/")
    assert admits(scope, "http://news.example.org/")
    assert not admits(scope, "http://example.org/")
    assert not admits(scope, "http://elsewhere.example/")


def test_prefixes_end_at_the_host() -> None:
    scope = Scope(ScopeRules("prefixes", prefixes=("https://example.com", "http://h/%7Eme/")))
    assert scope.allows(url("https://example.com/a")) == InScope("scope prefix https://example.com/")
    assert not admits(scope, "https://example.com.evil.example/")
    assert not admits(scope, "http://example.com/")
    assert admits(scope, "http://h/~me/a")
    assert not admits(scope, "http://h/~you/")


@pytest.mark.parametrize("rules", [ScopeRules("host"), ScopeRules("prefixes", prefixes=("http://a.test/b",))])
def test_a_sitemap_may_be_anywhere_but_where_the_operator_forbids_it(rules: ScopeRules) -> None:
    scope = Scope(msgspec.structs.replace(rules, include=("*/b*",), exclude=("*/secret/*",)), ["a.test"])
    assert isinstance(scope.allows_sitemap(url("http://maps.test/a.xml")), InScope)
    assert isinstance(scope.allows(url("http://maps.test/b.xml")), OutOfScope)
    assert scope.allows_sitemap(url("http://maps.test/secret/a.xml")) == OutOfScope("exclude */secret/*")


def test_patterns_name_themselves() -> None:
    scope = Scope(ScopeRules("any", include=("*/docs/*", "re:[?&]id=[0-9]+$"), exclude=("*.pdf", "re:(?i)/PRIVATE/")))
    assert scope.allows(url("http://h/docs/a")) == InScope("include */docs/*")
    assert scope.allows(url("http://h/?x=1&id=7")) == InScope("include re:[?&]id=[0-9]+$")
    assert scope.allows(url("http://h/docs/a.pdf")) == OutOfScope("exclude *.pdf")
    assert scope.allows(url("http://h/docs/private/a")) == OutOfScope("exclude re:(?i)/PRIVATE/")
    assert scope.allows(url("http://h/")) == OutOfScope("include: no pattern matches")


def test_a_glob_is_literal_but_for_its_stars() -> None:
    scope = Scope(ScopeRules("any", exclude=("http://h/a.b?c*",)))
    assert not admits(scope, "http://h/a.b?cd")
    assert admits(scope, "http://h/axb?cd")
    assert admits(scope, "http://h/?http://h/a.b?c")


def test_patterns_see_the_requested_and_the_canonical_url() -> None:
    assert not admits(Scope(ScopeRules("any", exclude=("*%7E*",))), "http://h/%7Ea")
    assert not admits(Scope(ScopeRules("any", exclude=("*~*",))), "http://h/%7Ea")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (ScopeRules("any", include=("re:(",)), r"'re:\(' is no RE2 expression: missing \)"),
        (ScopeRules("any", exclude=(r"re:(a)\1",)), "no RE2 expression: invalid escape"),
        (ScopeRules("any", exclude=("example.com/*",)), "can match no URL"),
        (ScopeRules("domains"), "go together"),
        (ScopeRules("host", prefixes=("http://h/",)), "go together"),
        (ScopeRules("domains", domains=("http://h/",)), "is no domain name"),
        (ScopeRules("prefixes", prefixes=("h/",)), "not the beginning of an http"),
    ],
)
def test_useless_rules_are_refused(rules: ScopeRules, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scope(rules)


def test_no_url_makes_a_pattern_slow() -> None:
    scope = Scope(ScopeRules("any", exclude=("re:(a+)+$", "*a*a*a*a*a*a*b")))
    started = time.process_time()
    assert admits(scope, "http://h/" + "a" * 4000 + "!")
    assert time.process_time() - started < 0.5

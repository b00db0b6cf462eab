"""Patterns meet the URLs that they mean, however they are spelt; one that can meet none is refused with the reason."""

import pytest

from gregor.worker.links.scope import InScope, Scope, ScopeRules
from gregor.worker.web.urls import Urls

URLS = Urls()


def meets(pattern: str, href: str) -> bool:
    url = URLS.parse(href)
    assert url is not None
    excluded = Scope(ScopeRules("any", exclude=(pattern,))).allows(url)
    included = Scope(ScopeRules("any", include=(pattern,))).allows(url)
    assert isinstance(excluded, InScope) != isinstance(included, InScope)
    return isinstance(included, InScope)


@pytest.mark.parametrize(
    ("pattern", "href"),
    [
        ("https://example.org/münchen/*", "https://example.org/m%C3%BCnchen/a"),
        ("https://example.org/m%c3%bcnchen/*", "https://example.org/münchen/a"),
        ("https://example.org/M%C3%BCnchen/%7Ejoe*", "https://example.org/München/~joe/"),
        ("*/münchen/*", "https://example.org/m%c3%bcnchen/a"),
        ("*?q=grün*", "https://example.org/?q=gr%C3%BCn"),
        ("https://example.org/a b/*", "https://example.org/a%20b/c"),
        ("https://bücher.example/*", "https://xn--bcher-kva.example/a"),
        ("https://*.bücher.example/*", "https://www.xn--bcher-kva.example/a"),
        ("HTTPS://Example.ORG/A/*", "https://example.org/A/b"),
        ("https://*.Example.ORG/*", "https://www.example.org/"),
        ("https://example.org:443/*", "https://example.org/a"),
        ("http://example.org:80/*", "http://example.org/a"),
        ("http://*.example.org:80/*", "http://www.example.org/a"),
        ("http://example.org:8080/*", "http://example.org:8080/a"),
        ("http://example.org:80*", "http://example.org:8080/a"),
        ("*://Example.org/*", "http://example.org/a"),
        ("http*://Example.org/*", "https://example.org/a"),
        ("https://example.org", "https://example.org/"),
        ("https://*.example.org", "https://www.example.org/"),
        ("https://example.org*", "https://example.org.evil.test/"),
        ("https://example.org/a/../b", "https://example.org/b"),
        (" https://example.org/* ", "https://example.org/a"),
        ("https://example.org/100%*", "https://example.org/100%"),
        ("https://example.org/?a[]=*", "https://example.org/?a[]=1"),
        ("https://[::1]/*", "https://[::1]/a"),
        ("re:/münchen+/", "https://example.org/m%C3%BCnchen/"),
        ("re:/m%c3%bcnchen/", "https://example.org/münchen/"),
        ("re:/ü+/", "https://example.org/üü/"),
        ("re:a b", "https://example.org/a b"),
        (r"re:\d{4}/[a-z]+$", "https://example.org/2026/ab"),
        (r"re:a\[b", "https://example.org/?a[b"),
        (r"re:^HTTP://Example\.ORG/A\S+", "http://example.org/Abc"),
        (r"re:^https?://(?:WWW\.)?Example\.org/", "https://www.example.org/"),
        (r"re:^http://example\.org:80/a", "http://example.org/a"),
        (r"re:^https://example\.org:443$", "https://example.org"),
        (r"re:^http://[A-Z]+\.org:8080/A", "http://example.org:8080/A"),
        (r"re:^https://Bücher\.example/ü$", "https://xn--bcher-kva.example/%C3%BC"),
        ("re:#?a", "https://example.org/a"),
        ("re:^ftp:|a", "https://example.org/a"),
    ],
)
def test_a_pattern_meets_what_it_means(pattern: str, href: str) -> None:
    assert meets(pattern, href)


@pytest.mark.parametrize(
    ("pattern", "href"),
    [
        ("https://example.org/a*", "https://example.org/b"),
        ("https://example.org/A*", "https://example.org/a"),
        ("https://example.org/*", "http://example.org/a"),
        ("https://example.org/*", "https://example.org:8443/a"),
        ("https://example.org", "https://example.org/a"),
    ],
)
def test_and_nothing_else(pattern: str, href: str) -> None:
    assert not meets(pattern, href)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "scheme"),
        ("www.example.org/*", "scheme"),
        ("ftp://example.org/*", "scheme"),
        ("https:/example.org/*", "://"),
        ("https://example.org/*#top", "#"),
        ("https://example.org/a#b", "#"),
        ("https://me:secret@example.org/*", "user"),
        ("https://example.org/*/../a", "/../"),
        ("https://exa mple.org/*", "host"),
        ("https://", "URL"),
        ("re:[äö]", "several"),
        ("re:^ftp:", "begin"),
        (r"re:^www\.example\.org/", "begin"),
        ("re:/a#b", "#"),
        ("http://*.example.org:99999/*", "port"),
    ],
)
def test_one_that_can_meet_none_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match="can match no URL: ") as refused:
        Scope(ScopeRules("any", exclude=(pattern,)))
    assert reason in str(refused.value)


def test_prefixes_and_domains_are_brought_to_the_form_of_urls() -> None:
    prefixes = Scope(ScopeRules("prefixes", prefixes=("HTTPS://Bücher.example:443/Ä b",)))
    url = URLS.parse("https://xn--bcher-kva.example/%c3%84%20b/c")
    assert url is not None
    assert isinstance(prefixes.allows(url), InScope)
    with pytest.raises(ValueError, match="fragment"):
        Scope(ScopeRules("prefixes", prefixes=("https://example.org/#a",)))
    for domain in ("Bücher.example", "*.bücher.example", ".xn--bcher-kva.EXAMPLE"):
        assert isinstance(Scope(ScopeRules("domains", domains=(domain,))).allows(url), InScope)
    for wrong in ("a.*.example", "example.org:8080", "https://example.org", "*", ""):
        with pytest.raises(ValueError, match="no domain name"):
            Scope(ScopeRules("domains", domains=(wrong,)))

"""Requisites of pages: which are fetched, their tickets, and what is followed once one is a page."""

import msgspec
import pytest

from gregor.schemas.messages import Link, Page, Ticket
from gregor.worker.config.settings import Config, replace
from gregor.worker.links.requisites import DEEPEST, Requisites
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.targets import Target, Targets
from gregor.worker.links.tickets import needed, of_stored, redirected, referred
from gregor.worker.web.urls import Url, Urls

URLS = Urls()
SCOPE = Scope(ScopeRules(exclude=("*/ads/*",)), ["h"])
PAGE = Ticket("http://h/", "http://h/", "h", depth=2, hops=3, label="l")
SHEET = msgspec.structs.replace(PAGE, requisite=True, hops=1)


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def target(text: str) -> Target:
    return Targets(URLS, lambda: SCOPE).target(url(text))


def fates(ticket: Ticket, *references: tuple[str, str], stored: int = 0, **settings: object) -> list[str]:
    config = replace(Config(), requisites=True, **settings)
    fate = Requisites(config, lambda: SCOPE, lambda: stored).fates(ticket)
    return [fate(target(href), kind) for href, kind in references]


@pytest.mark.parametrize(
    ("href", "anywhere", "within"),
    [
        ("http://h/x.png", "sent", "sent"),
        ("http://cdn/x.png", "sent", "scope: scope host"),
        ("http://cdn/ads/x.png", "scope: exclude */ads/*", "scope: exclude */ads/*"),
    ],
)
def test_they_may_be_anywhere_that_is_not_excluded(href: str, anywhere: str, within: str) -> None:
    assert fates(PAGE, (href, "img")) == [anywhere]
    assert fates(PAGE, (href, "img"), requisites_scope="scope") == [within]


def test_each_counts_once_against_the_bound_of_its_page_and_all_against_that_of_the_crawl() -> None:
    three = ("http://h/1", "img"), ("http://h/2", "img"), ("http://h/1", "srcset")
    assert fates(PAGE, *three, max_requisites=1) == ["sent", "budget", "sent"]
    assert fates(PAGE, *three, max_requisites_in_all=5, stored=5) == ["budget"] * 3


def test_of_a_requisite_only_what_its_styles_name_is_fetched_and_that_not_without_end() -> None:
    assert fates(SHEET, ("http://h/1", "style"), ("http://h/2", "css"), ("http://h/3", "img")) == [
        "sent",
        "sent",
        "requisite",
    ]
    assert fates(msgspec.structs.replace(SHEET, hops=DEEPEST), ("http://h/1", "css")) == ["hops"]


def test_its_ticket_is_as_deep_as_its_page_and_keeps_its_mark() -> None:
    image = needed(PAGE, url("http://h/i"), "img", 1.0)
    assert (image.depth, image.hops, image.requisite, image.label, image.via) == (2, 0, True, "l", "http://h/")
    assert needed(SHEET, url("http://h/i"), "css", 1.0).hops == 2
    assert redirected(image, url("http://h/j"), 1.0).requisite
    assert referred(PAGE, url("http://h/i"), "img", 1.0) == image
    assert referred(PAGE, url("http://h/i"), "a", 1.0).requisite is False


def test_what_a_requisite_links_to_is_followed_when_it_is_a_page() -> None:
    links = [Link(f"http://h/{kind}", kind, fate=fate) for kind, fate in (("a", "requisite"), ("img", "requisite"))]
    page = Page("http://h/", "http://h/", "h", 1, "new", 200, 1.0, depth=2, links=[*links, Link("http://h/css", "css")])
    assert [ticket.href for ticket in of_stored(page, SHEET, URLS.parse, 1.0)] == ["http://h/css"]
    assert [(ticket.link, ticket.requisite) for ticket in of_stored(page, PAGE, URLS.parse, 1.0)] == [
        ("a", False),
        ("img", True),
        ("css", True),
    ]

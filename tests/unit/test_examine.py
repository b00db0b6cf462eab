"""What an answer says, and which of its links are published: fates, redirects, sitemaps, links of headers."""

import asyncio
import errno
import gzip
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gregor.schemas.messages import Ticket
from gregor.worker.base.shortage import LocalShortage
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.borders.transport import Response
from gregor.worker.config.settings import Config, replace
from gregor.worker.examine import Examiner
from gregor.worker.extract import rules
from gregor.worker.extract.crawled import NOTHING, Extraction
from gregor.worker.fetch.outcomes import Broken, Fetched
from gregor.worker.frontier.sent import RecentlySent, SentByDepth
from gregor.worker.links.scope import Scope, ScopeRules
from gregor.worker.links.tickets import of_stored
from gregor.worker.links.traps import Traps
from gregor.worker.observe.stats import Stats
from gregor.worker.read.document import Document, Extract
from gregor.worker.read.processors import Processors
from gregor.worker.web.urls import Url, Urls

URLS = Urls()
HTML = b'<title>t</title><a href="/a">a</a><a href="/b" rel=nofollow>b</a><a href="http://other/">o</a><img src=i.png>'


def examiner(
    sent: RecentlySent | None = None,
    extraction: Extraction = NOTHING,
    processors: Processors | None = None,
    **settings: Any,
) -> Examiner:
    scope = Scope(ScopeRules(), ["host"])
    return Examiner(
        replace(Config(), **settings),
        urls=URLS,
        scope=lambda: scope,
        now=lambda: 1000.0,
        stats=Stats(),
        processors=processors or Processors(),
        sent=sent or RecentlySent(100),
        traps=Traps(),
        extraction=extraction,
    )


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


def ticket(target: Url, **fields: object) -> Ticket:
    return msgspec.structs.replace(Ticket(target.href, target.key, target.host), **fields)


def response(body: bytes, *headers: tuple[str, str]) -> Response:
    kept = SpooledBody(cap=10_000_000)
    kept.write(body)
    fields = [("Content-Type", "text/html; charset=utf-8"), *headers]
    return Response(200, "OK", fields, "HTTP/1.1", kept, None, b"", b"", "127.0.0.1", 0.0, 0.0)


def published(tickets: Sequence[Ticket]) -> list[str]:
    return [one.href for one in tickets]


def test_every_link_is_stored_with_its_fate() -> None:
    one = examiner()
    start = url("http://host/")
    found = one.examine(ticket(start), start, response(HTML))
    assert published(found.tickets) == ["http://host/a"]
    assert [(link.url, link.fate) for link in found.page.links] == [
        ("http://host/a", "sent"),
        ("http://host/b", "nofollow"),
        ("http://other/", "scope: scope host"),
        ("http://host/i.png", "kind"),
    ]
    assert found.tickets[0].depth == 1
    assert found.tickets[0].via == start.key


def test_no_secret_of_a_request_is_stored() -> None:
    start = url("http://host/")
    sent = b"GET / HTTP/1.1\r\nHost: host\r\nAuthorization: Basic c2VjcmV0\r\nCookie: id=secret\r\n\r\n"
    answer = msgspec.structs.replace(response(HTML), request_head=sent, response_head=b"HTTP/1.1 200 OK\r\n\r\n")
    page = examiner().examine(ticket(start), start, answer).page
    assert page.request_head == b"GET / HTTP/1.1\r\nHost: host\r\nAuthorization: ***\r\nCookie: ***\r\n\r\n"
    assert page.response_head == answer.response_head


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"nofollow": False}, ["http://host/a", "http://host/b"]),
        ({"max_depth": 0}, []),
        ({"max_links": 0}, []),
        ({"sitemap_only": True}, []),
    ],
)
def test_settings_decide_what_is_followed(settings: dict[str, Any], expected: list[str]) -> None:
    one = examiner(**settings)
    start = url("http://host/")
    assert published(one.examine(ticket(start), start, response(HTML)).tickets) == expected


def test_a_link_is_published_once_and_not_again_while_it_is_remembered() -> None:
    one = examiner()
    start = url("http://host/")
    twice = one.examine(ticket(start), start, response(b"<a href=/a>1</a><a href=/a#x>2</a>"))
    assert published(twice.tickets) == ["http://host/a"]


def test_where_depth_decides_a_link_is_published_again_only_on_a_shorter_way() -> None:
    start, sent = url("http://host/"), SentByDepth(100)
    one = examiner(sent, max_depth=5)
    sent.learn([ticket(url("http://host/a"), depth=2)])
    assert published(one.examine(ticket(start, depth=1), start, response(b"<a href=/a>")).tickets) == []
    assert published(one.examine(ticket(start, depth=0), start, response(b"<a href=/a>")).tickets) == ["http://host/a"]


def test_x_robots_tag_closes_the_links_of_a_page() -> None:
    one = examiner()
    start = url("http://host/")
    found = one.examine(ticket(start), start, response(HTML, ("X-Robots-Tag", "nofollow, noindex")))
    assert found.tickets == []
    assert set(found.page.directives) == {"nofollow", "noindex"}


def test_links_that_were_published_lately_are_not_published_again() -> None:
    sent, page = RecentlySent(4), url("http://host/page")
    for name in "abc":  # the first two are in the older half by then
        sent.learn([ticket(url(f"http://host/{name}"))])
    links = "".join(f"<a href=/{name}>x</a>" for name in "dacbde")
    found = examiner(sent).examine(ticket(page), page, response(links.encode()))
    assert [one.href for one in found.tickets] == ["http://host/d", "http://host/e"]
    assert {link.fate for link in found.page.links} == {"sent"}


@pytest.mark.parametrize(("follow", "fate"), [(True, "sent"), (False, "kind")])
def test_a_refresh_of_the_headers_is_read_as_that_of_a_page(follow: bool, fate: str) -> None:
    one = examiner(meta_refresh=follow)
    start = url("http://host/x/")
    found = one.examine(ticket(start), start, response(b"<base href=/y/>", ("Refresh", "3; URL='z'")))
    assert [(link.url, link.kind, link.fate) for link in found.page.links] == [("http://host/x/z", "refresh", fate)]
    for says_nowhere in ("3", "z", "", "3; url=http://"):
        assert not one.examine(ticket(start), start, response(b"x", ("Refresh", says_nowhere))).page.links


def test_the_canonical_link_of_a_header_is_a_link() -> None:
    one = examiner()
    start = url("http://host/x")
    found = one.examine(ticket(start), start, response(b"<p>x", ("Link", '</y>; rel="canonical"')))
    assert found.page.canonical == "http://host/y"
    assert published(found.tickets) == ["http://host/y"]


@pytest.mark.parametrize(("octets", "target"), [("é".encode(), "%C3%A9"), (b"\xe9", "%E9")])
def test_octets_in_the_urls_of_headers_are_what_they_are_in_a_location(octets: bytes, target: str) -> None:
    one = examiner(meta_refresh=True)
    start, raw = url("http://host/x"), octets.decode("latin-1")
    headers = ("Link", f"<{raw}>; rel=canonical"), ("Refresh", f"0; url={raw}")
    links = one.examine(ticket(start), start, response(b"<p>x", *headers)).page.links
    assert [(link.kind, link.url) for link in links] == [
        ("canonical", f"http://host/{target}"),
        ("refresh", f"http://host/{target}"),
    ]


def test_what_a_sitemap_says_travels_once_and_again_when_it_changes() -> None:
    start, known = url("http://host/sitemap.xml"), RecentlySent(100)

    def read(said: str, **settings: Any) -> list[tuple[str, float, str]]:
        found = examiner(known, sitemaps=True, **settings).examine(
            ticket(start, link="sitemap"), start, response(f"<urlset><url><loc>/p</loc>{said}</url></urlset>".encode())
        )
        known.learn(found.tickets)
        return [(one.href, one.lastmod, one.changefreq) for one in found.tickets]

    old = "<lastmod>1970-01-01T00:00:10Z</lastmod><changefreq>Daily</changefreq>"
    new = old.replace("10Z", "20Z")
    assert read(old) == [("http://host/p", 0.0, "")], "nobody asks when nothing is visited again"
    assert read(old, revisit=60.0) == [("http://host/p", 10.0, "daily")]
    assert read(old, revisit=60.0) == []
    assert read(new, revisit=60.0) == [("http://host/p", 20.0, "daily")]
    assert read("", revisit=60.0) == []


def test_a_sitemap_is_links_too() -> None:
    one = examiner(sitemaps=True)
    start = url("http://host/sitemap.xml")
    body = b"<urlset><url><loc>http://host/p</loc><priority>0.9</priority></url><url><loc>http://</loc></url></urlset>"
    found = one.examine(ticket(start, link="sitemap"), start, response(body))
    assert [(one.href, one.priority, one.link) for one in found.tickets] == [("http://host/p", 2, "url")]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>http://host/a</loc></url></urlset>",
        gzip.compress(
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- made --><s:urlset xmlns:s='x'><s:url><s:loc>/a</s:loc></s:url>"
        ),
    ],
)
def test_a_seed_that_is_a_sitemap_is_read_as_one_if_sitemaps_are(body: bytes) -> None:
    start = url("http://host/sitemap.xml")
    cases: tuple[tuple[dict[str, Any], int, list[str]], ...] = (
        ({"sitemaps": True}, 0, ["http://host/a"]),
        ({"sitemap_only": True}, 0, ["http://host/a"]),
        ({"sitemaps": True}, 1, []),  # a page's link to it announces nothing
        ({}, 0, []),
    )
    for settings, depth, sent in cases:
        one = examiner(**settings)
        assert published(one.examine(ticket(start, depth=depth), start, response(body)).tickets) == sent


def test_an_entry_of_a_sitemap_that_is_a_sitemap_is_read_as_one() -> None:
    """Some list sitemaps like pages; a page that a sitemap lists is the page it is."""
    entry, listing = url("http://host/more.xml"), b"<urlset><url><loc>http://host/a</loc></url></urlset>"
    index = b"<sitemapindex><sitemap><loc>http://host/deeper.xml</loc></sitemap></sitemapindex>"
    one = examiner(sitemaps=True)
    for body, links in ((listing, [("http://host/a", "url")]), (index, [("http://host/deeper.xml", "sitemap")])):
        found = one.examine(ticket(entry, link="url", depth=1), entry, response(body))
        assert [(each.href, each.link) for each in found.tickets] == links
    found = one.examine(ticket(entry, link="url", depth=1), entry, response(b"<p><a href=/p>x</a>"))
    assert [(each.href, each.link) for each in found.tickets] == [("http://host/p", "a")]
    unasked = examiner().examine(ticket(entry, link="url", depth=1), entry, response(listing))
    assert published(unasked.tickets) == []


def test_links_beyond_the_bound_are_said_on_the_page_and_counted() -> None:
    start = url("http://host/")
    one = examiner(max_links=3)
    assert one.examine(ticket(start), start, response(HTML)).page.unread == "links"
    assert examiner(max_links=4).examine(ticket(start), start, response(HTML)).page.unread == ""
    assert one.examine(ticket(start), start, response(b"<p>" + b"a " * (9 << 19))).page.unread == "size"
    assert one._stats.unread == {"links": 1, "size": 1}


def test_a_redirect_keeps_the_depth_and_counts_hops() -> None:
    one = examiner(max_redirects=2)
    start = url("http://host/old")
    tickets, link = one.redirect(ticket(start, depth=3, hops=1), start, "/new")
    assert link is not None
    assert [(t.href, t.depth, t.hops, t.link) for t in tickets] == [("http://host/new", 3, 2, "redirect")]
    tickets, link = one.redirect(ticket(start, hops=2), start, "/new")
    assert link is not None
    assert (tickets, link.fate) == ([], "hops")


def test_a_redirect_out_of_scope_is_recorded_and_not_followed() -> None:
    one = examiner()
    start = url("http://host/old")
    tickets, link = one.redirect(ticket(start), start, "http://other/")
    assert link is not None
    assert (tickets, link.fate) == ([], "scope: scope host")


def test_a_base_that_is_in_every_link_does_not_make_a_page_of_megabytes() -> None:
    start = url("http://host/")
    body = f"<base href='http://host/{'y' * 3900}/'>{''.join(f'<a href={n}>' for n in range(100))}".encode()
    page = examiner(max_links=100).examine(ticket(start), start, response(body)).page
    assert len(page.links) == 7  # of 3,916 characters each
    assert page.unread == "links"
    assert len(examiner(max_links=1000).examine(ticket(start), start, response(body)).page.links) == 76


RULES = """
[[item]]
name = "page"
id = "title"
[item.fields]
title = "title"
links = {css = "a::attr(href)", many = true}
[[links]]
name = "first"
select = "a[href='/a']"
priority = 4
[[links]]
name = "second"
select = "p"
follow = false
"""


def extraction(folder: Path) -> Extraction:
    (folder / "rules.toml").write_text(RULES)
    return Extraction(*rules.read_all([folder / "rules.toml"]))


@pytest.mark.parametrize("filler", [b"", b"<!-- " + b"x" * 600_000 + b" -->"])
def test_items_come_with_the_page_compared_with_those_of_its_version_before(filler: bytes, tmp_path: Path) -> None:
    start, reader = url("http://host/"), examiner(extraction=extraction(tmp_path))
    first = asyncio.run(reader.of(ticket(start), start, Fetched(response(HTML + filler))))
    visited = first.visited(ticket(start), None, start, None, None, 0.0)
    assert visited.page is not None
    (item,) = visited.page.items
    assert (item.change, item.id) == ("new", '["t"]')
    second = asyncio.run(reader.of(ticket(start), start, Fetched(response(HTML + b"<a href=/z>z</a>" + filler))))
    again = second.visited(ticket(start), None, start, None, visited.page, 0.0)
    assert again.page is not None
    assert [(each.change, each.changed_fields) for each in again.page.items] == [("changed", ("links",))]
    assert again.without_content().extracted is None


def test_rules_weigh_links_and_say_which_are_never_followed(tmp_path: Path) -> None:
    body = HTML + b"<p><a href=/never>n</a></p>"
    start, reader = url("http://host/"), examiner(extraction=extraction(tmp_path))
    content = reader.examine(ticket(start), start, response(body))
    assert [(follow.href, follow.priority) for follow in content.tickets] == [("http://host/a", 4)]
    fates = {link.url: (link.fate, link.priority) for link in content.page.links}
    assert fates["http://host/never"] == ("links: second", 0)
    assert fates["http://host/a"] == ("sent", 4)
    assert fates["http://host/b"] == ("nofollow", 0)
    (again,) = of_stored(content.page, ticket(start), URLS.parse, 1.0)
    assert again.priority == 4, "also where a settle that was cut short goes on"


def test_a_requisite_gives_no_items(tmp_path: Path) -> None:
    start = url("http://host/")
    content = examiner(extraction=extraction(tmp_path)).examine(ticket(start, requisite=True), start, response(HTML))
    assert content.extracted is None


def test_a_small_pdf_is_read_beside_the_event_loop() -> None:
    """Whatever it takes: each is read by a process of its own."""

    class Slow:
        types = ("application/pdf",)

        def process(self, document: Document) -> Extract:
            began.set()
            assert goes_on.wait(20)  # the loop goes on meanwhile, or nobody would say so
            return Extract(text="read")

    async def run() -> None:
        reading = asyncio.create_task(
            examiner(processors=Processors([Slow()])).of(ticket(start), start, Fetched(answer))
        )
        assert await asyncio.to_thread(began.wait, 20)
        goes_on.set()
        examined = await reading
        assert examined.page is not None and examined.page.text == "read"

    began, goes_on = threading.Event(), threading.Event()
    start, answer = url("http://host/a.pdf"), response(b"%PDF-1.4 small")
    answer.headers[:] = [("Content-Type", "application/pdf")]
    asyncio.run(run())


class Failing:
    """A processor that fails so."""

    types = ("text/html",)

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def process(self, document: Document) -> Extract:
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "local"),
    [
        (OSError(errno.EMFILE, "Too many open files"), True),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp"), True),
        (OSError(errno.ENOENT, "No such file or directory"), False),
        (MemoryError(), False),
        (ValueError("bad page"), False),
    ],
)
def test_what_this_machine_lacks_while_it_reads_is_no_fault_of_the_document(fault: Exception, local: bool) -> None:
    processors = Processors([Failing(fault)])
    target = url("http://host/")
    examined = examiner(processors=processors).of(ticket(target), target, Fetched(response(HTML)))
    if local:
        with pytest.raises(LocalShortage):
            asyncio.run(examined)
    else:
        outcome = asyncio.run(examined).outcome
        assert isinstance(outcome, Broken) and outcome.cause == "processor"

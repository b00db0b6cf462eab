import gzip
import io
import time
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gregor.worker.read.sitemaps import parse as sitemaps
from gregor.worker.read.sitemaps.mend import escaped
from gregor.worker.read.sitemaps.parse import Sitemap, SitemapUrl, parse

HREF = "http://a.test/sitemap.xml"
URLSET = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


def _urls(count: int) -> bytes:
    entries = "".join(f"<url><loc>http://a.test/{number}</loc></url>" for number in range(count))
    return (URLSET + entries + "</urlset>").encode()


def _locs(found: Sitemap) -> list[str]:
    return [url.loc for url in found.urls]


def test_entries_have_dates_frequencies_and_priorities() -> None:
    entry = "<loc> http://a.test/?a&amp;b </loc><lastmod>1970-01-02</lastmod><changefreq>Daily</changefreq>"
    found = parse(f"{URLSET}<url>{entry}<priority>1.1</priority></url></urlset>".encode(), HREF)
    assert found == Sitemap("urlset", [SitemapUrl("http://a.test/?a&b", 86400.0, "daily", 0.5)])


@pytest.mark.parametrize(
    "wrap",
    [bytes, gzip.compress, lambda body: gzip.compress(gzip.compress(body)), lambda body: b"\xef\xbb\xbf \n" + body],
)
def test_what_it_is_is_told_by_its_bytes(wrap: object) -> None:
    assert callable(wrap)
    body = wrap(_urls(3))
    for content_type in (None, "text/plain", "application/gzip"):
        assert len(parse(body, HREF, content_type).urls) == 3
        assert len(parse(io.BytesIO(body), HREF, content_type).urls) == 3


def test_text_has_an_address_a_line() -> None:
    found = parse(b"\xef\xbb\xbfhttp://a.test/1\r\n\n# no\nHTTPS://a.test/2", HREF)
    assert (found.kind, _locs(found)) == ("text", ["http://a.test/1", "HTTPS://a.test/2"])


def test_the_bounds_hold_and_the_cut_is_told() -> None:
    body = _urls(100)
    assert not parse(body, HREF, max_urls=100).truncated
    few = parse(body, HREF, max_urls=10)
    assert (len(few.urls), few.truncated) == (10, True)
    small = parse(body, HREF, max_bytes=1000)
    assert 0 < len(small.urls) < 100
    assert small.truncated
    text = parse(b"http://a.test/\n" * 50, HREF, max_urls=10)
    assert (len(text.urls), text.truncated) == (10, True)


def test_what_was_read_before_a_fault_is_kept() -> None:
    body = _urls(5000)
    for broken in (body[:60_000], gzip.compress(body)[:6000], body[:60_000] + b"&k; </x>" + body[60_000:]):
        found = parse(broken, HREF)
        assert found.broken
        assert len(found.urls) > 500
    assert parse(b"<html><body>Not found</body></html>", HREF).broken
    assert parse(b"not a sitemap", HREF).broken


@pytest.mark.parametrize(
    "hostile",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>' + _urls(1).replace(b"/0", b"/&b;"),
        gzip.compress(b"<urlset>" + b" " * 60_000_000),
        b"<urlset>" + b"<url>" * 300_000,
        b"<urlset><url><loc>" + b"x" * 3_000_000,
        b"http://a.test/" * 300_000,
        b"\x1f\x8b" * 1000,
        gzip.compress(gzip.compress(b"") * 1_000_000),
    ],
    ids=["entities", "bomb", "deep", "long", "line", "gzip", "members"],
)
def test_hostile_bodies_give_nothing_and_cost_little(hostile: bytes) -> None:
    started = time.process_time()
    assert not [url for url in parse(hostile, HREF).urls if len(url.loc) > 9000 or "aaa" in url.loc]
    assert time.process_time() - started < 3


def test_an_index_names_sitemaps_even_when_cut_short() -> None:
    found = parse(
        b"<sitemapindex><sitemap><loc>http://a.test/1</loc></sitemap><sitemap><loc>http://a.test/2</loc><last", HREF
    )
    assert (found.kind, found.sitemaps, found.broken) == ("index", ["http://a.test/1", "http://a.test/2"], True)


_PIECES = st.sampled_from(
    [
        "<urlset>",
        "<url>",
        "<loc>",
        "http://a",
        "</loc>",
        "</url>",
        "<rss>",
        "<item>",
        "<link/>",
        "&x;",
        "<![CDATA[",
        "\n",
        "<feed>",
    ]
)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.lists(_PIECES, max_size=40).map(lambda pieces: "".join(pieces).encode()))
def test_any_body_may_be_a_sitemap(body: bytes) -> None:
    parse(body, HREF)
    parse(gzip.compress(body), HREF)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2010-06-25 15:00:00", "2010-06-25T15:00:00Z"),
        ("2010-06-25 15:00:00+02:00", "2010-06-25T13:00:00Z"),
        ("2010-06-25t15:00z", "2010-06-25T15:00:00Z"),
        ("2010-06-25 soon", None),
        ("2010-06-25-15:00:00", None),
        ("2010-06-25 15:00:00 UTC", "2010-06-25T15:00:00Z"),
        ("2010-06-25T15:00:00 GMT", "2010-06-25T15:00:00Z"),
        ("2010-06-25T15:00:00 +02:00", "2010-06-25T13:00:00Z"),
    ],
)
def test_a_date_of_a_database_is_one(text: str, expected: str | None) -> None:
    assert sitemaps.parse_date(text) == (expected and datetime.fromisoformat(expected).timestamp())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2014-06-03Z", "2014-06-03T00:00:00Z"),
        ("2014-06-03+02:00", "2014-06-02T22:00:00Z"),
        ("2014-06-03-05:00", "2014-06-03T05:00:00Z"),
        ("2014-06-03T24:00:00Z", "2014-06-04T00:00:00Z"),
        ("2014-12-31T24:00:00.000-01:00", "2015-01-01T01:00:00Z"),
        ("2014-06-03T24:00:01Z", None),
        ("2014-06-03T24:01Z", None),
        ("2014-06-03+25:00", None),
        ("2014-06-03+", None),
    ],
)
def test_a_date_of_xml_schema_is_one(text: str, expected: str | None) -> None:
    assert sitemaps.parse_date(text) == (expected and datetime.fromisoformat(expected).timestamp())


@settings(deadline=None)
@given(st.text(max_size=40) | st.text(alphabet="0123456789-:TZ+. ", max_size=30))
def test_any_text_may_be_a_date_or_a_priority(text: str) -> None:
    sitemaps.parse_date(text)
    assert 0.0 <= sitemaps.parse_priority(text) <= 1.0


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("http://a.test/?a=1&b=2", "http://a.test/?a=1&b=2"),
        ("http://a.test/?a=1&copy=2&b", "http://a.test/?a=1&copy=2&b"),
        ("http://a.test/?a=1&amp;b=2", "http://a.test/?a=1&b=2"),
        ("http://a.test/?a=1&#38;b=2&#x26;c", "http://a.test/?a=1&b=2&c"),
        ("http://a.test/?&", "http://a.test/?&"),
        ("http://a.test/&nbsp;", "http://a.test/&nbsp;"),
        ("<![CDATA[http://a.test/?a&b&amp;c]]>", "http://a.test/?a&b&amp;c"),
        ("<![CDATA[http://a.test/?a]]>&b", "http://a.test/?a&b"),
    ],
)
def test_an_ampersand_that_nobody_escaped_is_one(written: str, read: str) -> None:
    found = parse(
        f"{URLSET}<url><loc>{written}</loc></url><url><loc>http://a.test/2</loc></url></urlset>".encode(), HREF
    )
    assert [url.loc for url in found.urls] == [read, "http://a.test/2"]
    assert not found.broken


@given(st.text(alphabet="&amp;#x26 <![CDATA[]]>x", max_size=60), st.lists(st.integers(0, 60)))
def test_text_is_mended_alike_in_any_pieces(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert "".join(escaped(pieces)) == "".join(escaped([text]))


@pytest.mark.parametrize(
    "preface", ["Warning: it is late in /srv/x.php<br />\n", "<!-- made by us -->", "\x00\x01", "<b>x</b>"]
)
def test_what_stands_before_a_sitemap_is_passed_over(preface: str) -> None:
    found = parse(f"{preface}{URLSET}<url><loc>http://a.test/1</loc></url></urlset>".encode(), HREF)
    assert [url.loc for url in found.urls] == ["http://a.test/1"]


def test_names_may_be_written_in_capitals() -> None:
    found = parse(b"<URLSET><Url><LOC>http://a.test/1</LOC><LastMod>2020</LastMod></Url></URLSET>", HREF)
    assert [(url.loc, url.lastmod) for url in found.urls] == [("http://a.test/1", 1577836800.0)]


_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
_TWO = ["http://a.test/1", "http://a.test/2"]


@pytest.mark.parametrize(
    "body",
    [
        "<urlset><url><loc>http://a.test/1</url><url><loc>http://a.test/2</loc></url></urlset>",
        "<urlset><url><loc>http://a.test/1</loc><url><loc>http://a.test/2</loc></url></urlset>",
        f"<s:urlset xmlns:s='{_SITEMAP}'><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2</loc></url>"
        "</s:urlset>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        " xmlns='http://my.netscape.com/rdf/simple/0.9/'><item><link>http://a.test/1</link></item>"
        "<item><link>http://a.test/2</link></item></rdf:RDF>",
        "<feed><entry><link rel='Alternate' href='http://a.test/1'/></entry><entry><link rel='self' href='/s'/>"
        "<link rel='http://www.iana.org/assignments/relation/alternate' href='http://a.test/2'/></entry></feed>",
        "http://a.test/1\rhttp://a.test/2",
    ],
)
def test_a_missing_end_tag_namespace_or_line_feed_costs_no_entry(body: str) -> None:
    found = parse(body.encode(), "http://a.test/")
    assert [entry.loc for entry in found.urls] == _TWO


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_needs_no_byte_order_mark_before_an_xml_declaration(encoding: str) -> None:
    body = "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://a.test/1</loc></url></urlset>"
    assert [entry.loc for entry in parse(body.encode(encoding), "http://a.test/").urls] == _TWO[:1]


def test_what_follows_the_last_gzip_member_is_no_fault() -> None:
    body = gzip.compress(b"<urlset><url><loc>http://a.test/1</loc></url></urlset>")
    for more in (b"\0\0\0", b"junk"):
        found = parse(body + more, "http://a.test/")
        assert ([entry.loc for entry in found.urls], found.broken) == (_TWO[:1], False)


def test_feeds_date_their_entries_in_more_than_one_way() -> None:
    rss = (
        "<rss xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><item><link>http://a.test/1</link>"
        "<dc:date>1970-01-02t00:00:00z</dc:date></item></channel></rss>"
    )
    atom = "<feed><entry><link href='http://a.test/1'/><modified>1970-01-02T00:00:00Z</modified></entry></feed>"
    for body in (rss, atom):
        assert [entry.lastmod for entry in parse(body.encode(), "http://a.test/").urls] == [86_400.0]


@pytest.mark.parametrize(("rel", "known"), [("rel='alternate'", True), ("rel='x Alternate'", True), ("", False),
                                            ("rel='canonical'", False)])  # fmt: skip
def test_a_translation_is_named_by_an_alternate_link_alone(rel: str, known: bool) -> None:
    body = (
        f"<urlset xmlns='{_SITEMAP}' xmlns:x='http://www.w3.org/1999/xhtml'><url><loc>http://a.test/1</loc>"
        f"<x:link {rel} hreflang='de' href='/de'/></url></urlset>"
    )
    [entry] = parse(body.encode(), "http://a.test/", extensions=True).urls
    assert [one.name for one in entry.extensions] == ["link"] * known


def test_an_extension_is_known_without_its_namespace_too() -> None:
    body = (
        f"<urlset xmlns='{_SITEMAP}'><url><loc>http://a.test/1</loc><link rel='alternate' hreflang='de' href='/de'/>"
        "<image:image><image:loc>http://a.test/i</image:loc></image:image></url></urlset>"
    )
    [entry] = parse(body.encode(), "http://a.test/", extensions=True).urls
    assert [one.name for one in entry.extensions] == ["link", "image"]
    assert entry.extensions[1].values["loc"] == ["http://a.test/i"]


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        (b"<urlset/>", True),
        (b" \n<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>", True),
        (b"<?xml version='1.0'?><?xml-stylesheet href='x'?><!-- <html> --><urlset>", True),
        (b"<html><body><urlset>", False),
        (b"<!-- <urlset> --><html>", False),
        (b"<urlsets>", False),
        (b"http://host/a\n", False),
        (b"<?a?>" * 10_000, False),
        (b"", False),
    ],
)
def test_a_sitemap_is_told_by_its_root(body: bytes, is_one: bool) -> None:
    assert sitemaps.is_sitemap(body) is is_one
    assert sitemaps.is_sitemap(gzip.compress(body)) is is_one

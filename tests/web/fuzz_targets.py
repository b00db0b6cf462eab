"""What the fuzzer calls with each kind of input, and what must hold of the answers beyond "no exception"."""

import gzip
from collections.abc import Callable

from webencodings.labels import LABELS

from gregor.worker.adapters.transport import framing, http1
from gregor.worker.read import css
from gregor.worker.read.html import parse as html
from gregor.worker.read.html import references, xhtml
from gregor.worker.read.sitemaps import parse as sitemaps
from gregor.worker.robots import file as robots_file
from gregor.worker.robots.answers import meaning
from gregor.worker.robots.match import Decision
from gregor.worker.robots.meta import meta_robots
from gregor.worker.web import http_headers, media_type
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.encodings import sniff
from gregor.worker.web.urls import Url, Urls, robots_url

BASE = "http://base.example/dir/page?q=1"
MAX_LINKS = 2000
MAX_SITEMAP = 1 << 20
NOW = 1_767_225_600.0
ENCODINGS = sorted(set(LABELS.values()))
RULE_SETS = (
    CanonicalRules(),
    CanonicalRules(session_ids=True, tracking_parameters=True, index_files=True, sort_query=True),
)


def fuzz_robots(data: bytes) -> None:
    """Whatever a robots.txt holds, it decides about any URL; the file itself may always be read."""
    rules = robots_file.parse(data, "gregor", f"{BASE}robots.txt")
    decisions: list[Decision] = [rules.decide(path) for path in ("/", "/private/a", "/a%2fb?x=*", _text(data)[:500])]
    assert all(decision.line >= 0 for decision in decisions)
    assert rules.decide("http://base.example/robots.txt").allowed
    assert rules.crawl_delay is None or rules.crawl_delay >= 0
    for status in (0, 200, 301, 404, 503):
        meaning(status, {"location": _text(data)[:2000]}, "http://base.example/robots.txt")


def fuzz_url(data: bytes) -> None:
    """Parsing and canonicalising reach a fixed point, and a URL's parts put together are the URL."""
    text = _text(data)
    for rules in RULE_SETS:
        urls = Urls(rules)
        for url in (urls.parse(text), urls.resolve(text, BASE), urls.resolve(text, BASE, "shift_jis")):
            if url is not None:
                _check(url, urls)


def _check(url: Url, urls: Urls) -> None:
    again = urls.parse(url.href)
    assert again == url, f"{again} is not {url}"
    key = urls.parse(url.key)
    assert key is not None
    assert key.key == url.key, f"{key.key} is not {url.key}"
    assert key.host == url.host
    assert url.origin + url.target == url.href
    assert url.host
    assert 0 <= url.port < 65536
    assert robots_url(url).startswith(f"{url.scheme}://")


def fuzz_html(data: bytes) -> None:
    """A page gives text and links that can be resolved; no more of both than its size allows."""
    encoding = sniff.sniff(data, None)
    text = sniff.decode(data, encoding)
    page = html.extract(text, encoding, MAX_LINKS)
    assert len(page.text) <= 3 * len(text) + 16
    assert len(page.links) <= MAX_LINKS
    urls = Urls()
    base = references.base_url(page.base, BASE)
    for link in page.links[:200]:
        urls.resolve(link.url, base, encoding)

    other = ENCODINGS[len(data) % len(ENCODINGS)]
    assert len(sniff.decode(data, other)) <= 2 * len(data) + 1
    urls.resolve(f"?{text[:200]}", base, other)
    xml = xhtml.extract(text, encoding, MAX_LINKS)
    assert xml is None or len(xml.links) <= MAX_LINKS
    assert sum(1 for _ in css.references(text)) <= len(text)


def fuzz_sitemap(data: bytes) -> None:
    """A sitemap, also a packed one, gives entries within its bounds; no other file is read."""
    for body in (data, gzip.compress(data, 1)[: len(data) + 10]):
        found = sitemaps.parse(body, BASE, max_urls=MAX_LINKS, max_bytes=MAX_SITEMAP)
        assert len(found.urls) + len(found.children) <= MAX_LINKS
        for entry in (*found.urls, *found.children):
            assert 0.0 <= entry.priority <= 1.0
            assert "root:" not in entry.loc


def fuzz_headers(data: bytes) -> None:
    """Header values as they come: octets that were read as latin-1."""
    value = data.decode("latin-1")
    media_type.extract(value)
    media_type.sniff(data, value)
    sniff.header_charset(value)
    http_headers.http_date(value)
    http_headers.any_date(value)
    wait = http_headers.retry_after(value, NOW)
    assert wait is None or 0 <= wait <= http_headers.LONGEST
    fresh = http_headers.freshness({"cache-control": value, "expires": value, "date": value}, NOW)
    assert fresh is None or fresh >= 0
    said = meta_robots([("robots", value), ("gregor", value)], [value], "gregor", NOW)
    assert said.noindex or said.unavailable_after is None or said.unavailable_after > NOW
    http_headers.canonical_link(value)
    references.refresh(value)
    try:
        head = http1.parse_head(b"HTTP/1.1 200 OK\r\n" + data)
        framed = framing.framing(head)
    except http1.MalformedHeadError:
        framed = framing.Framing(True, None)
    assert framed.length is None or framed.length >= 0
    chunks = framing.Dechunker()
    assert len(chunks.feed(data)) <= len(data)
    target = http_headers.redirect_target(302, value, BASE)
    assert target is None or target.startswith(("http://", "https://"))


def _text(data: bytes) -> str:
    """Text as a page gives it: mostly UTF-8, with lone surrogates where it isn't."""
    return data.decode("utf-8", "surrogateescape")


TARGETS: dict[str, Callable[[bytes], None]] = {
    "robots": fuzz_robots,
    "url": fuzz_url,
    "html": fuzz_html,
    "sitemap": fuzz_sitemap,
    "headers": fuzz_headers,
}

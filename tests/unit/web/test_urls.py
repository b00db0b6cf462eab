"""URLs: what is requested, what it is known by, whose politeness it is."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gregor.worker.web import urls
from gregor.worker.web.canonical import CanonicalRules
from gregor.worker.web.urls import Url, Urls, robots_url
from tests.unit.url_texts import hrefs, url_texts

URLS = Urls()
BASE = "https://example.com/a/b?c"


def parse(text: str) -> Url:
    url = URLS.parse(text)
    assert url is not None
    return url


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("http://Example.COM/", "example.com"),
        ("http://example.com:443/", "example.com"),
        ("https://example.com:80/", "example.com"),
        ("https://example.com:443/", "example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://[0:0::1]/", "[::1]"),
        ("http://[::1]:443/", "[::1]"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://user:pass@example.com:81/", "example.com:81"),
    ],
)
def test_host_is_the_politeness_key(text: str, host: str) -> None:
    assert parse(text).host == host


def test_a_name_written_as_absolute_is_the_same_host_but_another_url() -> None:
    absolute = parse("http://example.com.:8080/")
    assert absolute.host == parse("http://example.com:8080/").host
    assert absolute.hostname == "example.com."
    assert absolute.key != parse("http://example.com:8080/").key


@pytest.mark.parametrize(
    ("text", "scheme", "origin", "hostname", "port", "target"),
    [
        ("http://h", "http", "http://h", "h", 80, "/"),
        ("https://h:443/a?b=/c", "https", "https://h", "h", 443, "/a?b=/c"),
        ("http://h:443/a?", "http", "http://h:443", "h", 443, "/a?"),
        ("https://u:p@[::1]:8443/a#f", "https", "https://[::1]:8443", "::1", 8443, "/a"),
    ],
)
def test_parts(text: str, scheme: str, origin: str, hostname: str, port: int, target: str) -> None:
    url = parse(text)
    assert (url.scheme, url.origin, url.hostname, url.port, url.target) == (scheme, origin, hostname, port, target)
    assert robots_url(url) == f"{origin}/robots.txt"


def test_credentials_and_fragment_are_never_requested() -> None:
    assert parse("http://user:pa%20ss@h/@?@#@").href == "http://h/@?@"


@pytest.mark.parametrize(
    "text", ["", "/a", "h", "mailto:a@b.example", "ftp://h/", "http://", "http://h:99999/", "//h/"]
)
def test_only_absolute_web_urls_parse(text: str) -> None:
    assert URLS.parse(text) is None


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("", "https://example.com/a/b?c"),
        ("#top", "https://example.com/a/b?c"),
        ("d", "https://example.com/a/d"),
        ("?d", "https://example.com/a/b?d"),
        ("../../d", "https://example.com/d"),
        ("//other.example\\d", "https://other.example/d"),
        (" \n/d\t/e ", "https://example.com/d/e"),
        ("https:d", "https://example.com/a/d"),
        ("HTTP://Other.example", "http://other.example/"),
        ("/\ud800", "https://example.com/%EF%BF%BD"),
    ],
)
def test_references_mean_what_a_browser_makes_of_them(reference: str, href: str) -> None:
    url = URLS.resolve(reference, BASE)
    assert url is not None
    assert url.href == href


@pytest.mark.parametrize("reference", ["javascript:void(0)", "mailto:a@b.example", "tel:+1", "data:,x", "http://a b/"])
def test_other_references_lead_nowhere(reference: str) -> None:
    assert URLS.resolve(reference, BASE) is None


def test_a_base_that_is_no_web_url_has_absolute_references_only() -> None:
    assert URLS.resolve("/d", "file:///a") is None
    assert URLS.resolve("http://h/d", "about:blank") == parse("http://h/d")
    assert URLS.resolve("http://h/d", "nonsense") is None


@pytest.mark.parametrize(
    ("reference", "encoding", "target"),
    [
        ("/ü?ü#ü", "windows-1252", "/%C3%BC?%FC"),
        ("/ü?ü", "latin1", "/%C3%BC?%FC"),
        (" ?a=ü \n", "iso-8859-15", "/a/b?a=%FC"),
        ("?й&й='<\">", "windows-1251", "/a/b?%E9&%E9=%27%3C%22%3E"),
        ("?й", "windows-1252", "/a/b?%26%231081%3B"),
        ("?€", "gbk", "/a/b?%80"),
        ("?ü", "utf-16le", "/a/b?%C3%BC"),
        ("?ü", "no such encoding", "/a/b?%C3%BC"),
        ("?日ｱ\u2212é", "euc-jp", "/a/b?%C6%FC%8E%B1%A1%DD%26%23233%3B"),
        ("?日é", "big5", "/a/b?%A4%E9%26%23233%3B"),
        ("?漢", "iso-2022-jp", "/a/b?%1B$B4A%1B(B"),
        (
            "?¥a漢\\ｱﾞ\x1b\ue000",
            "iso-2022-jp",
            "/a/b?%1B(J\\a%1B$B4A%1B(B\\%1B$B%%22!+%1B(B%26%2365533%3B%26%2357344%3B",
        ),
        ("?№Ⅲ髙", "euc-jp", "/a/b?%AD%E2%AD%B7%FC%E2"),
        ("?ⅰ仡①\ue000\u2212\x80", "shift_jis", "/a/b?%FA@%FAi%87@%26%2357344%3B%81|%80"),
        ("?€\u3875十卅═", "big5", "/a/b?%A3%E1%26%2314453%3B%A4Q%A4%CA%F9%F9"),
        ("?\ue5e5\ue7c7\ue81e龴ḿ\U00020000", "gb18030", "/a/b?%26%2358853%3B%815%F47%FEY%FEY%A8%BC%952%826"),
        ("?\ue7c7ǹ€é", "gbk", "/a/b?%26%2359335%3B%A8%BF%80%A8%A6"),
        ("?갂힝é", "euc-kr", "/a/b?%81A%C8%FE%26%23233%3B"),
        ("?\x81\xad", "windows-1252", "/a/b?%81%AD"),
        ("?ўЎ", "koi8-u", "/a/b?%AE%BE"),
        ("?\ud800é", "windows-1252", "/a/b?%26%2365533%3B%E9"),
    ],
)
def test_queries_travel_in_the_encoding_of_the_document(reference: str, encoding: str, target: str) -> None:
    url = URLS.resolve(reference, BASE, encoding)
    assert url is not None
    assert url.target == target


def test_long_urls_are_not_followed() -> None:
    urls = Urls(max_length=20)
    assert urls.parse("http://h/" + "a" * 11) is not None
    assert urls.parse("http://h/" + "a" * 12) is None
    assert urls.parse("http://h/" + "ü" * 5) is None, "escaping made it longer"
    assert urls.resolve("a" * 21, "http://h/") is None


def test_the_canonical_rules_shape_the_key_only() -> None:
    url = Urls(CanonicalRules(index_files=True)).parse("http://h/%7ea/index.html")
    assert url == Url("http://h/%7ea/index.html", "http://h/~a/", "h")


@settings(deadline=None)
@given(st.text() | url_texts(), st.text() | url_texts(), st.sampled_from(["utf-8", "shift_jis", "iso-2022-jp", "?"]))
@example("?\ud800", "http://h/", "shift_jis")
def test_no_text_makes_resolving_fail(reference: str, base: str, encoding: str) -> None:
    url = URLS.resolve(reference, base, encoding)
    assert url is None or URLS.parse(url.href) == url


@settings(deadline=None)
@given(hrefs())
def test_parsing_what_is_requested_changes_nothing(href: str) -> None:
    url = parse(href)
    assert URLS.parse(url.href) == url
    assert url.href == url.origin + url.target
    assert parse(url.key).key == url.key
    assert parse(url.key).host == url.host


_PIECES = (
    *("/", "//", "a", "b.html", "..", ".", "?q=1", "&r=2", "~u", "-", "_", "%41", "xn--a", "1", "0x7f", " ", "\t", "#"),
    *("http://", "https://", "h.example", "H.example", "a.b.c1", "1.2.3.4", "www.", ":80", "@", "\\", ".com", "ü"),
)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(_PIECES), max_size=8).map("".join) | url_texts(),
    st.sampled_from(
        [BASE, "http://u:p@h:81/x/y", "http://H.example", "file:///a", "nonsense", "http://bücher.example/"]
    ),
)
def test_the_short_way_of_resolving_gives_what_the_long_one_gives(reference: str, base: str) -> None:
    short = urls._normal(reference, base)
    assert short is None or short == urls._serialise(reference, base)


@pytest.mark.parametrize("reference", ["/a/b.html?c=d/e", "/", "https://www.example.com/a~b/", "http://h.example/"])
def test_ordinary_references_go_the_short_way(reference: str) -> None:
    assert urls._normal(reference, BASE) is not None


def test_the_short_way_takes_linear_time() -> None:
    for text in (
        "/" + "a/" * 50_000 + "%",
        "/" + "a" * 100_000 + "%",
        "http://" + "a." * 50_000,
        "http://" + "a" * 100_000,
    ):
        started = time.thread_time()
        assert urls._normal(text, BASE) is None
        assert time.thread_time() - started < 0.5


@given(
    st.text(max_size=60) | st.from_regex(r"https?://[a-z.%-]{1,12}(:[0-9]{2})?/[a-zA-Z%~./?&=-]{0,12}", fullmatch=True)
)
def test_a_key_alone_is_that_of_the_whole_url(text: str) -> None:
    for rules in (Urls(), Urls(CanonicalRules(index_files=True)), Urls(max_length=12)):
        parsed = rules.parse(text)
        assert rules.key(text) == (None if parsed is None else parsed.key)

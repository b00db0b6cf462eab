"""The cookie jars of hosts: what is sent back, to whom, and how much is kept."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.compose import network
from gregor.worker.config.settings import Config, ConfigError
from gregor.worker.fetch import cookie_file
from gregor.worker.fetch.cookies import MOST_BYTES, MOST_COOKIES, MOST_HOSTS, Cookies
from gregor.worker.web.urls import Url, Urls

NOW = 1_700_000_000.0
URLS = Urls()


def url(text: str) -> Url:
    parsed = URLS.parse(text)
    assert parsed is not None
    return parsed


FILE = "\n".join(
    [
        "# Netscape HTTP Cookie File",
        "",
        ".example.org\tTRUE\t/\tFALSE\t0\tall\t1",
        "#HttpOnly_www.example.org\tFALSE\t/shop\tTRUE\t1800000000\tshop\t2",
        "old.example.org\tFALSE\t/\tFALSE\t1600000000\told\t3",
        "127.0.0.1\tFALSE\t/\tFALSE\t0\tlocal\t",
    ]
)


@pytest.mark.parametrize(
    ("target", "sent"),
    [
        ("https://www.example.org/shop/x", "shop=2; all=1"),
        ("http://www.example.org/shop/x", "all=1"),
        ("http://example.org/", "all=1"),
        ("http://deep.www.example.org/shop", "all=1"),
        ("http://old.example.org/", "all=1"),
        ("http://127.0.0.1:8080/", "local="),
        ("http://notexample.org/", ""),
        ("http://example.org.evil.test/", ""),
    ],
)
def test_given_cookies_go_to_their_domains_alone(target: str, sent: str) -> None:
    assert Cookies(cookie_file.parse(FILE)).header(url(target), NOW) == sent


def test_what_an_answer_sets_goes_before_what_was_given() -> None:
    cookies = Cookies(cookie_file.parse(FILE))
    cookies.store(url("http://www.example.org/"), [("Set-Cookie", "all=new; Path=/")], NOW)
    assert cookies.header(url("http://www.example.org/"), NOW) == "all=new"
    assert "1" not in repr(cookie_file.parse(FILE)[0])


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("a=secret; Path=/", "line 1 has not the seven fields"),
        ("a b\tTRUE\t/\tFALSE\t0\tn\tsecret", "no domain"),
        ("a.test\tMAYBE\t/\tFALSE\t0\tn\tsecret", "TRUE or FALSE"),
        ("a.test\tTRUE\t/\tFALSE\tsoon\tn\tsecret", "unix seconds"),
        ("a.test\tTRUE\t/\tFALSE\t--5\tn\tsecret", "line 1: its fifth field is no time in unix seconds"),
        ("a.test\tTRUE\t/\tFALSE\t0\tn\tsecret\x01", "cannot be sent"),
        ("a.test\tTRUE\t/\tFALSE\t0\t\tsecret", "cannot be sent"),
        (".co.uk\tTRUE\t/\tFALSE\t0\tn\tsecret", "public suffix"),
    ],
)
def test_what_is_no_file_of_cookies_is_told_without_its_secrets(line: str, part: str) -> None:
    with pytest.raises(ValueError, match=part) as refused:
        cookie_file.parse(line)
    assert "secret" not in str(refused.value)


def test_a_file_that_others_can_read_is_told_of(tmp_path: Path) -> None:
    said: list[str] = []
    file = tmp_path / "cookies.txt"
    file.write_text(FILE)
    file.chmod(0o644)
    config = Config(cookies_file=str(file))
    assert len(network.cookies(config, said.append)) == 4
    assert len(said) == 1 and "chmod 600" in said[0]
    file.chmod(0o600)
    network.cookies(config, said.append)
    assert len(said) == 1 and network.cookies(Config(), said.append) == []
    file.write_text("x=secret")
    for wrong in (file, tmp_path / "nowhere"):
        with pytest.raises(ConfigError, match=r"cookies_file .* cannot be used") as refused:
            network.cookies(Config(cookies_file=str(wrong)), said.append)
        assert "secret" not in str(refused.value)


def after(*lines: str, at: str = "https://www.example.org/shop/list") -> Cookies:
    cookies = Cookies()
    cookies.store(url(at), [("Set-Cookie", line) for line in lines], NOW)
    return cookies


@pytest.mark.parametrize(
    ("line", "target", "sent"),
    [
        ("a=1; Path=/", "https://www.example.org/", "a=1"),
        ("a=1; Path=/", "https://other.example.org/", ""),
        ("a=1; Path=/; Domain=example.org", "https://other.example.org/", ""),  # kept by the host that set it
        ("a=1; Path=/; Domain=example.org", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Domain=evil.test", "https://www.example.org/", ""),
        ("a=1; Path=/; Domain=ample.org", "https://www.example.org/", ""),
        ("a=1; Path=/; Domain=org", "https://www.example.org/", ""),  # RFC 6265 section 5.3: a public suffix
        ("a=1", "https://www.example.org/shop/cart", "a=1"),  # the default path is that of the page
        ("a=1", "https://www.example.org/shopping", ""),
        ("a=1; Path=/shop", "https://www.example.org/shop", "a=1"),
        ("a=1; Path=/shop", "https://www.example.org/shop/x?q=/", "a=1"),
        ("a=1; Path=shop", "https://www.example.org/", ""),
        ("a=1; Path=/; Secure", "http://www.example.org/", ""),
        ("a=1; Path=/; Secure", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Max-Age=60", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "https://www.example.org/", ""),
        ("a=1; Path=/; Max-Age=-5", "https://www.example.org/", ""),
        ("a=1; Path=/; Max-Age=0; Max-Age=soon; Max-Age=", "https://www.example.org/", ""),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=soon", "https://www.example.org/", ""),
        ("a=1; Path=/; Max-Age=0; Max-Age=60", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Max-Age=--5", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Partitioned; Priority=High", "https://www.example.org/", "a=1"),
        ("a[b]={1, 2}; Path=/", "https://www.example.org/", "a[b]={1, 2}"),
        ("a=1; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.example.org/", "a=1"),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.example.org/", ""),
        ("a=1; Path=/; Expires=Sun, 01 Jan 1970 00:00:00 GMT", "https://www.example.org/", ""),  # it was a Thursday
        ("a=1; Path=/; Expires=soon", "https://www.example.org/", "a=1"),
        ("a=\xc3\x9f\xc3\xa0;\tPath=/", "https://www.example.org/", "a=\xc3\x9f\xc3\xa0"),  # any octet
        ("a=1\x1b; Path=/", "https://www.example.org/", ""),
        ("a=1; Path=/; HttpOnly; SameSite=Lax", "https://www.example.org/", "a=1"),
        ("no cookie at all", "https://www.example.org/", ""),
    ],
)
def test_a_cookie_goes_where_it_belongs(line: str, target: str, sent: str) -> None:
    assert after(line).header(url(target), NOW) == sent


def test_a_cookie_ends() -> None:
    cookies, page = after("a=1; Path=/; Max-Age=60"), url("https://www.example.org/")
    assert (cookies.header(page, NOW + 59), cookies.header(page, NOW + 61)) == ("a=1", "")


@pytest.mark.parametrize(
    "date",
    [
        "Thu, 01-Jan-1970 00:00:01 GMT",
        "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)",
        "Thu, 1 Jan 1970 0:0:0 GMT",
        "Jan 1 1990 00:00:00",
        "Tue Jan 01 00:00:00 CET 1980",
    ],
)
def test_a_cookie_is_deleted_by_a_past_date_in_any_form(date: str) -> None:
    assert after("a=1; Path=/", f"a=; Path=/; Expires={date}").header(url("https://www.example.org/"), NOW) == ""


def test_a_cookie_is_replaced_and_deleted_by_its_name_and_path() -> None:
    page = url("https://www.example.org/shop/")
    cookies = after("a=1; Path=/", "a=2; Path=/", "a=3; Path=/shop", "b=4; Path=/")
    assert set(cookies.header(page, NOW).split("; ")) == {"a=2", "a=3", "b=4"}
    cookies.store(page, [("set-cookie", "a=; Path=/; Max-Age=0")], NOW)
    assert set(cookies.header(page, NOW).split("; ")) == {"a=3", "b=4"}


def test_the_cookie_of_the_longest_path_comes_first() -> None:
    cookies = after("a=all; Path=/", "a=list; Path=/shop/list", "a=shop; Path=/shop", "b=all; Path=/")
    assert cookies.header(url("https://www.example.org/shop/list"), NOW) == "a=list; a=shop; a=all; b=all"


def test_a_jar_is_bounded() -> None:
    page = url("https://www.example.org/shop/")
    many = after(*(f"c{number}=1; Path=/" for number in range(10 * MOST_COOKIES)))
    assert len(many.header(page, NOW).split("; ")) == MOST_COOKIES
    large = after(*(f"c{number}={'x' * 1000}; Path=/" for number in range(20)), f"huge={'x' * 2 * MOST_BYTES}; Path=/")
    assert 0 < len(large.header(page, NOW)) <= MOST_BYTES + 2 * MOST_COOKIES + MOST_COOKIES


def test_the_number_of_jars_is_bounded() -> None:
    cookies = Cookies()
    for number in range(MOST_HOSTS + 1):
        cookies.store(Url(f"http://h{number}/", f"http://h{number}/", f"h{number}"), [("Set-Cookie", "a=1")], NOW)
    assert cookies.header(url("http://h0/"), NOW) == ""
    assert cookies.header(url(f"http://h{MOST_HOSTS}/"), NOW) == "a=1"


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_line_is_a_cookie_or_nothing(lines: list[str]) -> None:
    sent = after(*lines).header(url("https://www.example.org/shop/list"), NOW)
    assert "\r" not in sent
    assert "\n" not in sent

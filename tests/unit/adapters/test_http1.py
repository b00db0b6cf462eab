"""Requests as they are written and heads as they are read: examples, and any bytes at all."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gregor.worker.adapters.transport.http1 import (
    MalformedHeadError,
    RequestTarget,
    fields,
    one_line,
    parse_head,
    request_head,
    split_href,
)


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("http://a.test/", RequestTarget("http", "a.test", 80, "a.test", "/")),
        ("https://a.test/x?y#z", RequestTarget("https", "a.test", 443, "a.test", "/x?y")),
        ("http://a.test:81/?/", RequestTarget("http", "a.test", 81, "a.test:81", "/?/")),
        ("http://u:p@a.test/@", RequestTarget("http", "a.test", 80, "a.test", "/@")),
        ("https://[::1]/", RequestTarget("https", "[::1]", 443, "[::1]", "/")),
        ("https://[::1]:444/", RequestTarget("https", "[::1]", 444, "[::1]:444", "/")),
    ],
)
def test_urls_are_taken_apart(href: str, target: RequestTarget) -> None:
    assert split_href(href) == target


@pytest.mark.parametrize(
    "href",
    ["", "a.test", "ftp://a.test/", "http:///", "http://a.test", "http://a b/", "http://a.test/\r\n", "http://ä/"],
)
def test_what_is_no_serialised_url_is_refused(href: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        split_href(href)


@given(st.text(), st.lists(st.tuples(st.text(), st.text())))
@example("/", [("X-A", "1\r\nX-B: 2")])
def test_a_request_has_as_many_lines_as_it_should(path: str, headers: list[tuple[str, str]]) -> None:
    try:
        target, sent = split_href(f"http://a.test/{path}"), fields(tuple(headers))
    except ValueError:
        return
    head = request_head(target, sent)
    assert head.endswith(b"\r\n\r\n")
    assert head.count(b"\n") == head.count(b"\r") == len(sent.lines) + 2 + ("host" not in sent.names)
    assert head.split(b"\r\n")[0].count(b" ") == 2


def test_heads_are_read_as_browsers_do() -> None:
    head = parse_head(
        b'HTTP/1.1 200  Fine \r\n "Content-type": text/html\r\nNo-Colon\r\n folded away\r\nA: 1\r\n  2 \r\n\t3\r\n'
        b": nameless\r\nB : x\0y\rz\nC:\r\r\nA:\xe9\r\n\r\n"
    )
    assert (head.version, head.status, head.reason) == ("HTTP/1.1", 200, "Fine")
    assert head.headers == [("A", "1 2 3"), ("B", "x y z"), ("C", ""), ("A", "\xe9")]


@given(st.binary() | st.binary().map(lambda rest: b"HTTP/1.1 200 OK\r\n" + rest))
def test_any_bytes_are_a_head_or_malformed(raw: bytes) -> None:
    try:
        head = parse_head(raw)
    except MalformedHeadError:
        return
    assert 0 <= head.status <= 999
    for name, value in head.headers:
        assert name == name.strip()
        assert "\n" not in name + value
        assert not {"\0", "\r"} & set(name + value)


@given(st.text())
def test_details_are_one_printable_line(text: str) -> None:
    assert one_line(text).isprintable()
    assert len(one_line(text)) <= 200

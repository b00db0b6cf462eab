"""Heads that travelled, as people and archives may see them."""

import pytest

from gregor.worker.base.printable import MASK
from gregor.worker.web import http_headers


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "x-apikey", "Key", "Private-Token", "X-Auth",
     "X-Amz-Security-Token", "X-Secret-Thing", "Client-Session"],
)  # fmt: skip
def test_what_a_header_of_that_name_holds_is_masked(name: str) -> None:
    head = f"GET / HTTP/1.1\r\nHost: a.test\r\n{name}: s3cret and more\r\nAccept: text/html\r\n\r\n".encode()
    assert http_headers.masked(head) == head.replace(b"s3cret and more", MASK.encode())


@pytest.mark.parametrize("name", ["Accept-Language", "From", "X-Keywords", "Keep-Alive", "X-Authority", "Referer"])
def test_what_any_other_header_holds_is_shown(name: str) -> None:
    head = f"GET /?token: HTTP/1.1\r\n{name}: said\r\n\r\n".encode()
    assert http_headers.masked(head) == head

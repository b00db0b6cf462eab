"""Registered domains."""

import pytest

from gregor.worker.web.domains import registered_domain


@pytest.mark.parametrize(
    ("hostname", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("WWW.Example.COM.", "example.com"),
        ("alice.github.io", "alice.github.io"),
        ("github.io", None),
        ("localhost", None),
        ("www.intranet.unlisted", "intranet.unlisted"),
        ("192.168.1.32", None),
        ("::1", None),
        ("[::1]", None),
        ("", None),
        (".", None),
        ("a..b", None),
    ],
)
def test_registered_domain(hostname: str, domain: str | None) -> None:
    assert registered_domain(hostname) == domain


def test_without_the_private_section() -> None:
    assert registered_domain("alice.github.io", include_private=False) == "github.io"

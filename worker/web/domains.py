"""Registered domains: what one party has registered, by the Public Suffix List."""

from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

_FULL_STOPS = str.maketrans("。．｡", "...")
"""What else separates labels (RFC 3490 section 3.1), in names that no URL parser has seen yet."""


def registered_domain(hostname: str, *, include_private: bool = True) -> str | None:
    """The public suffix of ``hostname`` and one label more, lower-case; None for an IP address or a bare suffix.

    With the private section (the default) ``alice.github.io`` is a domain of its own, as different people are behind
    its siblings. A top-level domain that is not on the list counts as a suffix (the list's default rule ``*``).
    """
    return _registered_domain(hostname, include_private)


@lru_cache(maxsize=16_384)
def _registered_domain(hostname: str, include_private: bool) -> str | None:
    name = hostname.lower().translate(_FULL_STOPS).removesuffix(".")
    # The URL Standard's host parser makes an address of every name that ends in a number.
    if ":" in name or name[name.rfind(".") + 1 :].isdecimal():
        return None
    domain: str | None = _suffixes(include_private).privatesuffix(name)
    return domain


@cache
def _suffixes(include_private: bool) -> PublicSuffixList:
    """The list, read when it is first asked: that takes longer than most commands."""
    return PublicSuffixList(only_icann=not include_private)

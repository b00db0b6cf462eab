"""URLs: from any text found in a page, a sitemap or a seed list to what is requested, known and asked politely.

Parsing is WHATWG's (ada); a link's meaning is what a browser would make of it.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import ada_url
import msgspec

from gregor.worker.base.surrogates import well_formed
from gregor.worker.web.canonical import CORE, CanonicalRules, canonical
from gregor.worker.web.encodings.query import encode_query

MAX_LENGTH = 4096
"""Characters of the longest URL that is followed, unless the operator says otherwise."""

_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.-]*+"
_PATH = rf"/(?:{_SEGMENT}/)*+(?:{_SEGMENT})?+(?:\?[A-Za-z0-9_~.&=+/-]*+)?+"
_NORMAL_PATH = re.compile(_PATH)
"""References that are serialised already: no dot segment, no escape, nothing that needs one."""
_NORMAL_URL = re.compile(rf"https?://(?:[a-z0-9_-]++\.)++[a-z][a-z0-9]*+{_PATH}")
"""Absolute ones whose host is a plain name; that of an address would end in a number."""


class Url(msgspec.Struct, frozen=True, gc=False):
    """One http(s) URL in its three rôles."""

    href: str
    """What is requested: the WHATWG serialisation as first found, without fragment and credentials."""
    key: str
    """What it is known by: the canonical form."""
    host: str
    """Whose politeness it is a matter of: the IDNA-ASCII host, with its port when that is neither 80 nor 443."""

    @property
    def scheme(self) -> str:
        """``http`` or ``https``."""
        return self.href[: self.href.index(":")]

    @property
    def origin(self) -> str:
        """Scheme, host and port (unless it is the scheme's default): what a robots.txt holds for (RFC 6454)."""
        return self.href[: self.href.index("/", 8)]

    @property
    def target(self) -> str:
        """Path and query, as they stand in the request line."""
        return self.href[self.href.index("/", 8) :]

    @property
    def hostname(self) -> str:
        """The name or address to connect to, without port; an IPv6 address without its brackets."""
        return _split_authority(self.href)[0].strip("[]")

    @property
    def port(self) -> int:
        """The TCP port to connect to."""
        port = _split_authority(self.href)[1]
        return int(port) if port else 443 if self.href.startswith("https:") else 80


class Urls:
    """Makes :class:`Url` values under one set of canonical rules."""

    def __init__(self, rules: CanonicalRules = CORE, *, max_length: int = MAX_LENGTH) -> None:
        """``max_length`` is the number of characters beyond which a URL is not followed."""
        self.rules = rules
        self.max_length = max_length
        self._plain = rules == CORE

    @property
    def plain(self) -> bool:
        """Whether no rule beyond RFC 3986 is on."""
        return self._plain

    def parse(self, text: str) -> Url | None:
        """An absolute http(s) URL; None for any other text, and for URLs that are too long."""
        if len(text) > self.max_length:
            return None
        is_normal = _NORMAL_URL.fullmatch(text) and "xn--" not in text
        return self._url(text if is_normal else _serialise(text))

    def key(self, text: str) -> str | None:
        """The key of what ``parse`` makes of a text, at a part of its price for most; None where that is None."""
        is_key = self._plain and len(text) <= self.max_length and "%" not in text and "xn--" not in text
        if is_key and _NORMAL_URL.fullmatch(text):
            return text
        parsed = self.parse(text)
        return None if parsed is None else parsed.key

    def refusal(self, text: str) -> str:
        """Why ``parse`` has nothing for ``text``, for whoever gave it."""
        href = _serialise(text) or ""
        if max(len(text), len(href)) > self.max_length and href.startswith(("http://", "https://")):
            return f"longer than max_url_length ({self.max_length} characters)"
        return "not an http(s) URL"

    def resolve(self, reference: str, base: str, encoding: str = "utf-8") -> Url | None:
        """What a link in the page ``base`` points at; None if that is not an http(s) URL, or too long a one.

        A browser sends non-ASCII characters of a query in the document's encoding (URL Standard, "query state"):
        ``encoding`` is its label, any that the Encoding Standard knows; others count as UTF-8.
        """
        if len(reference) > self.max_length:
            return None
        if (href := _normal(reference, base)) is not None:
            return self._url(href)
        if encoding != "utf-8" and "?" in reference:
            reference = encode_query(reference, encoding)
        return self._url(_serialise(reference, base))

    def _url(self, href: str | None) -> Url | None:
        if href is None or len(href) > self.max_length:
            return None
        host = href[href.find("/") + 2 : href.find("/", 8)]
        if ":" in host or host[-1] == ".":
            host = politeness_host(host)
        key = href if self._plain and "%" not in href else canonical(href, self.rules)
        return Url(href, key, host)


def user_info(text: str) -> tuple[str, str] | None:
    """The user name and password in an absolute URL, decoded; None where it has neither, or is none.

    Raises ValueError when they are not UTF-8 text of one line, or the name has a colon: none of Basic has (RFC 7617).
    """
    try:
        parsed = ada_url.URL(well_formed(text))
    except ValueError:
        return None
    if not parsed.username and not parsed.password:
        return None
    user, password = (unquote_to_bytes(part).decode() for part in (parsed.username, parsed.password))
    if ":" in user or not (user + password).isprintable() or "\ufffd" in user + password:
        raise ValueError("not one line of text, or a colon in the user name")
    return user, password


def robots_url(url: Url) -> str:
    """Where the rules of the URL's origin are (RFC 9309 section 2.3)."""
    return f"{url.origin}/robots.txt"


def _normal(reference: str, base: str) -> str | None:
    """What :func:`_serialise` would give, for most references of most pages, at a fraction of its price; else None."""
    root = _root(base)
    if root is not None:
        if _NORMAL_PATH.fullmatch(reference):
            return root + reference[1:]
        if _NORMAL_URL.fullmatch(reference) and "xn--" not in reference:
            return reference
    return None


@lru_cache(maxsize=256)
def _root(base: str) -> str | None:
    """The serialisation of "/" in a page: asked for every link of the page."""
    return _serialise("/", base)


def _serialise(text: str, base: str | None = None) -> str | None:
    """The WHATWG serialisation of an http(s) URL without fragment and credentials."""
    try:
        href = ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError:
        mended = well_formed(text)
        return None if mended == text else _serialise(mended, base)
    if not href.startswith(("http://", "https://")):
        return None
    if "#" in href:
        href = href[: href.index("#")]
    if "@" in href:
        start, end = href.find("/") + 2, href.find("/", 8)
        href = href[:start] + href[start:end].rpartition("@")[2] + href[end:]
    return href


def _split_authority(href: str) -> tuple[str, str]:
    """Host and port (empty when it is the scheme's default) of a serialisation without credentials."""
    return split_port(href[href.find("/") + 2 : href.find("/", 8)])


def split_port(authority: str) -> tuple[str, str]:
    """Host and port of a serialised authority or a politeness key; the port is empty if none is written."""
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon and not port.endswith("]") else (authority, "")


def politeness_host(authority: str) -> str:
    """Both schemes' usual ports are one host, and so are a name and the same name written as absolute ("a.")."""
    host, port = split_port(authority)
    host = host.rstrip(".") or host
    return host if port in ("", "80", "443") else f"{host}:{port}"

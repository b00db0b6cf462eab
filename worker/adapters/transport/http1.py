"""What both transports know of HTTP/1: the request as it is written, the head of an answer as it is read."""

import re
from functools import lru_cache
from typing import NamedTuple

ACCEPT_ENCODING = ("Accept-Encoding", "gzip, deflate, br, zstd")
_CONTROLS = str.maketrans("\0\r", "  ")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class MalformedHeadError(ValueError):
    """The head of an answer is not HTTP/1."""


class RequestTarget(NamedTuple):
    """The parts of a URL that a request needs; `host` has no port, and brackets around IPv6."""

    scheme: str
    host: str
    port: int
    authority: str
    path: str


class HeaderFields(NamedTuple):
    """The headers of a request, ready to be written after the Host line."""

    names: frozenset[str]
    lines: tuple[str, ...]


class Head(NamedTuple):
    """A parsed head; headers in order of arrival, latin-1."""

    version: str
    status: int
    reason: str
    headers: list[tuple[str, str]]


def split_href(href: str) -> RequestTarget:
    """Take a serialised WHATWG URL apart, without its user info and fragment. ValueError if it can't be requested."""
    if not href.isascii() or not href.isprintable() or " " in href:
        raise ValueError("URL with a blank, a control character or a letter outside ASCII")
    scheme, separator, rest = href.partition("://")
    if not separator or scheme not in ("http", "https"):
        raise ValueError("not an http or https URL")
    authority, slash, path = rest.partition("#")[0].partition("/")
    authority = authority.rpartition("@")[2]
    host, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        host, port = authority, ""
    if not host or "?" in host or not slash:
        raise ValueError("not a serialised URL")
    number = int(port) if port else (443 if scheme == "https" else 80)
    return RequestTarget(scheme, host, number, authority, f"/{path}")


@lru_cache(maxsize=256)
def fields(headers: tuple[tuple[str, str], ...]) -> HeaderFields:
    """Check headers and write them, with Accept-Encoding added. ValueError for one that would split the request.

    Kept, since most requests of a crawl have the same ones.
    """
    names = {name.lower() for name, _ in headers}
    if "accept-encoding" not in names:
        headers = (*headers, ACCEPT_ENCODING)
    for name, value in headers:
        if not _TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
            raise ValueError(f"header {name!r} cannot be sent")
    return HeaderFields(frozenset(names), tuple(f"{name}: {value}" for name, value in headers))


def request_head(target: RequestTarget, sent: HeaderFields, absolute: bool = False) -> bytes:
    """The request as it is written over HTTP/1.1; `absolute` is the form for a proxy (RFC 9112 section 3.2.2)."""
    prefix = f"{target.scheme}://{target.authority}" if absolute else ""
    host = () if "host" in sent.names else (f"Host: {target.authority}",)
    return "\r\n".join((f"GET {prefix}{target.path} HTTP/1.1", *host, *sent.lines, "", "")).encode("latin-1", "replace")


def parse_head(raw: bytes) -> Head:
    """Parse a head as browsers do.

    A folded line is joined to the one before with a blank (RFC 9112 section 5.2); a line without a colon, and one that
    begins with a blank right after the status line (section 2.2), is skipped. A NUL, and a CR that ends no line, is
    read as a blank (RFC 9110 section 5.5): without it another value, or another host, would stand there.
    """
    text = raw.decode("latin-1").replace("\r\n", "\n").translate(_CONTROLS)
    first, *lines = text.rstrip(" \n").split("\n")
    version, status, reason = parse_status_line(first)
    headers: list[tuple[str, str]] = []
    continues = False
    for line in lines:
        if line[:1] in (" ", "\t"):
            if continues:
                name, value = headers[-1]
                headers[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, colon, value = line.partition(":")
        name = name.strip()
        continues = bool(colon and name)
        if continues:
            headers.append((name, value.strip(" \t")))
    return Head(version, status, reason, headers)


def parse_status_line(line: str) -> tuple[str, int, str]:
    """Version, status and reason. A status is exactly three digits (RFC 9112 section 4)."""
    version, _, rest = line.rstrip("\r\n").partition(" ")
    code, _, reason = rest.lstrip(" ").partition(" ")
    if not version.startswith("HTTP/") or len(code) != 3 or not (code.isascii() and code.isdigit()):
        raise MalformedHeadError("malformed status line")
    return version, int(code), reason.strip()


def one_line(text: str, limit: int = 200) -> str:
    """`text` fit for a log line: printable, one line, short. What a server sent may be in it."""
    return "".join(c if c.isprintable() else "?" for c in text[:limit])

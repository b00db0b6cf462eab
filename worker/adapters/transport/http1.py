"""What both transports know of HTTP/1: the request as it is written, the head of an answer as it is read."""

from typing import NamedTuple

from gregor.worker.transport import Request

ACCEPT_ENCODING = ("Accept-Encoding", "gzip, deflate, br, zstd")


class MalformedHeadError(ValueError):
    """The head of an answer is not HTTP/1."""


class Target(NamedTuple):
    """The parts of a URL that a request needs; `host` has no port, and brackets around IPv6."""

    scheme: str
    host: str
    port: int
    authority: str
    path: str


class Head(NamedTuple):
    """A parsed head; headers in order of arrival, latin-1."""

    version: str
    status: int
    reason: str
    headers: list[tuple[str, str]]


def split_href(href: str) -> Target:
    """Take a serialised WHATWG URL apart, without its user info and fragment. ValueError if it can't be requested."""
    if not href.isascii() or not href.isprintable() or " " in href:
        raise ValueError("URL with a blank, a control character or a letter outside ASCII")
    scheme, separator, rest = href.partition("://")
    if not separator or scheme not in ("http", "https"):
        raise ValueError("not an http or https URL")
    rest = rest.partition("#")[0]
    end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    authority = rest[:end].rpartition("@")[2]
    path = rest[end:]
    host, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        host, port = authority, ""
    if not host:
        raise ValueError("URL without a host")
    number = int(port) if port else (443 if scheme == "https" else 80)
    return Target(scheme, host, number, authority, path if path.startswith("/") else "/" + path)


def request_headers(request: Request) -> list[tuple[str, str]]:
    """The headers to write after Host, with Accept-Encoding added. ValueError for one that would split the request."""
    headers = list(request.headers)
    if not any(name.lower() == "accept-encoding" for name, _ in headers):
        headers.append(ACCEPT_ENCODING)
    for name, value in headers:
        if not name or not name.isascii() or any(c in name for c in "\r\n\0: \t") or any(c in value for c in "\r\n\0"):
            raise ValueError(f"header {name!r} cannot be sent")
    return headers


def request_head(target: Target, headers: list[tuple[str, str]], absolute: bool = False) -> bytes:
    """The request as it is written over HTTP/1.1; `absolute` is the form for a proxy (RFC 9112 section 3.2.2)."""
    prefix = f"{target.scheme}://{target.authority}" if absolute else ""
    lines = [f"GET {prefix}{target.path} HTTP/1.1"]
    if not any(name.lower() == "host" for name, _ in headers):
        lines.append(f"Host: {target.authority}")
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def parse_status_line(line: bytes) -> tuple[str, int, str]:
    """Version, status and reason. A status is exactly three digits (RFC 9112 section 4)."""
    version, _, rest = line.rstrip(b"\r\n").decode("latin-1").partition(" ")
    code, _, reason = rest.lstrip(" ").partition(" ")
    if not version.startswith("HTTP/") or len(code) != 3 or not (code.isascii() and code.isdigit()):
        raise MalformedHeadError("malformed status line")
    return version, int(code), reason.strip()


def parse_head(lines: list[bytes]) -> Head:
    """Parse raw lines, the status line first, as browsers do.

    A folded line is joined to the one before with a blank (RFC 9112 section 5.2); a line without a colon, and one that
    begins with a blank right after the status line (section 2.2), is skipped.
    """
    version, status, reason = parse_status_line(lines[0])
    headers: list[tuple[str, str]] = []
    continues = False
    for raw in lines[1:]:
        line = raw.rstrip(b"\r\n").replace(b"\0", b"").decode("latin-1")
        if line[:1] in (" ", "\t"):
            if continues:
                name, value = headers[-1]
                headers[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, colon, value = line.partition(":")
        continues = bool(colon and name.strip())
        if continues:
            headers.append((name.strip(), value.strip(" \t")))
    return Head(version, status, reason, headers)


def one_line(text: str, limit: int = 200) -> str:
    """`text` fit for a log line: printable, one line, short. What a server sent may be in it."""
    return "".join(c if c.isprintable() else "?" for c in text[:limit])

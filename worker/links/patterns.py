"""Patterns of URLs, as people write them, in the form of the URLs that they are held against. Pure.

A canonical URL has its scheme and host in lower case, the host in its xn-- form, no default port, no fragment, no user,
and everything beyond ASCII percent-encoded, in upper case. A pattern that spells one of these otherwise would match
nothing, without a word.
"""

import re
from typing import Final

from gregor.worker.web.urls import Urls

REGEX: Final = "re:"
"""Marks a pattern as a regular expression."""

_URLS: Final = Urls()
_GLOB = re.compile(r"(https?|http\*|\*)://([^/?#\\]*)(.*)", re.DOTALL | re.IGNORECASE)
_PORTS: Final = {"http": ":80", "https": ":443"}
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}|[^!$-;=?-_a-z~|]|[`^]")
"""Escapes, and what a URL's path or query holds only escaped."""
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DOTS = re.compile(r"/\.{1,2}(?:/|\Z)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_LITERAL = re.compile(r"%[0-9A-Fa-f]{2}|[^\x00-\x7f]|(?<!\\) ")
_ORIGIN = re.compile(r"(\^?)(http(?:s\??|\(s\)\?)?:(?:\\?/){2}(?:\[[^\]]*\]|\\[^/]|[^/\[\\])*)", re.IGNORECASE)
"""Of an expression: the scheme and host with which it begins, and the port."""
_CAPITAL = re.compile(r"\\[pPx]\{[^}]*\}|\\.|\(\?P?|[A-Z]")
"""A letter of it, or what is none though it has one."""
_BEYOND_ASCII = re.compile(r"[\w-]*[^\x00-\x7f][\w-]*")
_SCHEME = re.compile(r"\^([a-z]+)(?![a-z?*{(+])")
_HIGHEST_PORT: Final = 65535


def canonical_glob(pattern: str) -> str:
    """A pattern with ``*`` for any text, as canonical URLs are written. Raises ValueError, with the reason, for one
    that no URL matches."""
    text = pattern.strip()
    if "#" in text:
        raise _useless(pattern, "URLs are compared without their fragments, and have no '#'")
    if not text.lower().startswith(("http", "*")):
        raise _useless(pattern, "it must start with a scheme or '*'")
    if "*" not in text:
        url = _URLS.parse(text)
        if url is None:
            raise _useless(pattern, "it is no http(s) URL")
        return url.key
    parts = _GLOB.fullmatch(text)
    if parts is None:
        if not text.startswith("*") and not text.lower().startswith(("http*", "https*")):
            raise _useless(pattern, "what begins with http goes on with ://")
        return _escaped(text)
    scheme, authority, rest = parts[1].lower(), parts[2], parts[3].replace("\\", "/")
    path = rest.partition("?")[0]
    if _DOTS.search(path):
        raise _useless(pattern, "URLs have no '/./' or '/../'")
    if not rest.startswith("/") and not authority.endswith("*"):
        rest = f"/{rest}"
    return f"{scheme}://{_authority(pattern, scheme, authority)}{_escaped(rest)}"


def _authority(pattern: str, scheme: str, text: str) -> str:
    """The host and port of a pattern. Raises ValueError if no URL has such ones."""
    if "@" in text:
        raise _useless(pattern, "URLs are compared without user and password")
    text = text.removesuffix(_PORTS.get(scheme, ":"))
    host, colon, port = text.rpartition(":") if re.search(r":[0-9*]*\Z", text) else (text, "", "")
    if port.isdigit() and int(port) > _HIGHEST_PORT:
        raise _useless(pattern, f"no URL has the port {port}")
    if "*" not in host:
        url = _URLS.parse(f"http://{host}/")
        if url is None:
            raise _useless(pattern, f"{host!r} is no host")
        return url.host + colon + port
    if set(host) & set(" \t\n<>^|%"):
        raise _useless(pattern, f"no host has what {host!r} has")
    return ".".join(map(_label, host.split("."))) + colon + port


def _label(label: str) -> str:
    """One label of a host name: beyond ASCII in its xn-- form, if it is whole."""
    url = None if label.isascii() or "*" in label else _URLS.parse(f"http://{label}.example/")
    return label.lower() if url is None else url.host.removesuffix(".example")


def _escaped(text: str) -> str:
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3 and text[0] == "%":
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return text if text == "%" else "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))


def canonical_regex(regex: str) -> str:
    """An RE2 expression in which letters beyond ASCII and blanks are escapes, and escapes in upper case, as in
    canonical URLs; the scheme and host that it begins with are in lower case, without a default port. Raises ValueError
    for a class of such letters, each of which would be several, and for what can be seen to match nothing."""
    if "|" not in regex:
        _see_use(regex)
    if (origin := _ORIGIN.match(regex)) is not None:
        regex = origin[1] + _origin(origin[2]) + regex[origin.end() :]
    pieces, at = [], 0
    for group in _CLASS.finditer(regex):
        if group.start() and regex[group.start() - 1] == "\\":
            continue
        if not group[0].isascii():
            raise _useless(REGEX + regex, f"in a URL each letter of {group[0]} is several escapes: use (?:…|…)")
        pieces += [_LITERAL.sub(_literal, regex[at : group.start()]), group[0]]
        at = group.end()
    return "".join([*pieces, _LITERAL.sub(_literal, regex[at:])])


def _see_use(regex: str) -> None:
    """Raises ValueError for an expression without alternatives that begins with another scheme, or wants a fragment."""
    scheme = _SCHEME.match(regex.lower())
    if scheme is not None and not any(name.startswith(scheme[1]) for name in ("http", "https")):
        raise _useless(REGEX + regex, "URLs begin with http:// or https://")
    if re.search("#(?![?*{])", _CLASS.sub("", regex)):
        raise _useless(REGEX + regex, "URLs are compared without their fragments, and have no '#'")


def _origin(text: str) -> str:
    """The beginning of an expression up to the path, as canonical URLs are written."""
    lower = _CAPITAL.sub(lambda match: match[0].lower() if len(match[0]) == 1 else match[0], text)
    lower = _BEYOND_ASCII.sub(lambda match: _label(match[0]), lower)
    ends = lower.endswith("$") and not lower.endswith("\\$")  # without a path, which every URL has
    host = lower.removesuffix("$") if ends else lower
    return host.removesuffix(_PORTS.get(lower.partition(":")[0], ":")) + ("/$" if ends else "")


def _literal(match: re.Match[str]) -> str:
    found = match[0]
    return found.upper() if found[0] == "%" else f"(?:{_escape(match)})"


def canonical_prefix(prefix: str) -> str:
    """The beginning of canonical URLs that a text means. Raises ValueError for what is none."""
    if "#" in prefix:
        raise ValueError(f"scope prefix {prefix!r} can match no URL: URLs are compared without their fragments")
    url = _URLS.parse(prefix)
    if url is None:
        raise ValueError(f"scope prefix {prefix!r} is not the beginning of an http(s) URL")
    return url.key


def canonical_domain(domain: str) -> str:
    """The domain that a text means: ``*.example.org`` is ``example.org``, with all below it. Raises ValueError."""
    url = _URLS.parse(f"http://{domain.strip().removeprefix('*').removeprefix('.')}/")
    if url is None or url.target != "/" or ":" in url.host or "*" in url.host:
        raise ValueError(f"scope domain {domain!r} is no domain name")
    return url.host


def _useless(pattern: str, reason: str) -> ValueError:
    return ValueError(f"pattern {pattern!r} can match no URL: {reason}")

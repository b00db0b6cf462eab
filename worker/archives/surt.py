"""The key under which an index of an archive has a URL: its host turned around, the rest in one spelling of many.

As players look it up (SURT with the canonical form of the Internet Archive, which pywb and OpenWayback use): ``www.``,
session identifiers, case and the order of parameters do not tell two captures apart.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

_WWW: Final = re.compile(r"www\d*\.")
_URL: Final = re.compile(
    r"([a-z][a-z0-9+.-]*)://(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?", re.I
)
_SLASHES: Final = re.compile(rb"/{2,}")
_SESSION: Final = re.compile(
    r"^(.*?)(?:jsessionid=[0-9a-z]{32}|phpsessid=[0-9a-z]{32}|sid=[0-9a-z]{32}"
    r"|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    re.I,
)
_PORTS: Final = {"http": "80", "https": "443"}


def surt(href: str) -> str:
    """The key of an absolute URL."""
    parts = _URL.match(href)
    if parts is None:
        return href.lower()
    scheme, host, port, path, query = parts.groups()
    name = _WWW.sub("", host.lower(), count=1) if _WWW.match(host.lower()) else host.lower()
    turned = name.strip("[]") if name.startswith("[") else ",".join(reversed(name.strip(".").split(".")))
    if port and port != _PORTS.get(scheme.lower()):
        turned += f":{port}"
    key = f"{turned}){_path(path)}"
    return f"{key}?{words}" if (words := _query(query or "")) else key


def _path(path: str) -> str:
    octets = _SLASHES.sub(b"/", _unescaped(path)) or b"/"
    kept: list[bytes] = []
    for segment in octets.split(b"/")[1:]:
        if segment == b"..":
            kept[-1:] = []
        elif segment != b".":
            kept.append(segment)
    text = _escaped(b"/" + b"/".join(kept)).lower()
    return text[:-1] if text.endswith("/") and len(text) > 1 else text


def _query(query: str) -> str:
    text = _escaped(_unescaped(query))
    if (session := _SESSION.match(text)) is not None:
        text = session[1] + (session[2] or "")
    text = text.lower()
    if len(text) <= 1:
        return text
    return "&".join("=".join(pair) for pair in sorted(tuple(part.split("=", 1)) for part in text.split("&")))


def _unescaped(text: str) -> bytes:
    """Without percent signs, however often it was escaped."""
    octets = text.encode()
    for _ in range(8):
        plain = unquote_to_bytes(octets)
        if plain == octets:
            break
        octets = plain
    return octets


def _escaped(octets: bytes) -> str:
    return "".join(chr(c) if 0x20 < c < 0x7F and c not in b"#%" else f"%{c:02x}" for c in octets)

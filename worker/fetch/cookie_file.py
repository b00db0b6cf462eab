"""Cookies that a person gives, as browsers and curl export them: Netscape's cookies.txt, seven fields a line. Pure."""

import re
from typing import Final, NamedTuple

from gregor.worker.web.domains import registered_domain
from gregor.worker.web.hostnames import one_host

_HTTP_ONLY: Final = "#HttpOnly_"
_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE: Final = re.compile(r"[\x20-\x3a\x3c-\x7e]*")
MOST: Final = 100_000
"""Cookies of a file."""


class GivenCookie(NamedTuple):
    """``domain``: the host that it goes to, with ``below`` those below it too. ``expires``: unix seconds, or None."""

    domain: str
    below: bool
    path: str
    secure: bool
    expires: float | None
    name: str
    value: str

    def __repr__(self) -> str:  # its value is a secret
        return f"<cookie {self.name} of {self.domain}>"


def parse(text: str) -> list[GivenCookie]:
    """The cookies of a file. Raises ValueError for what is none, with the number of its line, never with its words."""
    cookies = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.removeprefix(_HTTP_ONLY)
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) == 6:  # an empty value
            fields.append("")
        if len(fields) != 7:
            raise ValueError(f"line {number} has not the seven fields of a cookies.txt, separated by tabs")
        cookies.append(_cookie(fields, number))
        if len(cookies) > MOST:
            raise ValueError(f"it has more than {MOST} cookies")
    return cookies


def _cookie(fields: list[str], number: int) -> GivenCookie:
    domain, flag, path, secure, expires, name, value = fields
    host = one_host(domain.strip().lstrip("."))
    if host is None:
        raise ValueError(f"line {number}: its first field is no domain")
    host = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    for word in (flag, secure):
        if word.upper() not in ("TRUE", "FALSE"):
            raise ValueError(f"line {number}: its second and fourth field are TRUE or FALSE")
    until = expires.partition(".")[0]
    if not (until.isascii() and until.removeprefix("-").isdecimal()):
        raise ValueError(f"line {number}: its fifth field is no time in unix seconds, nor 0")
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise ValueError(f"line {number}: its name or value cannot be sent")
    below = flag.upper() == "TRUE"
    if below and registered_domain(host) is None and "." in host and not host.replace(".", "").isdigit():
        raise ValueError(f"line {number}: a cookie for all of a public suffix is none")
    at = float(until[:12])
    return GivenCookie(host, below, path or "/", secure.upper() == "TRUE", at if at > 0 else None, name, value)

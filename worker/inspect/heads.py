"""Heads of requests and answers as they travelled, read again for people and archives."""

import re
from typing import Final

from gregor.worker.base.printable import MASK

# Beside the standard ones, what a configured header is called that holds a secret: X-Api-Key, Private-Token, X-Auth.
_SECRET: Final = re.compile(
    rb"(?im)^(cookie|(?:[\w-]*-)?(?:authorization|auth|(?:api-?|access-?)?key|token|secret|password|credentials?"
    rb"|signature|session)(?:-[\w-]*)?)[ \t]*:[^\r\n]*"
)


def masked(head: bytes) -> bytes:
    """A request head without credentials and cookies, known by their headers' names: what is shown or archived travels
    further than we know."""
    return _SECRET.sub(lambda match: match[1] + f": {MASK}".encode(), head)


def parse(head: bytes) -> tuple[str, list[tuple[str, str]]]:
    """The first line and the headers of a head, latin-1. Folded lines are joined (RFC 9112 section 5.2); a line that
    is no header is left out."""
    first, *lines = head.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon and name.strip():
            headers.append((name.strip(), value.strip()))
    return first.strip(), headers


def printable(head: bytes) -> list[str]:
    """The lines of a head."""
    return head.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")

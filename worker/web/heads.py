"""Heads of requests and answers as they travelled, read again for people and archives."""

import re
from collections.abc import Iterable
from typing import Final

_TEXT: Final = rb"[!-~\xa1-\xff](?:[^\r\n]*[!-~\xa1-\xff])?"
_TIDY: Final = re.compile(rb"%s\r\n(?:[!-9;-~]+: (?:%s)?\r\n)*\r\n" % (_TEXT, _TEXT))


def parse(head: bytes) -> tuple[str, list[tuple[str, str]]]:
    """The first line and the headers of a head, latin-1. Folded lines are joined (RFC 9112 section 5.2); a line that
    is no header is left out."""
    first, *lines = head.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in " \t" and line and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon and (name := name.strip()):
            headers.append((name, value.strip()))
    return first.strip(), headers


def compose(line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """The head of a first line and headers."""
    lines = [f"{name}: {value}\r\n" for name, value in headers]
    return f"{line}\r\n{''.join(lines)}\r\n".encode("latin-1", "replace")


def is_tidy(head: bytes) -> bool:
    """Whether a head, parsed and written, would be what it is. That of most is, and an archive asks it of each."""
    return _TIDY.fullmatch(head) is not None


def printable(head: bytes) -> list[str]:
    """The lines of a head."""
    return head.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")

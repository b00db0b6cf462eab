"""Heads of requests and answers as they travelled, read again for people and archives."""


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


def printable(head: bytes) -> list[str]:
    """The lines of a head."""
    return head.decode("latin-1").replace("\r\n", "\n").rstrip("\n").split("\n")

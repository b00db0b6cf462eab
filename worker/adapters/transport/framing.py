"""Where the body of an HTTP/1 answer ends (RFC 9112 section 6.3), for transports that read it and to check them. Pure.

As browsers do, a length that is no number counts as none; unlike them the body is then marked, for nobody can say that
it is whole. Lengths that contradict each other are an attack or a broken cache: the answer is refused.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gregor.worker.adapters.transport.http1 import Head, MalformedHeadError

LONGEST_LINE: Final = 16_384
"""Bytes of a chunk's size with its extensions."""
FREE_OVERHEAD: Final = 16 << 20
"""Bytes of lines that chunks may have beyond those of their data: tiny chunks cost much and say little. Programs that
write without a buffer send pages in chunks of one octet, each with five of lines."""
HUGE: Final = 1 << 62
"""What every longer length is taken for: no body reaches it, so the answer counts as cut."""
_SIZE = re.compile(rb"0*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
_SMALL = re.compile(rb"([1-9A-Fa-f][0-9A-Fa-f]{0,3})\r\n")
_ODD_NAME = re.compile(rb"^(?:content-length|transfer-encoding)[ \t]+:", re.IGNORECASE | re.MULTILINE)

_RANGE = re.compile(r"bytes 0-([0-9]{1,18})/([0-9]{1,18})")


class Framing(NamedTuple):
    """`length` is None for a chunked body, and for one that ends with the connection; `unclear`: nobody can say that
    the body is whole, because the length that was stated is none, or because it is said to be a part."""

    chunked: bool
    length: int | None
    unclear: bool = False


def framing(head: Head) -> Framing:
    """How the body of an answer is framed. MalformedHeadError if that is contradictory or not of our codings."""
    if head.status < 200 or head.status in (204, 304):  # whatever they say: they have none
        return Framing(False, 0)
    codings = [coding for coding in tokens(head, "transfer-encoding") if coding != "identity"]
    if set(codings) > {"chunked"} or (codings and "chunked" not in codings):
        raise MalformedHeadError("unknown transfer coding")
    lengths = set(_lengths(head))
    if codings:  # whatever a length says then, it is overridden
        return Framing(True, None, _partial(head))
    if len(lengths) > 1:
        raise MalformedHeadError("Content-Length lines that contradict each other")
    length = next(iter(lengths), None)
    return Framing(False, length, (bool(lengths) and length is None) or _partial(head))


def _partial(head: Head) -> bool:
    """Whether an answer is a 206, which nobody asked for, with less than the whole (RFC 9110 section 14.4)."""
    found = _RANGE.fullmatch(next(iter(tokens(head, "content-range")), "")) if head.status == 206 else None
    return head.status == 206 and (found is None or int(found[1]) + 1 != int(found[2]))


def chunk_size(line: bytes) -> int | None:
    """The size in the first line of a chunk (RFC 9112 section 7.1); None if it is none, or not whole."""
    found = _SIZE.fullmatch(line)
    return None if found is None else int(found[1], 16)


class Dechunker:
    """Takes the chunks of a body off their lines. `done` after the last chunk, `broken` after what is no chunk.

    `trailer`: bytes that came after the last chunk. They say nothing that is wanted, but may go on for ever.
    """

    def __init__(self) -> None:
        self.done = self.broken = False
        self.trailer = 0
        self._left = 0
        self._line = b""
        self._in_data = False
        self._overhead = 0

    def feed(self, piece: bytes) -> bytes:
        """The data in the next piece, up to the end or to the fault."""
        data: list[bytes] = []
        at = 0
        while at < len(piece) and not (self.done or self.broken):
            at = self._small(piece, at, data)
            if self._left:
                data.append(piece[at : at + self._left])
                at += len(data[-1])
                self._left -= len(data[-1])
                self._overhead -= len(data[-1])
                continue
            end = piece.find(b"\n", at, at + LONGEST_LINE) + 1
            self._line += piece[at : end or len(piece)]
            self._overhead += (end or len(piece)) - at
            at = end or len(piece)
            if end:
                self._line_ended()
            self.broken = self.broken or len(self._line) > LONGEST_LINE or self._overhead > FREE_OVERHEAD
        self.trailer += (len(piece) - at) * self.done
        return b"".join(data)

    def _small(self, piece: bytes, at: int, data: list[bytes]) -> int:
        """Take the chunks that lie whole in the piece, in one go: there may be one for each octet. Where they end."""
        if self._left or self._line or self._in_data:
            return at
        size, begun, taken = _SMALL.match, at, 0
        while match := size(piece, at):
            first = match.end()
            after = first + int(match[1], 16)
            if piece[after : after + 2] != b"\r\n":
                break
            data.append(piece[first:after])
            taken += after - first
            at = after + 2
        self._overhead += at - begun - 2 * taken
        self.broken = self._overhead > FREE_OVERHEAD
        return at

    def _line_ended(self) -> None:
        line, self._line = self._line, b""
        if self._in_data:
            self._in_data, self.broken = False, line not in (b"\r\n", b"\n")
            return
        size = chunk_size(line)
        self.done, self.broken = size == 0, size is None
        self._left = size or 0
        self._in_data = bool(size)


def is_named_oddly(raw: bytes) -> bool:
    """Whether a head frames its body by a field with a blank before the colon: a field all the same (RFC 9112 section
    5.1 has proxies take the blank away), which libcurl does not see."""
    return _ODD_NAME.search(raw) is not None


def _lengths(head: Head) -> Iterator[int | None]:
    """Each length that is stated; None for what is none, an empty line too. Empty items of a list are nothing (RFC
    9110 section 5.6.1)."""
    for name, value in head.headers:
        if name.lower() == "content-length":
            items = [item.strip() for item in value.split(",")]
            yield from (_length(item) for item in items if item or len(set(items)) == 1)


def _length(text: str) -> int | None:
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) < 19 else HUGE


def tokens(head: Head, name: str) -> list[str]:
    """The lower-case items of a list header."""
    values = (value for key, value in head.headers if key.lower() == name)
    return [item.strip().lower() for value in values for item in value.split(",") if item.strip()]

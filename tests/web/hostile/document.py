"""How a document that means harm is made: what begins it, what is repeated, what ends it, and what packs it."""

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

import brotli
import zstandard

SIZE: Final = 16 * 1024 * 1024
"""Bytes of a document: the default of `max_body`."""
HALF: Final = SIZE // 2 - 1024
"""Bytes of one that is not cut, since its text is as long as one that is read to its end may be."""
HTML: Final = "text/html; charset=utf-8"
XML: Final = "application/xml"
XHTML: Final = "application/xhtml+xml"
CSS: Final = "text/css"
ROBOTS: Final = "robots.txt"
SITEMAP: Final = "sitemap"
HEADER: Final = "header "
"""Begins the type of what are header lines; the name of the header follows it."""
HEADERS: Final = 250 * 1024
"""Bytes of such lines, somewhat fewer than `max_header_bytes`."""
CODING: Final = "coding "
"""Begins the type of what is a coded body; its Content-Encoding follows it."""

PACKED: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": lambda body: gzip.compress(body, 1),
    "deflate": lambda body: zlib.compress(body, 1),
    "br": lambda body: bytes(brotli.compress(body, quality=1)),
    "zstd": lambda body: zstandard.ZstdCompressor(level=1).compress(body),
}


@dataclass(frozen=True, slots=True)
class Hostile:
    """One kind of markup in masses. ``kind`` is its media type, or what else it is; ``packed`` names what it is packed
    with, one coding after another."""

    name: str
    kind: str
    repeated: str | Callable[[int], str]
    before: str = ""
    after: str = ""
    encoding: str = "utf-8"
    size: int = SIZE
    packed: tuple[str, ...] = ()

    def body(self) -> bytes:
        """Its bytes, exactly `size` of them before they are packed, or a few less so that no tag is cut."""
        before, after = self.before.encode(self.encoding), self.after.encode(self.encoding)
        room = self.size - len(before) - len(after)
        if isinstance(self.repeated, str):
            piece = self.repeated.encode(self.encoding)
            body = before + piece * (room // len(piece)) + after
        else:
            body = before + _numbered(self.repeated, room, self.encoding) + after
        for coding in self.packed:
            body = PACKED[coding](body)
        return body


def _numbered(make: Callable[[int], str], room: int, encoding: str) -> bytes:
    pieces = bytearray()
    for number in count():
        piece = make(number).encode(encoding)
        if len(pieces) + len(piece) > room:
            return bytes(pieces)
        pieces += piece
    raise AssertionError

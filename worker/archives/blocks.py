"""What is read of records piece by piece: the head of one, the pieces of a file, whether a stated digest holds."""

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterator
from typing import BinaryIO, Final

PIECE: Final = 256 * 1024
"""Bytes of a block or a body that are in memory at once."""
END: Final = re.compile(rb"\r?\n\r?\n")
"""The end of a head, of a record as of an answer."""
_DIGESTS: Final = ("sha1", "sha256")


def up_to_end(pieces: Iterator[bytes], most: int) -> bytes:
    """The first pieces, until the end of a head is in them, or they have more than ``most`` bytes, or no more come."""
    start = b""
    for piece in pieces:
        start += piece
        if END.search(start) or len(start) > most:
            break
    return start


def pieces_of(file: BinaryIO) -> Iterator[bytes]:
    """What a file has from where it stands."""
    return iter(lambda: file.read(PIECE), b"")


class StatedDigest:
    """A digest as records state it (``sha1:…``, in base32 or hexadecimal), held against what is read."""

    def __init__(self, algorithm: str, value: str) -> None:
        self._digest = hashlib.new(algorithm, usedforsecurity=False)
        self._value = value.lower()
        self.update = self._digest.update

    def holds(self) -> bool:
        """Whether it is that of all pieces by which it was updated."""
        return self._value in (self._digest.hexdigest(), b32encode(self._digest.digest()).decode().lower())


def stated_digest(text: str) -> StatedDigest | None:
    """The digest that a text states; None for none, or one by an algorithm that is not known here."""
    algorithm, _, value = text.partition(":")
    return StatedDigest(algorithm.lower(), value) if algorithm.lower() in _DIGESTS else None

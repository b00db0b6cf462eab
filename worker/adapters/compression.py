"""How both engines compress what they keep of pages, and read it again, whole or not at all.

A frame carries a checksum of its content; a body is compared with the sha256 that names it as well.
"""

import hashlib
import io
import tempfile
from collections.abc import Callable
from typing import BinaryIO, Final, TypeVar, cast

import msgspec
import zstandard

from gregor.worker.borders.errors import Damaged

T = TypeVar("T")

LEVEL: Final = 1
"""Of zstd: three quarters of the time of level 3, the default, for 4 % more bytes."""
_BLOCK: Final = 1 << 18
_SPOOLED: Final = 1 << 20


def compressor() -> zstandard.ZstdCompressor:
    """For one thread; its frames have checksums."""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)


def decompressed(data: bytes, most: int) -> bytes:
    """The content of a frame, of ``most`` bytes at most: a damaged head may state any length. Raises ValueError."""
    try:
        size = zstandard.frame_content_size(data)
        if not 0 <= size <= most:
            raise ValueError("its length is none")
        content: bytes = zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    return content


def decoded(what: str, name: str, decode: Callable[[], T]) -> T:
    """What ``decode`` gives; `Damaged`, by this name, when it cannot."""
    try:
        return decode()
    except (ValueError, msgspec.MsgspecError, TypeError) as error:
        raise Damaged(what, name, str(error) or type(error).__name__) from error


class Whole:
    """Takes a stored body part by part; gives it back when it is what its sha256 names."""

    def __init__(self, sha256: str) -> None:
        self._sha256 = sha256
        self._digest = hashlib.sha256()
        self._body = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115 - whoever gets it closes it

    def write(self, data: bytes) -> int:
        """Append a part."""
        self._digest.update(data)
        return self._body.write(data)

    def opened(self) -> BinaryIO:
        """The body from its beginning. Raises `Damaged`."""
        if self._digest.hexdigest() != self._sha256:
            self.close()
            raise Damaged("body", self._sha256, "its bytes are not those that it was stored with")
        self._body.seek(0)
        return self._body

    def close(self) -> None:
        """Free what was taken."""
        self._body.close()


def intact(sha256: str, data: bytes) -> BinaryIO:
    """A body in memory that is what its sha256 names. Raises `Damaged`."""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Damaged("body", sha256, "its bytes are not those that it was stored with")
    return io.BytesIO(data)


def copy_whole(sha256: str, source: BinaryIO) -> BinaryIO:
    """A body read from a compressed stream, part by part. Raises `Damaged`."""
    body = Whole(sha256)
    try:
        for part in zstandard.ZstdDecompressor().read_to_iter(source, write_size=_BLOCK):
            body.write(part)
    except zstandard.ZstdError as error:
        body.close()
        raise Damaged("body", sha256, str(error)) from error
    except BaseException:
        body.close()
        raise
    return body.opened()

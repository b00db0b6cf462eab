"""One content coding each (RFC 9110 section 8.4.1, RFC 7932, RFC 8878): pieces in, pieces out, never much at once.

A stage yields what it can before it raises Corrupt, so the readable beginning of a damaged body is kept.
"""

import zlib
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import brotli

from gregor.worker.base.zstd import zstd

STEP: Final = 64 * 1024
"""Largest piece that a stage yields, but for zstd, whose blocks have up to twice as much."""

HEAD: Final = 16
"""How many octets of a body say whether it is coded at all."""

_BROTLI_SLICE = 2 * 1024
_BROTLI_KEPT = 1024 * 1024
"""Octets of a stream from which on its last slice is not decoded again."""
_ZSTD_OPTIONS: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}
"""The largest window that a zstd content coding may ask for has 8 MiB (RFC 9659)."""
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"
"""Behind an octet from 0x50 to 0x5f."""
_TEXT = bytes((9, 10, 12, 13, *range(0x20, 0x7F)))


class Corrupt(Exception):
    """The body is not what its Content-Encoding says, or ends too early."""


class Stage(Protocol):
    """Removes one coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` decodes to."""

    def finish(self) -> Iterator[bytes]:
        """What was held back; raises Corrupt if the coded stream has not ended."""


class Plain:
    """No coding at all."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> Iterator[bytes]:
        yield from ()


class Inflate:
    """One deflate stream in the wrapping that ``wbits`` names (see zlib.decompressobj)."""

    def __init__(self, wbits: int) -> None:
        self._stream = zlib.decompressobj(wbits)

    @property
    def ended(self) -> bool:
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        """What followed the end in the piece that had it."""
        return self._stream.unused_data

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = not self._stream.eof
        while more:
            before = self._stream.copy()
            try:
                piece = self._stream.decompress(data, STEP)
            except zlib.error as fault:
                yield from _salvage(before, data)
                raise Corrupt(f"the compressed body is damaged: {fault}") from None
            data = self._stream.unconsumed_tail
            # What follows the end may stand in unconsumed_tail too, for ever.
            more = not self._stream.eof and (bool(data) or len(piece) == STEP)
            yield piece

    def finish(self) -> Iterator[bytes]:
        if not self._stream.eof:
            raise Corrupt("the compressed body ends too early")
        yield from ()


def _salvage(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """What can be read before the fault: zlib drops the output of a call that fails, so each octet gets its own."""
    for at in range(len(data)):
        try:
            yield stream.decompress(data[at : at + 1])
        except zlib.error:
            return


class Gzip:
    """Gzip members one after another; padding and garbage behind them are ignored, as browsers do."""

    def __init__(self) -> None:
        self._member = Inflate(31)
        self._held = b""
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        data = self._held + data
        self._held = b""
        while data and not self._over:
            if self._member.ended:
                data = data.lstrip(b"\0")
                if len(data) < len(_GZIP_MAGIC) and _GZIP_MAGIC.startswith(data):
                    self._held = data
                    return
                self._over = not data.startswith(_GZIP_MAGIC)
                self._member = self._member if self._over else Inflate(31)
            yield from self._member.feed(data)
            data = self._member.rest

    def finish(self) -> Iterator[bytes]:
        yield from self._member.finish()


class Brotli:
    """One brotli stream; what follows it is ignored.

    The library drops the output of a call that meets a fault, or octets behind the end: such a slice is decoded again
    from the beginning of the stream, and then octet by octet.
    """

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._seen = bytearray()
        self._yielded = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _BROTLI_SLICE):
            if self._stream.is_finished():
                return
            piece = data[start : start + _BROTLI_SLICE]
            try:
                for decoded in self._process(piece):
                    self._yielded += len(decoded)
                    yield decoded
            except brotli.error:
                yield from self._again(piece)
            if len(self._seen) <= _BROTLI_KEPT:
                self._seen += piece

    def finish(self) -> Iterator[bytes]:
        if not self._stream.is_finished():
            raise Corrupt("the compressed body ends too early")
        yield from ()

    def _process(self, data: bytes) -> Iterator[bytes]:
        """Until nothing more comes: the library may hold back output although it took all of ``data``."""
        more = True
        while more:
            piece: bytes = self._stream.process(data, output_buffer_limit=STEP)
            yield piece
            data = b""
            more = not self._stream.is_finished() and (bool(piece) or not self._stream.can_accept_more_data())

    def _again(self, piece: bytes) -> Iterator[bytes]:
        """What ``piece`` decodes to before the end of the stream, or before the fault in it."""
        if len(self._seen) > _BROTLI_KEPT:
            raise Corrupt("the compressed body is damaged")
        self._stream = brotli.Decompressor()
        skip = self._yielded
        try:
            for octets in (bytes(self._seen), *(piece[at : at + 1] for at in range(len(piece)))):
                if self._stream.is_finished():
                    return
                for decoded in self._process(octets):
                    if decoded[skip:]:
                        yield decoded[skip:]
                    skip = max(0, skip - len(decoded))
        except brotli.error:
            raise Corrupt("the compressed body is damaged") from None


class Zstd:
    """Zstandard frames one after another (RFC 8878 section 3); what follows them is ignored.

    The library cannot bound its output, so it gets block by block: no block has more than 128 KiB. Each step is called
    with as many octets as it wants, returns what they decode to, and says what comes next.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._next: Callable[[bytes], bytes] = self._magic
        self._wanted = 4
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        at = 0
        while not self._over and len(self._buffer) - at >= self._wanted:
            taken = bytes(self._buffer[at : at + self._wanted])
            at += self._wanted
            yield self._next(taken)
        del self._buffer[:at]

    def finish(self) -> Iterator[bytes]:
        begun = bool(self._buffer) and _ZSTD_MAGIC.startswith(self._buffer)
        if not self._over and (self._next != self._magic or begun):
            raise Corrupt("the compressed body ends too early")
        yield from ()

    def _want(self, octets: int, step: Callable[[bytes], bytes]) -> bytes:
        self._wanted, self._next = octets, step
        return b""

    def _magic(self, octets: bytes) -> bytes:
        if octets == _ZSTD_MAGIC:
            return self._want(1, self._descriptor)
        if octets[1:] == _ZSTD_SKIPPABLE and octets[0] & 0xF0 == 0x50:
            return self._want(4, self._skippable)
        self._over = True
        return b""

    def _skippable(self, octets: bytes) -> bytes:
        return self._skip(int.from_bytes(octets, "little"))

    def _skip(self, left: int) -> bytes:
        if not left:
            return self._want(4, self._magic)
        return self._want(min(left, STEP), lambda octets: self._skip(left - len(octets)))

    def _descriptor(self, octets: bytes) -> bytes:
        (descriptor,) = octets
        single, self._checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
        size = (single, 2, 4, 8)[descriptor >> 6] + (0, 1, 2, 4)[descriptor & 3] + (not single)
        self._frame = zstd.ZstdDecompressor(options=_ZSTD_OPTIONS)
        return self._want(size, lambda header: self._decode(_ZSTD_MAGIC + octets + header) + self._want(3, self._block))

    def _block(self, octets: bytes) -> bytes:
        head = int.from_bytes(octets, "little")
        last, run, size = head & 1, head >> 1 & 3 == 1, head >> 3
        following = (4, self._end) if self._checksum else (4, self._magic)
        return self._want(
            1 if run else size,
            lambda content: self._decode(octets + content) + self._want(*(following if last else (3, self._block))),
        )

    def _end(self, octets: bytes) -> bytes:
        return self._decode(octets) + self._want(4, self._magic)

    def _decode(self, octets: bytes) -> bytes:
        try:
            return self._frame.decompress(octets)
        except zstd.ZstdError as fault:
            raise Corrupt(f"the compressed body is damaged: {fault}") from None


def stage(coding: str, head: bytes) -> Stage:
    """What removes ``coding`` from a body that begins with ``head`` (HEAD octets, unless it is shorter). A body that is
    plainly not coded passes as it is: it lacks the magic number, or is all text where there is no magic number."""
    if not head or (coding in ("br", "deflate") and len(head) == HEAD and not head.translate(None, _TEXT)):
        return Plain()
    match coding:
        case "gzip" | "x-gzip":
            return Gzip() if head.startswith(_GZIP_MAGIC) else Plain()
        case "deflate" if head.startswith(_GZIP_MAGIC):
            return Gzip()  # misnamed: no deflate stream begins so
        case "deflate":
            # Meant is the zlib format (RFC 9110 section 8.4.1.2); some servers send the bare stream.
            zlib_header = head[0] & 0x8F == 8 and int.from_bytes(head[:2]) % 31 == 0
            return Inflate(15 if zlib_header else -15)
        case "br":
            return Brotli()
        case _:
            frame = head.startswith(_ZSTD_MAGIC) or (head[1:4] == _ZSTD_SKIPPABLE and head[0] & 0xF0 == 0x50)
            return Zstd() if frame else Plain()

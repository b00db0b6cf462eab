"""Records of WARC 1.1 (ISO 28500:2017) as they lie in a file: heads, digests, each compressed alone (its annex D).

Own code where warcio could write them, for an export is mostly this (`benchmarks.exporting`). warcio's reader and
checker are what the tests judge it by.
"""

import hashlib
import io
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, cast

from gmpy2 import mpz
from isal import isal_zlib
from msgspec import Struct

from gregor.worker.archives.blocks import pieces_of
from gregor.worker.base.printable import one_line

VERSION: Final = "WARC/1.1"
CONTENT_TYPES: Final = {
    "warcinfo": "application/warc-fields",
    "response": "application/http; msgtype=response",
    "revisit": "application/http; msgtype=response",
    "request": "application/http; msgtype=request",
}
_DIGESTED: Final = frozenset({"response", "resource"})
"""Kinds whose payload gets a digest of its own; that of a revisit is the original's."""
_SMALL: Final = 1 << 20
"""Bytes of a payload up to which a record is made in memory."""
_LEVEL: Final = 2
"""ISA-L's: on HTML it packs as zlib's 6, in a fifth of the time or less."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_END: Final = b"\r\n\r\n"
_BASE32: Final = bytes.maketrans(b"0123456789abcdefghijklmnopqrstuv", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
"""GMP's digits, and those that they are in files; of octets, which are translated in a seventh of a text's time."""


class WarcRecord(Struct):
    """A record before it is written. ``fields``: what its head says beside its kind, its length and its digests.
    ``http``: the head of a request or an answer. ``payload`` is read from its beginning; it is `size` octets."""

    kind: str
    url: str
    fields: dict[str, str]
    http: bytes = b""
    payload: BinaryIO | bytes = b""
    size: int = 0

    @property
    def identity(self) -> str:
        """Its WARC-Record-ID."""
        return self.fields["WARC-Record-ID"]

    @property
    def digest(self) -> str:
        """Of its payload, once it is written; "" if it has none."""
        return self.fields.get("WARC-Payload-Digest", "")


class Packed(Struct):
    """A record as it lies in a file: so many octets."""

    content: bytes | BinaryIO
    length: int

    def write_to(self, file: BinaryIO) -> None:
        """All of it; what was taken for it is free then."""
        if isinstance(self.content, bytes):
            file.write(self.content)
            return
        with self.content as content:
            content.seek(0)
            shutil.copyfileobj(content, file)


def pack(record: WarcRecord) -> Packed:
    """Put the digests into its fields, and compress it."""
    http = record.http
    if isinstance(record.payload, bytes) or record.size <= _SMALL:
        payload = record.payload if isinstance(record.payload, bytes) else _read_whole(record.payload)
        block = http + payload
        if record.kind in _DIGESTED:
            record.fields["WARC-Payload-Digest"] = digest_of(hashlib.sha1(payload, usedforsecurity=False))
        record.fields["WARC-Block-Digest"] = digest_of(hashlib.sha1(block, usedforsecurity=False))
        content = isal_zlib.compress(_head(record, len(block)) + block + _END, _LEVEL, _GZIP)
        return Packed(content, len(content))
    return _pack_large(record, record.payload, http)


def _pack_large(record: WarcRecord, payload: BinaryIO, http: bytes) -> Packed:
    own, block = hashlib.sha1(usedforsecurity=False), hashlib.sha1(http, usedforsecurity=False)
    for part in _parts(payload):
        own.update(part)
        block.update(part)
    if record.kind in _DIGESTED:
        record.fields["WARC-Payload-Digest"] = digest_of(own)
    record.fields["WARC-Block-Digest"] = digest_of(block)
    compressor = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP)
    spool = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SMALL))  # noqa: SIM115 - closed by `write_to`
    spool.write(compressor.compress(_head(record, len(http) + record.size) + http))
    for part in _parts(payload):
        spool.write(compressor.compress(part))
    spool.write(compressor.compress(_END))
    spool.write(compressor.flush())
    return Packed(spool, spool.tell())


def _head(record: WarcRecord, length: int) -> bytes:
    url = f"WARC-Target-URI: {record.url}\r\n" if record.url else ""
    fields = "".join([f"{name}: {value}\r\n" for name, value in record.fields.items()])
    ending = f"Content-Type: {CONTENT_TYPES.get(record.kind, 'text/plain')}\r\nContent-Length: {length}\r\n\r\n"
    return f"{VERSION}\r\nWARC-Type: {record.kind}\r\n{url}{fields}{ending}".encode()


def digest_of(digest: "hashlib._Hash") -> str:
    """A SHA-1 as WARC files have it: in base32, which GMP writes in a tenth of the standard library's time."""
    digits = mpz(int.from_bytes(digest.digest())).digits(32).rjust(32, "0")
    return f"sha1:{digits.encode().translate(_BASE32).decode()}"


def text_of(fields: dict[str, str]) -> bytes:
    """Lines of the type application/warc-fields."""
    return "".join(f"{name}: {one_line(value)}\r\n" for name, value in fields.items() if value).encode()


def _read_whole(payload: BinaryIO) -> bytes:
    payload.seek(0)
    return payload.read()


def _parts(payload: BinaryIO) -> Iterator[bytes]:
    payload.seek(0)
    return pieces_of(payload)


def size_of(payload: BinaryIO) -> int:
    """The octets of a payload, which is left at its start."""
    size = payload.seek(0, io.SEEK_END)
    payload.seek(0)
    return size

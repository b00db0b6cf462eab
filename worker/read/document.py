"""A downloaded document: one download, read by as many processors as like to."""

import hashlib
import io
import tempfile
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, cast

import msgspec

from gregor.worker.web import media_type
from gregor.worker.web.encodings import sniff

if TYPE_CHECKING:
    from typing_extensions import Buffer

THRESHOLD = 256 * 1024
"""Bytes of a body that stay in memory; a larger one goes to a file."""
_THRESHOLDS = (64 * 1024, 1024 * 1024)


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One reference from a document to another."""

    url: str
    """The reference as it stands in the document, outer white space removed; not resolved."""
    kind: str
    """What refers: the element (``a``, ``img``, …), or what a ``link`` is for (``next``, ``canonical``, ``css``, …)."""
    nofollow: bool = False
    """Whether its rel says nofollow, ugc or sponsored."""
    text: str = ""
    """The anchor text, white space collapsed, capped."""


class Extract(msgspec.Struct):
    """What a document says."""

    title: str | None = None
    text: str = ""
    """The visible text, white space collapsed."""
    links: list[Link] = []
    base: str | None = None
    """The reference of the first ``base[href]``, not resolved: see `references.base_url`."""
    canonical: str | None = None
    meta_robots: list[tuple[str, str]] = []
    """Name and content of every ``meta`` with a name that may speak to robots, in order."""
    refresh: str | None = None
    """Where the first ``meta`` refresh leads, ``""`` being the page itself; None without one."""
    encoding: str = "utf-8"
    lang: str | None = None
    refresh_delay: int = 0
    """Seconds after which a browser would follow ``refresh``."""
    truncated: bool = False
    """Whether there were more links than were kept."""


class BodyTooLarge(Exception):
    """More bytes than the cap were written to a body."""


class SpooledBody:
    """Takes a body as it arrives: in memory up to ``threshold`` bytes, beyond that in a nameless temporary file."""

    def __init__(self, *, cap: int, threshold: int = THRESHOLD, folder: str | None = None) -> None:
        """``cap`` is the number of bytes that may be written at all; ``folder`` is where the file is made.

        Raises ValueError if ``threshold`` is not between 64 KiB and 1 MiB.
        """
        if not _THRESHOLDS[0] <= threshold <= _THRESHOLDS[1]:
            raise ValueError(f"threshold must be between {_THRESHOLDS[0]} and {_THRESHOLDS[1]} bytes, not {threshold}")
        self._cap = cap
        self._threshold = threshold
        self._folder = folder
        self._file: BinaryIO = io.BytesIO()
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Appends ``data``. Raises :class:`BodyTooLarge` before anything beyond the cap is kept, OSError if the disk is
        full."""
        size = self.size + len(data)
        if size > self._cap:
            raise BodyTooLarge(f"more than {self._cap} bytes")
        if self.size <= self._threshold < size:
            memory, self._file = self._file, cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
            self._file.write(cast(io.BytesIO, memory).getvalue())
        self._file.write(data)
        self._digest.update(data)
        self.size = size

    @property
    def sha256(self) -> str:
        """Of what was written so far, in hexadecimal."""
        return self._digest.hexdigest()

    def read(self, limit: int = -1) -> bytes:
        """All that was written, or its first ``limit`` bytes. Writing goes on at the end."""
        return self.read_at(0, limit)

    def open(self) -> BinaryIO:
        """A reader of its own over the whole body, valid until :meth:`close`."""
        if isinstance(self._file, io.BytesIO):
            return io.BytesIO(self._file.getvalue())  # no copy: the two share it
        return cast(BinaryIO, io.BufferedReader(_Reader(self)))

    def close(self) -> None:
        """Frees the memory or deletes the file. May be called again."""
        self._file.close()

    def read_at(self, offset: int, size: int) -> bytes:
        """At most ``size`` bytes from ``offset`` on; all of them for -1."""
        self._file.seek(offset)
        data = self._file.read(size)
        self._file.seek(0, 2)
        return data


class _Reader(io.RawIOBase):
    def __init__(self, body: SpooledBody) -> None:
        self._body = body
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._body.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: "Buffer") -> int:
        view = memoryview(buffer)
        data = self._body.read_at(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


class Document:
    """A body with its URL and its type. Reading it does not use it up."""

    def __init__(self, href: str, body: bytes | SpooledBody, content_type: str | None = None) -> None:
        """``content_type`` is the header as received (several lines joined by ", "); None if there was none."""
        self.href = href
        self.header = content_type
        self._body = body

    @cached_property
    def content_type(self) -> str:
        """The media type, lower case, without parameters; sniffed where the header says nothing."""
        return media_type.sniff(self.prefix(media_type.SNIFFED), self.header)

    @cached_property
    def header_charset(self) -> str | None:
        """The encoding that the header names, by its standard name."""
        return sniff.header_charset(self.header)

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return len(self._body) if isinstance(self._body, bytes) else self._body.size

    @cached_property
    def sha256(self) -> str:
        """Of the body, in hexadecimal."""
        return hashlib.sha256(self._body).hexdigest() if isinstance(self._body, bytes) else self._body.sha256

    def read(self) -> bytes:
        """The whole body."""
        return self._body if isinstance(self._body, bytes) else self._body.read()

    def prefix(self, size: int) -> bytes:
        """Its first ``size`` bytes."""
        return self._body[:size] if isinstance(self._body, bytes) else self._body.read(size)

    def open(self) -> BinaryIO:
        """A reader over the whole body; each call gives another one."""
        return io.BytesIO(self._body) if isinstance(self._body, bytes) else self._body.open()

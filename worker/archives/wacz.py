"""WACZ 1.1.1 (specs.webrecorder.net/wacz/1.1.1): WARC files, their index and their list of pages in one ZIP.

What is in it lies there uncompressed, but for the list of pages, so that a player reads single records out of it.
"""

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import BinaryIO, Final, cast

import msgspec

from gregor import __version__

_VERSION: Final = "1.1.1"
_PAGES: Final = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
_SPOOLED: Final = 4 << 20


class Resource(msgspec.Struct, frozen=True):
    """A file in it, with its sha256 and octets."""

    name: str
    path: str
    hash: str
    bytes: int


class Wacz:
    """Writes one, from its beginning to its end: the file need not be one that can be searched."""

    def __init__(self, file: BinaryIO, title: str, now: float) -> None:
        """``now``: unix seconds."""
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._title = title
        self._now = datetime.fromtimestamp(now, UTC)
        self._pages = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SPOOLED))  # noqa: SIM115 - closed by `finish`
        self._pages.write(msgspec.json.encode(_PAGES) + b"\n")
        self._resources: list[Resource] = []
        self._archive: ZipEntry | None = None

    def begin(self, number: int) -> tuple[str, BinaryIO]:
        """The WARC file of a number, as `segments.Segments` wants it."""
        self._end()
        name = f"data-{number:05}.warc.gz"
        self._archive = ZipEntry(self._zip, self._info(f"archive/{name}", zipfile.ZIP_STORED))
        return name, cast(BinaryIO, self._archive)

    def page(self, identity: str, url: str, date: str, title: str) -> None:
        """A page that a person may want to open."""
        page = {"id": identity, "url": url, "ts": date} | ({"title": title} if title else {})
        self._pages.write(msgspec.json.encode(page) + b"\n")

    def finish(self, index: Iterable[bytes]) -> None:
        """The index, the pages, and what is in all of it with its digests."""
        self._end()
        self._add("indexes/index.cdxj", index)
        self._pages.seek(0)
        self._add("pages/pages.jsonl", self._pages, zipfile.ZIP_DEFLATED)
        self._pages.close()
        described = {
            "profile": "data-package",
            "wacz_version": _VERSION,
            "title": self._title,
            "created": self._now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "software": f"gregor {__version__}",
            "resources": self._resources,
        }
        package = msgspec.json.format(msgspec.json.encode(described), indent=2)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
        self._add("datapackage.json", [package])
        self._add("datapackage-digest.json", [msgspec.json.encode(digest)])
        self._zip.close()

    def _end(self) -> None:
        if self._archive is not None:
            self._resources.append(self._archive.ended())
            self._archive = None

    def _add(self, path: str, pieces: Iterable[bytes], compression: int = zipfile.ZIP_STORED) -> None:
        entry = ZipEntry(self._zip, self._info(path, compression))
        for piece in pieces:
            entry.write(piece)
        self._resources.append(entry.ended())

    def _info(self, path: str, compression: int) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(path, self._now.timetuple()[:6])
        info.compress_type = compression
        return info


class ZipEntry(io.RawIOBase):
    """A file in the ZIP as it is written, with its digest."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._file = archive.open(info, "w", force_zip64=True)
        self._path = info.filename
        self._digest = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        octets = bytes(cast(bytes, data))
        self._file.write(octets)
        self._digest.update(octets)
        self._size += len(octets)
        return len(octets)

    def ended(self) -> Resource:
        """What it is, now that all of it is there."""
        self._file.close()
        name = self._path.rpartition("/")[2]
        return Resource(name, self._path, f"sha256:{self._digest.hexdigest()}", self._size)

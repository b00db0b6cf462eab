"""WARC files that are taken in: those that are named, and those that WACZ files (ZIP with WARC files in it) have."""

import mmap
import shutil
import struct
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, closing
from pathlib import Path
from typing import BinaryIO, Final, cast

from gregor.worker.archives.files import Bytes, WarcFile
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""How a ZIP begins, also an empty one."""
_NAMES: Final = (".warc", ".warc.gz")
_HEAD: Final = struct.Struct("<4s22xHH")
"""Of a file in a ZIP, before its name and its extra field: signature, and the lengths of these (APPNOTE 4.3.7)."""


class MappedPart:
    """A part of a file that is mapped into memory."""

    def __init__(self, data: mmap.mmap, start: int, size: int) -> None:
        self._data = data
        self._start = start
        self._end = start + size

    def __len__(self) -> int:
        return self._end - self._start

    def __getitem__(self, part: slice, /) -> bytes:
        first, last, _ = part.indices(len(self))
        return self._data[self._start + first : self._start + last]

    def find(self, sought: bytes, start: int, /) -> int:
        """Where some bytes are, from ``start`` on; -1 if nowhere."""
        place = self._data.find(sought, self._start + start, self._end)
        return place if place < 0 else place - self._start


def opened(path: Path, stack: ExitStack) -> list[WarcFile]:
    """The WARC files that a file is or has, open for as long as ``stack`` is. Raises `BadInput` with one line."""
    try:
        with path.open("rb") as file:
            is_zip = file.read(4) in _ZIP
    except OSError as error:
        raise BadInput(f"cannot read {one_line(str(path))}: {why(error)}") from None
    if not is_zip:
        return [stack.enter_context(closing(WarcFile(path)))]
    try:
        return _of_wacz(path, stack)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadInput(f"{one_line(str(path))} is no WACZ file that can be read: {one_line(str(error), 300)}") from None
    except OSError as error:
        raise BadInput(f"cannot read {one_line(str(path))}: {why(error)}") from None


def _of_wacz(path: Path, stack: ExitStack) -> list[WarcFile]:
    archive = stack.enter_context(zipfile.ZipFile(path))
    entries = [info for info in archive.infolist() if info.filename.lower().endswith(_NAMES) and info.file_size]
    if not entries:
        raise BadInput(f"{one_line(str(path))} has no WARC files: it is no WACZ")
    file = stack.enter_context(path.open("rb"))
    data = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return [
        stack.enter_context(closing(WarcFile(path / info.filename, _bytes_of(archive, info, data, stack))))
        for info in sorted(entries, key=lambda info: info.filename)
    ]


def _bytes_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo, data: mmap.mmap, stack: ExitStack) -> Bytes:
    """A file of a ZIP: where it lies, if it lies there as it is, else unpacked into a temporary one."""
    if info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1:
        signature, name, extra = _HEAD.unpack_from(data, info.header_offset)
        start = info.header_offset + _HEAD.size + name + extra
        if signature != _ZIP[0] or start + info.file_size > len(data):
            raise zipfile.BadZipFile(f"{info.filename} does not lie where the directory says")
        return MappedPart(data, start, info.file_size)
    unpacked = cast(BinaryIO, stack.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
    with archive.open(info) as packed:
        shutil.copyfileobj(packed, unpacked)
    unpacked.flush()
    return stack.enter_context(mmap.mmap(unpacked.fileno(), 0, access=mmap.ACCESS_READ))

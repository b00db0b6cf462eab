"""Lines of a log file that grows and is rotated, from where one stopped; each at least once.

Where one stopped is kept in a file beside the index, by the file's number (inode) and the offset in it: a file that was
renamed is read to its end first. One that was cut, or copied and cut, is read from its beginning; one that was
compressed or deleted before it was read is gone, as its lines are.
"""

import os
from pathlib import Path
from typing import Final

import msgspec

from gregor.worker.base.replaced import replaced

AT_ONCE: Final = 1 << 20
"""Bytes that are read at once."""
LONGEST: Final = 64 * 1024
"""Bytes of a line; a longer one is left out."""


class LogPlace(msgspec.Struct, frozen=True):
    """Where one stopped."""

    inode: int = 0
    offset: int = 0


class LogFile:
    """Reads it piece by piece. Nothing is open between two calls."""

    def __init__(self, file: Path, kept: Path) -> None:
        """``kept``: where it is kept how far it was read."""
        self._file = file
        self._kept = kept
        try:
            self._place = msgspec.json.decode(kept.read_bytes(), type=LogPlace)
        except (OSError, msgspec.MsgspecError):
            self._place = LogPlace()

    def lines(self) -> list[tuple[int, bytes]]:
        """The next whole lines, each with the offset where it begins; [] when there are none now."""
        while True:
            file = self._current()
            if file is None:
                return []
            read = self._read(file)
            if read is None:
                return []  # the next look finds where it is now
            lines, behind = read
            self._place = msgspec.structs.replace(self._place, offset=behind)
            if lines or file == self._file:
                return lines
            self._place = LogPlace()  # a file that was renamed is read to its end

    def keep(self) -> None:
        """Remember durably how far it was read."""
        with replaced(self._kept) as file:
            file.write(msgspec.json.encode(self._place))

    def _current(self) -> Path | None:
        """The file that is to be read on."""
        last = self._place.inode
        rotated: list[Path] = sorted(self._file.parent.glob(f"{self._file.name}?*")) if last else []
        for file in [self._file, *rotated]:
            inode, size = _inode_and_size(file)
            if last and inode == last:
                if size < self._place.offset:
                    self._place = LogPlace(last, 0)
                return file
        inode, _ = _inode_and_size(self._file)
        self._place = LogPlace(inode, 0)
        return self._file if inode else None

    def _read(self, file: Path) -> tuple[list[tuple[int, bytes]], int] | None:
        """The next lines, and where they end; None where another file has that name by now."""
        at = self._place.offset
        try:
            with file.open("rb") as stream:
                if os.fstat(stream.fileno()).st_ino != self._place.inode:
                    return None
                stream.seek(at)
                data = stream.read(AT_ONCE)
        except OSError:
            return None
        lines: list[tuple[int, bytes]] = []
        complete = data[: data.rfind(b"\n") + 1]
        if not complete and len(data) == AT_ONCE:  # the inside of a line that is too long
            return [(at, b"")], at + len(data)
        for line in complete.splitlines(keepends=True):
            if len(line) <= LONGEST:
                lines.append((at, line))
            at += len(line)
        return lines, at


def _inode_and_size(file: Path) -> tuple[int, int]:
    """Both 0 where there is none; asked for at once, since it may be renamed at any moment."""
    try:
        about = os.stat(file)  # noqa: PTH116
    except OSError:
        return 0, 0
    return about.st_ino, about.st_size

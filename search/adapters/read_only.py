"""Searching an index whose folder may not be written, on media that are read-only or as another user.

The engine makes a lock beside the files that it opens, even to read them. So it is given a folder of its own, in which
their names lead to them.
"""

import os
import tempfile
from pathlib import Path
from typing import Final

from gregor.worker.base.replaced import replaced

_META: Final = "meta.json"
"""Names the files of the last commit. It is replaced whole."""


class LinkedFolder:
    """A folder for an engine that leads to the files of another one; it goes with this object."""

    def __init__(self, folder: Path) -> None:
        """Raises `OSError`."""
        self._folder = folder
        self._place = tempfile.TemporaryDirectory(prefix="gregor-index-")
        self.renew()

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self._place.name)

    def renew(self) -> None:
        """Have it lead to what was committed last. Raises `OSError`."""
        meta = (self._folder / _META).read_bytes()  # before the names, so that all which it names are among them
        there = {file.name for file in self._folder.iterdir() if file.suffix != ".lock"} - {_META}
        led_to = {file.name for file in self.path.iterdir() if file.suffix != ".lock"} - {_META}
        for name in there - led_to:
            (self.path / name).symlink_to((self._folder / name).absolute())
        with replaced(self.path / _META) as file:
            file.write(meta)
        for name in led_to - there:  # who searches still has them open
            (self.path / name).unlink()


def linked(folder: Path) -> LinkedFolder | None:
    """What an index is searched by in a folder that may not be written; None for one that may. Raises `OSError`."""
    return None if os.access(folder, os.W_OK) else LinkedFolder(folder)

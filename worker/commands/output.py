"""Where a command writes: standard output, or a file or object that gets its name when it is whole."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gregor.worker.archives import places
from gregor.worker.base.crawl_folder import DATABASE, holds_crawl
from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line


def _is_of_a_crawl(target: Path) -> bool:
    """Whether a crawl would be lost with what is there: its database and what SQLite keeps beside it, files without an
    ending (locks, tokens), and all in the folders below."""
    if not target.is_file():
        return False
    if holds_crawl(target.parent):
        return target.name.startswith(DATABASE) or not target.suffix
    return any(map(holds_crawl, target.parents[1:3]))


@contextmanager
def output(path: str, refused: str = "") -> Iterator[BinaryIO]:
    """Standard output for "-"; a file gets its name when it is whole. ``refused``: why it cannot go to a terminal."""
    if path == "-":
        if refused and sys.stdout.isatty():
            raise BadInput(refused)
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not path:
        raise BadInput("--output wants the name of a file")
    places.refuse_spreadsheet(path)
    target = Path(path).resolve()  # a link stays a link
    if not places.is_remote(path):
        if target.is_dir():
            raise BadInput(f"cannot write {one_line(path)}: it is a folder")
        if _is_of_a_crawl(target):
            raise BadInput(f"cannot write {one_line(path)}: it is a file of a crawl")
        if target.exists() and not target.is_file():  # a pipe or a device: it cannot be replaced, only written to
            with target.open("wb") as file:
                yield file
            return
    folder, name = places.split(path) if places.is_remote(path) else (str(target.parent), target.name)
    place = places.place_of(folder)
    with places.writing(path):
        new = place.create(name)
        try:
            yield new.file
            new.keep()
        except BaseException:
            new.drop()
            raise

"""Where a command writes: standard output, or a file that gets its name when it is whole."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line


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
    target = Path(path).resolve()  # a link stays a link
    if target.is_dir():
        raise BadInput(f"cannot write {one_line(path)}: it is a folder")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")  # two exports to one name do not meet
    if target.exists() and not target.is_file():  # a pipe or a device: it cannot be replaced, only written to
        with target.open("wb") as file:
            yield file
        return
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise BadInput(f"cannot write {one_line(path)}: {why(error)}") from None
    finally:
        with suppress(OSError):  # where nothing can be written there is nothing to remove
            part.unlink(missing_ok=True)

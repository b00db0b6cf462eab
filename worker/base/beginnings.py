"""Files that people name, read as far as it makes sense."""

from pathlib import Path

from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line


def read_beginning(file: str, most: int, what: str = "") -> bytes:
    """``most`` bytes of a file at most. ``what``: what it is, for people. Raises `BadInput` with one line."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(most)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {what and f'{what} '}{one_line(file)}: {why(error)}") from None

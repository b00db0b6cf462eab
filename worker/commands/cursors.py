"""Until when an earlier export had everything: a small file beside it."""

from pathlib import Path
from typing import Final

import msgspec

from gregor.schemas.events import rfc3339
from gregor.worker.base.errors import BadInput, why
from gregor.worker.base.printable import one_line
from gregor.worker.base.replaced import replaced

_OVERLAP: Final = 60.0
"""Seconds that two exports share: what was settled then may come twice; nothing is left out, though clocks differ."""


class Cursor(msgspec.Struct):
    """What the file says."""

    since: float
    """Unix seconds: the next export begins there."""
    read: str = ""
    """The same, for people."""


def since(file: str) -> float | None:
    """When the last export with this file began, unix seconds; None where there was none yet. Raises `BadInput`."""
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=Cursor).since
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"cannot read {one_line(file)}: {why(error)}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadInput(f"{one_line(file)} is no cursor of an export: name a file that is not there yet") from None


def keep(file: str, now: float) -> None:
    """The export that began at ``now`` is whole. Raises `BadInput` where that cannot be kept."""
    try:
        with replaced(Path(file)) as cursor:
            cursor.write(msgspec.json.encode(Cursor(now - _OVERLAP, rfc3339(now - _OVERLAP))) + b"\n")
    except OSError as error:
        raise BadInput(f"all was given out, but cannot write {one_line(file)}: {why(error)}") from None

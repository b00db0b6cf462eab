"""What a person did that cannot work, as one line that says what to do; the command line ends with exit code 2."""

import contextlib
import os
import re
import sys
from datetime import UTC, datetime
from typing import Final

import msgspec

from gregor.worker.base.printable import mask_user_info, one_line
from gregor.worker.base.typed import as_typed

_WORDING = {
    "int": "integer",
    "float": "number",
    "bool": "true or false",
    "str": "text",
    "null": "none",
    "object": "table",
    "array": "list",
    "|": "or",
}
_TYPE = re.compile(r"\b(int|float|bool|str|null|object|array)\b|(?<= )\|(?= )")


class BadInput(Exception):
    """An argument, a file or a setting cannot be used. The text is one line, complete, without a trailing stop."""


class Occupied(BadInput):
    """Another process has what is asked for at this moment: later it can be had."""


def why(error: BaseException) -> str:
    """Why a file cannot be used, or a server not be reached, in one line without its name: the caller says which."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not text in {error.encoding.upper()}"
    words = ""
    if isinstance(error, OSError):
        # asyncio puts the address into its texts. The modules for TLS and for names number their errors otherwise.
        own = type(error).__module__ == OSError.__module__
        words = os.strerror(error.errno) if own and isinstance(error.errno, int) else error.strerror or ""
    return one_line(words or str(error) or type(error).__name__)


def plain_types(message: str) -> str:
    """What msgspec says of a value that does not fit, with the words of JSON and TOML for its types."""
    return _TYPE.sub(lambda word: _WORDING[word[0]], message.replace("`", ""))


_FORM: Final = {"json": False}
"""How this process speaks on standard error."""


def speak(form: str) -> None:
    """Speak as ``log_format`` says from now on: "json" makes every line on standard error an object."""
    _FORM["json"] = form == "json"


def speaks_json() -> bool:
    """Whether every line on standard error has to be an object."""
    return _FORM["json"]


def complain(message: str, level: str = "warning") -> None:
    """One line on standard error, harmless for a terminal. That it cannot be written there changes nothing.

    ``level`` is told where lines are objects.
    """
    text = one_line(mask_user_info(as_typed(message)), 2000)
    with contextlib.suppress(OSError):
        print(spoken(level, "command", text) if speaks_json() else f"gregor: {text}", file=sys.stderr)


def spoken(level: str, source: str, event: str, **fields: object) -> str:
    """A line of JSON with the head that every line of the log has."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
    return msgspec.json.encode({"time": time, "level": level, "source": source, "event": event, **fields}).decode()

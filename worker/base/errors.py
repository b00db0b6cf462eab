"""What a person did that cannot work, as one line that says what to do; the command line ends with exit code 2."""

import contextlib
import os
import re
import sys

from gregor.worker.base.printable import one_line

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


def complain(message: str) -> None:
    """One line on standard error, harmless for a terminal. That it cannot be written there changes nothing."""
    with contextlib.suppress(OSError):
        print(f"gregor: {one_line(message, 2000)}", file=sys.stderr)

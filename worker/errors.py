"""What a person did that cannot work, as one line that says what to do; the command line ends with exit code 2."""

import contextlib
import sys

from gregor.worker.text import one_line


class BadInput(Exception):
    """An argument, a file or a setting cannot be used. The text is one line, complete, without a trailing stop."""


def why(error: OSError | ValueError) -> str:
    """Why a file cannot be used, in one line and without its name: the caller says which."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not text in {error.encoding.upper()}"
    return one_line((isinstance(error, OSError) and error.strerror) or str(error))


def complain(message: str) -> None:
    """One line on standard error, harmless for a terminal. That it cannot be written there changes nothing."""
    with contextlib.suppress(OSError):
        print(f"gregor: {one_line(message, 2000)}", file=sys.stderr)

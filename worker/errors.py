"""What a person did that cannot work, as one line that says what to do; the command line ends with exit code 2."""

import sys

from gregor.worker.text import one_line


class BadInput(Exception):
    """An argument, a file or a setting cannot be used. The text is one line, complete, without a trailing stop."""


def complain(message: str) -> None:
    """One line on standard error, harmless for a terminal."""
    print(f"gregor: {one_line(message, 2000)}", file=sys.stderr)

"""What a person did that cannot work, as one line that says what to do; the command line ends with exit code 2."""


class BadInput(Exception):
    """An argument, a file or a setting cannot be used. The text is one line, complete, without a trailing stop."""

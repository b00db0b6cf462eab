"""Values as people type them in filters: a host, a day. Pure."""

import re
from datetime import UTC, datetime
from typing import Final

_NAME: Final = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")
_PORT: Final = re.compile(r"(?<=[^:]):[0-9]+$")
_DATE: Final = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")


def ascii_host(host: str) -> str:
    """A host's name as it is kept: IDNA-ASCII, lower case."""
    lowered = host.lower().strip(".")
    try:
        return lowered if lowered.isascii() else lowered.encode("idna").decode("ascii")
    except UnicodeError:
        return lowered


def without_port(host: str) -> str:
    """A host without its port, if it has one."""
    return _PORT.sub("", host)


def moment(text: str) -> float | None:
    """When a year, a month or a day began, in UTC, unix seconds; None when it is no date."""
    date = _DATE.fullmatch(text)
    if date is None:
        return None
    year, month, day = (int(part) if part else 1 for part in date.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def is_without_port(host: str) -> bool:
    """Whether a host is asked for by its name or address alone, which is that of all its ports."""
    return _NAME.fullmatch(host) is not None

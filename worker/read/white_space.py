"""White space made single. Pure."""

from typing import Final

_AT_ONCE: Final = 256 * 1024
"""Characters of a text whose words are listed at once."""


def collapse(text: str) -> str:
    """``text`` with single spaces for all white space, none around it. A long one is done in parts: the list of its
    words would be many times as large."""
    if len(text) <= _AT_ONCE:
        return " ".join(text.split())
    pieces: list[str] = []
    apart = False
    for start in range(0, len(text), _AT_ONCE):
        part = text[start : start + _AT_ONCE]
        if words := " ".join(part.split()):
            pieces += (" ", words) if pieces and (apart or part[0].isspace()) else (words,)
            apart = part[-1].isspace()
        else:
            apart = True
    return "".join(pieces)

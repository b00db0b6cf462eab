"""What of a query people may have meant otherwise than it is understood. Pure."""

import re
from typing import Final

_QUOTED: Final = re.compile(r'"[^"]*"?')
_WILD: Final = re.compile(r"\w\*|\*\w|\w\?\w")
_ADDRESS: Final = re.compile(r"\S*[/=]\S*")
"""In which a question mark is a part of what is looked for."""
_LOGIC: Final = re.compile(r"\S\s+(?:OR|AND)\s+\S|(?:^|\s)NOT\s+\S")


def misread(text: str) -> list[str]:
    """What is to be said of a query: what looks like an operator, and is none."""
    hints = []
    if ("*" in text or "?" in text) and _WILD.search(_ADDRESS.sub(" ", text)) is not None:
        hints.append("there are no wildcards: * and ? are left out")
    if not any(word in text for word in ("OR", "AND", "NOT")):
        return hints
    bare = _QUOTED.sub(" ", text)
    if _LOGIC.search(bare) is not None and bare.upper() != bare:
        hints.append(
            "OR, AND and NOT are looked for as words: all words are wanted, and a minus before one leaves it out"
        )
    return hints


def unknown(name: str) -> str:
    """What is to be said of a filter that there is not."""
    return f"there is no filter {name}: what it says is looked for as words"

"""The text of a query before it is understood: signs in one form, its pieces, values as they are compared. Pure."""

import re
from typing import Final

LONGEST: Final = 1000
"""Characters of a query that are read."""
LONGEST_FACET: Final = 150
"""Characters of a field of an item and its value that are compared."""
PIECE: Final = re.compile(r'(-?)(?:([A-Za-z]{1,16}):(?=[^\s:/]))?("[^"]*"?|[^\s"]+)')
"""A part of a query: whether it is left out, the name of a filter, and a word or what stands in quotes."""
_QUOTES: Final = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_MINUS: Final = str.maketrans(dict.fromkeys("−–—－", "-"))


def readable(text: str) -> str:
    """What is read of a query: of each sign one form."""
    if (read := text[:LONGEST]).isascii():
        return read
    sound = read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _with_minus(sound.translate(_QUOTES))


def facet(text: str) -> str:
    """A value of an item as it is compared: lower case, without what a query cannot say, no longer than is read."""
    return " ".join(_with_minus(text.translate(_QUOTES).replace('"', " ")).lower().split())[:LONGEST_FACET].rstrip()


def item_parts(said: str) -> tuple[str, str]:
    """The field and the value of what an item is filtered by; "" and its name, for a name alone."""
    field, has_value, value = said.partition("=")
    return (field, value) if has_value else ("", said)


def _with_minus(text: str) -> str:
    """A text with the hyphen for dashes that stand before a word."""
    return re.sub(r"(?:(?<=\s)|^)[−–—－](?=\S)", lambda sign: sign[0].translate(_MINUS), text)

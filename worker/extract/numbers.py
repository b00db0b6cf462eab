"""Numbers as people write them: 1,234.50 and 1.234,50 and 1 234,50 and 1'234.50. Pure."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

LONGEST: Final = 100
"""Characters of a text that may be a number with something around it."""
_NUMBER: Final = re.compile(
    r"[-−–+]?\s?(?:[0-9]+(?:[ '\u00a0\u202f\u2009’][0-9]{3}(?![0-9]))*(?:[.,][0-9]+)*|(?<![^\W\d_])(?<!/)[.,][0-9]+)"
)
MAGNITUDE: Final = re.compile(
    r"\s?(?:(?:M|(?i:k|mio|mln|mrd|mld|bn|tsd|tys|mil|thousand|lakhs?|lacs?|crores?|mill?i?[oóõ]n\w*|milh[ãõ]\w+|miljo\w+"
    r"|mill?iard\w*|billion\w*|trillion\w*|ribu|rb|juta|jt|nghìn|ngàn|triệu|tỷ|bin|milyon|milyar|ezer|mii|milioane|tusen|tusind"
    r"|тыс\w*|млн|млрд|миллион\w*|миллиард\w*))(?![^\W\d_])|[千万萬億亿兆천만억])"
)
"""What after a number says that another is meant: thousands, millions."""
_SEPARATORS: Final = {"\u066b": ".", "\u066c": ",", "\uff0e": ".", "\uff0c": ",", "\uff0d": "-"}
_BLANKS: Final = re.compile(r"[\s'’]")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_LAKHS: Final = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_COMMA: Final = frozenset(
    re.findall(
        r"\w+",
        "af az be bg bs ca cs da de el es et eu fi fo fr fy gl hr hu hy id is it ka kk ky lb lt lv mk mn nb nl nn no pl"
        " pt ro ru sk sl sq sr sv tr tt uk uz vi",
    )
)
"""Languages that write a comma before the fraction."""
_POINT: Final = frozenset(re.findall(r"\w+", "en zh ja ko th he hi bn ta te ms mt cy ga sw"))


def decimal(text: str, language: str = "") -> Decimal | None:
    """The one number in a text, whatever stands around it; None without one, with several, or if it counts thousands.

    Of a lone separator before three digits the ``language`` (BCP 47) says what it means; without one it groups.
    """
    text = text.strip()
    if len(text) > LONGEST:
        return None
    text = as_written_here(text)
    matches = list(every(text))
    if len(matches) != 1 or MAGNITUDE.match(text, matches[0].end()):
        return None
    return value(matches[0], language)


def every(text: str) -> Iterator[re.Match[str]]:
    """The numbers in a text, in its order, with their signs. ``text``: see `as_written_here`."""
    return _NUMBER.finditer(text)


def value(match: re.Match[str], language: str = "") -> Decimal | None:
    """One that was found; None where its separators make no sense."""
    digits = _BLANKS.sub("", match[0]).replace("−", "-").replace("–", "-")
    if digits[0] == "-" and _is_dash(match):
        digits = digits[1:]
    sign, digits = ("-", digits[1:]) if digits[0] == "-" else ("", digits.removeprefix("+"))
    plain = _plain(digits, language.partition("-")[0].lower())
    return None if plain is None else Decimal(sign + plain)


def as_written_here(text: str) -> str:
    """A text with the digits and separators of other scripts as ASCII has them."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else _SEPARATORS.get(c, c) for c in text)


def _is_dash(match: re.Match[str]) -> bool:
    """Whether what looks like a sign joins the number to a word."""
    return match.start() > 0 and match.string[match.start() - 1].isalnum()


def _plain(digits: str, language: str) -> str | None:
    """Digits with a point before their fraction; None where the separators make no sense."""
    points, commas = digits.count("."), digits.count(",")
    if not points and not commas:
        return digits
    last = max(digits.rfind("."), digits.rfind(","))
    mark, integer, fraction = digits[last], digits[:last], digits[last + 1 :]
    if points and commas:
        groups = "," if mark == "." else "."
        if mark in integer:
            return None
        return f"{integer.replace(groups, '') or '0'}.{fraction}"
    if points + commas > 1:
        return re.sub("[.,]", "", digits) if _GROUPED.fullmatch(digits) or _LAKHS.fullmatch(digits) else None
    groups_here = mark == "." if language in _COMMA else mark == "," if language in _POINT else True
    if groups_here and _GROUPED.fullmatch(digits) and not integer.startswith("0"):
        return integer + fraction
    return f"{integer or '0'}.{fraction}"

"""Prices as people write them: the one amount of a text, which stands next to a currency if there are other numbers."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Final

from gregor.worker.extract import numbers

_PERCENT: Final = re.compile(r"\s?%")
_TO_NUMBER: Final = re.compile(r"[\s:.]*[-−–+]?\s?")
_TO_CURRENCY: Final = re.compile(r"(?:[.,][-−–—]{1,2})?\s*")
"""What stands between an amount and its currency; `5,- €` has a fraction of nothing."""
_LETTER: Final = r"[^\W\d_]"
_WORDS: Final = (
    *("Euro", "Euros", "euros", "dollar", "dollars", "Dollar", "Dollars", "pounds", "Pfund", "Franken", "francs"),
    *("yen", "zl", "元", "圓"),
)
"""Names of currencies beside those that price-parser has."""
_IDEOGRAPHS: Final = "\u3000"
"""From here on words have no blanks between them."""
_PART: Final = re.compile(
    r"\s?(?:(?i:m|mn|md|mdr|b|t|cr|[mt]kr|mdkr|cts?|c|cents?|p|pence|penn(?:y|ies)|centimes?|centavos?|c[eé]ntimos?"
    r"|centesimi|[oöø]re|gr|grosz\w*|коп\w*|hal[eé]ř\w*)(?![^\W\d_])|¢)"
)
"""What makes an amount another than its number says, where that is money: m for millions, and names of cents."""
_JOINED: Final = re.compile(
    r"[-−–—~〜～+,&]|to|or|and|und|et|y|e|och|og|en|oraz|i|bis|oder|à|a|al?|até|hasta|ou|o|tot|till?|do|до|и|[千万萬億亿兆천만억]|から"
)
"""What stands between the two numbers of a range, or between the parts of one amount."""
_SCALED: Final = re.compile(r"(?<!\w)(?:[kKmMT]|[Mm]n|bn|(?:Mio|Mrd|Tsd)\.?\s?)\Z")
"""The same before a currency."""
_LEADING: Final = re.compile(r"(?:^|(?<=[\s(:=]))[-−–]$|^[-−–]\s$")
_INNER: Final = re.compile(r"\s+[-−–]|[-−–]")


@dataclass(slots=True)
class _Amount:
    """A number, and the currencies that it stands next to."""

    match: re.Match[str]
    value: Decimal | None
    before: re.Match[str] | None = None
    after: re.Match[str] | None = None
    start: int = field(init=False)
    """Where its digits begin, after its sign."""

    def __post_init__(self) -> None:
        self.start = self.match.end() - len(self.match[0].lstrip("-−–+ \u00a0"))

    def text(self) -> str:
        """It, with its currencies."""
        first = self.before.start() if self.before else self.start
        return self.match.string[first : self.after.end() if self.after else self.match.end()]


def read(text: str, language: str) -> tuple[Decimal, str | None] | None:
    """The amount and its currency, as it is written; None without an amount, and where several could be meant."""
    from price_parser import Price

    text = numbers.as_written_here(text)
    if len(text) > numbers.LONGEST:
        return None
    amounts = [
        _Amount(match, numbers.value(match, language))
        for match in numbers.every(text)
        if not _PERCENT.match(text, match.end())
    ]
    if not amounts:
        return (Decimal(0), Price.fromstring(text).currency) if "free" in text.lower() else None
    _give_currencies(text, amounts)
    chosen = [amount for amount in amounts if amount.before or amount.after] or amounts
    amount = chosen[0]
    if amount.value is None or any(other.value != amount.value for other in chosen):
        return None
    if _is_part(amount) or any(amount in pair and _is_range(text, *pair) for pair in pairwise(amounts)):
        return None
    currency = Price.fromstring(amount.text()).currency or Price.fromstring(text).currency
    return -amount.value if _is_negative(text, amount) else amount.value, currency


def _give_currencies(text: str, amounts: list[_Amount]) -> None:
    """One between two numbers is of the second if it stands closer to that, else of both: `35€ 99` is not 35."""
    currencies = list(_currencies().finditer(text))
    for amount in amounts:
        amount.value = None if amount.value is None else abs(amount.value)
        for currency in currencies:
            if currency.end() <= amount.start and _TO_NUMBER.fullmatch(text, currency.end(), amount.start):
                amount.before = currency
            elif amount.after is None and _TO_CURRENCY.fullmatch(text, amount.match.end(), currency.start()):
                amount.after = currency
    for left, right in pairwise(amounts):
        common = left.after
        if common and common is right.before and right.start - common.end() < common.start() - left.match.end():
            left.after = None


@cache
def _currencies() -> re.Pattern[str]:
    """What finds signs, codes and names of currencies: those of letters only as whole words."""
    from price_parser.parser import OTHER_CURRENCY_SYMBOLS, SAFE_CURRENCY_SYMBOLS

    edged: dict[tuple[str, str], list[str]] = {}
    names = {name.strip() for name in (*SAFE_CURRENCY_SYMBOLS, *OTHER_CURRENCY_SYMBOLS, *_WORDS)}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        first, last = (_is_of_words(end) for end in (name[0], name[-1]))
        edges = rf"(?<!{_LETTER})" if first else "", rf"(?!{_LETTER})" if last else ""
        edged.setdefault(edges, []).append(re.escape(name))
    longest_first = sorted(edged.items(), key=lambda way: (bool(way[0][0]), bool(way[0][0]) == bool(way[0][1])))
    ways = [f"{before}(?:{'|'.join(names)}){after}" for (before, after), names in longest_first]
    return re.compile("|".join([rf"(?<!{_LETTER})[A-Z][A-Z]D\s?\$", *ways]))


def _is_of_words(character: str) -> bool:
    return character.isalpha() and character < _IDEOGRAPHS


def _is_part(amount: _Amount) -> bool:
    """Whether it counts thousands, millions, cents."""
    text = amount.match.string
    if amount.before and _SCALED.search(text[: amount.before.start()]):
        return True
    if amount.after is None:
        return _counts(text, amount.match.end())
    end = amount.after.end()
    return not text[end : end + 1].isspace() and _counts(text, end)


def _counts(text: str, at: int) -> bool:
    return bool(numbers.MAGNITUDE.match(text, at) or _PART.match(text, at))


def _is_range(text: str, left: _Amount, right: _Amount) -> bool:
    """Whether two numbers that follow each other are one's bounds, or its parts."""
    if left.value is None or right.value is None:
        return False
    if text[left.match.end() : right.start].isspace():
        return True
    first = left.after.end() if left.after else left.match.end()
    between = text[first : right.before.start() if right.before else right.start].strip()
    return bool(_JOINED.fullmatch(between)) or (between == "/" and not (left.before or left.after))


def _is_negative(text: str, amount: _Amount) -> bool:
    """Whether a minus stands before it or its currency, which is no dash that joins it to a word."""
    if amount.before:
        end = amount.before.end()
        sign = _INNER.fullmatch(text[end : amount.start].rstrip())
        if sign and (sign[0][0].isspace() or not text[end - 1].isalnum()):
            return True
        return bool(_LEADING.search(text[: amount.before.start()]))
    return bool(_LEADING.search(text[: amount.start]))

"""What was selected, as a value of its field's type."""

import json
import math
import re
from decimal import Decimal
from typing import Any, Final

import ada_url

from gregor.worker.base.errors import BadInput
from gregor.worker.extract import dates, json_text, numbers, prices, text
from gregor.worker.extract.model import FieldKind, FieldValue, KindName, NotOfType
from gregor.worker.extract.page import Parsed
from gregor.worker.extract.text import TreeNode
from gregor.worker.extract.work import Work

_TRUE: Final = frozenset({"true", "yes", "on", "1", "y", "ja", "oui", "si", "sí", "sim"})
_FALSE: Final = frozenset({"false", "no", "off", "0", "n", "nein", "non", "não"})
_POWERS: Final = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?[eE][-+]?[0-9]{1,3}")
"""Of ten, as programs write numbers."""
LONGEST: Final = 1 << 20
"""Characters of one value; what is longer is cut."""
ARTICLES: Final[dict[KindName, str]] = {
    "int": "an integer",
    "url": "a URL",
    "bool": "true or false",
    "json": "JSON",
    "text": "text",
    "html": "HTML",
}


def check(kind: FieldKind) -> None:
    """Raises `BadInput` where values of this type need a package that is not installed."""
    if kind.name in ("date", "datetime"):
        dates.needed(kind.format)
    if kind.name == "price":
        try:
            import price_parser  # noqa: F401 - only where prices are read
        except ModuleNotFoundError:
            raise BadInput("prices need a package more: pip install 'gregor-crawler[extract]'") from None


def read(selected: object, kind: FieldKind, page: Parsed) -> FieldValue:
    """The value; None for what is empty. Raises `NotOfType` for what is not of the type."""
    if isinstance(selected, TreeNode):
        if kind.name == "url" and text.means_its_page(selected):
            return _url("", page.base)
        return _of_text(_said(selected, kind, page.work), kind, page)
    if kind.name == "json" and not (isinstance(selected, str) and selected.lstrip()[:1] in ("{", "[", "")):
        return selected if _is_json(selected) else None
    if isinstance(selected, bool):
        return _of_bool(selected, kind)
    if isinstance(selected, int | float):
        if isinstance(selected, float) and not math.isfinite(selected):
            return None
        return _of_number(selected, kind, page)
    if isinstance(selected, dict | list):
        if kind.name == "text" and isinstance(selected, dict) and (name := selected.get("name")):
            return read(name, kind, page)  # of schema.org's things what people call them
        return _of_text(json.dumps(selected, ensure_ascii=False), kind, page)
    return None if selected is None else _of_text(str(selected), kind, page)


def _said(node: TreeNode, kind: FieldKind, work: Work) -> str:
    match kind.name:
        case "html":
            markup = text.markup(node)
            work.count(len(markup))
            return markup
        case "url":
            return text.reference(node, work)
        case "date" | "datetime" | "price" | "int" | "float" | "decimal" | "bool":
            return text.value(node, work)
        case _:
            return text.words(node, work, single=kind.strip is not False)


def _of_number(number: float, kind: FieldKind, page: Parsed) -> FieldValue:
    """A number of JSON, which no language reads otherwise: without an exponent, and without a fraction of nothing."""
    digits = str(number)
    if isinstance(number, float):
        plain = format(Decimal(repr(number)), "f")
        digits = plain.rstrip("0").rstrip(".") if "." in plain else plain
    match kind.name:
        case "int" | "float" | "decimal":
            value = _as_number(Decimal(digits), kind.name)
            if value is None:
                raise NotOfType(f"not {article(kind.name)}")
            return value
        case "price":
            return {"amount": digits, "currency": None}
        case _:
            return _of_text(digits, kind, page)


def _is_json(value: object) -> bool:
    return isinstance(value, str | int | float | bool | dict | list)


def _of_bool(value: bool, kind: FieldKind) -> FieldValue:
    if kind.name == "bool":
        return value
    if kind.name in ("text", "json"):
        return "true" if value else "false"
    raise NotOfType(f"not {article(kind.name)}")


def _of_text(said: str, kind: FieldKind, page: Parsed) -> FieldValue:
    if isinstance(kind.strip, str):
        said = said.strip().strip(kind.strip)
    if kind.strip is not False:
        said = said.strip() if kind.name == "html" else " ".join(said.split())
    if len(said) > LONGEST:
        page.is_cut = True
        said = said[:LONGEST]
    page.take(len(said))
    if not said.strip():
        return None
    if kind.name in ("text", "html"):
        return said
    value = _typed(said.strip(), kind, page)
    if value is None:
        raise NotOfType(f"not {article(kind.name)}")
    return value


def article(name: KindName) -> str:
    """A type in a sentence."""
    return ARTICLES.get(name, f"a {name}")


def _typed(said: str, kind: FieldKind, page: Parsed) -> FieldValue:
    language = kind.language or page.facts.language
    match kind.name:
        case "int" | "float" | "decimal":
            return _number(said, kind.name, language)
        case "price":
            return _price(said, language)
        case "date" | "datetime":
            when = dates.moment(said, kind.format, language, kind.zone, page.facts.at)
            if when is None:
                return None
            return dates.day(when).isoformat() if kind.name == "date" else when[0].isoformat()
        case "url":
            return _url(said, page.base)
        case "bool":
            lower = said.lower()
            return True if lower in _TRUE else False if lower in _FALSE else None
        case _:
            return _json(said)


def _number(said: str, name: str, language: str) -> FieldValue:
    number = _plain(said)
    if number is None:
        number = numbers.decimal(said, language)
    return None if number is None else _as_number(number, name)


def _as_number(number: Decimal, name: str) -> FieldValue:
    if name == "decimal":
        return format(number, "f")
    if name == "float":
        value = float(number)
        return value if math.isfinite(value) else None
    return int(number) if number == number.to_integral_value() else None


def _plain(said: str) -> Decimal | None:
    """A number as programs write them. A point before three digits is left to the language."""
    if _POWERS.fullmatch(said):
        return Decimal(said)
    integer, point, fraction = said.removeprefix("-").partition(".")
    if integer.isascii() and integer.isdecimal() and len(said) <= numbers.LONGEST:
        if not point:
            return Decimal(said)
        if fraction.isascii() and fraction.isdecimal() and len(fraction) != 3:
            return Decimal(said)
    return None


def _price(said: str, language: str) -> FieldValue:
    price = prices.read(said, language)
    return None if price is None else {"amount": format(price[0], "f"), "currency": price[1]}


def _url(said: str, base: str) -> str | None:
    """An absolute URL that leads somewhere; None for scripts and data, which nobody should follow."""
    try:
        href: str = ada_url.join_url(base, said)
    except ValueError:
        return None
    return href if href.startswith(("http://", "https://", "mailto:", "tel:", "ftp://")) else None


def _json(said: str) -> Any:
    return next(iter(json_text.read(said, set())), None)

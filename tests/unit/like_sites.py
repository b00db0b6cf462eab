"""Honest sites whose pages have the same words: finitely many, by lists, trees and links among themselves."""

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from random import Random
from urllib.parse import urlsplit

import xxhash

from tests.unit.trap_sites import Answer, Site


def _alike(form: Callable[[int], str], links: Callable[[int], Iterable[int]], count: int) -> Site:
    """No trap: ``count`` pages with the same words; the start page is number 0."""
    numbers = {form(number): number for number in range(1, count)} | {"/": 0}

    def site(url: str) -> Answer | None:
        parts = urlsplit(url)
        number = numbers.get(parts.path + (f"?{parts.query}" if parts.query else ""))
        if number is None:
            return None
        return "welcome" if number == 0 else "item", [form(other) for other in links(number) if 0 < other < count]

    return site


def _once(count: int) -> Callable[[int], Iterable[int]]:
    """The start page links all."""
    return lambda number: range(1, count) if number == 0 else ()


def _hexadecimal(number: int) -> str:
    return xxhash.xxh3_64_hexdigest(b"%d" % number)


ALIKE: dict[str, Site] = {
    "numbers in a list": _alike("/f{}".format, _once(400), 400),
    "numbers in a folder": _alike("/item/{}".format, _once(400), 400),
    "numbers in a parameter": _alike("/item?id={}&lang=en".format, _once(400), 400),
    "hexadecimal names": _alike(lambda number: f"/item/{_hexadecimal(number)}", _once(400), 400),
    "hexadecimal parameters": _alike(lambda number: f"/item?sku={_hexadecimal(number)}", _once(400), 400),
    "dates": _alike(lambda number: f"/events/{date(2020, 1, 1) + timedelta(number)}", _once(400), 400),
    "words": _alike(lambda number: f"/item/{'x' * number}", _once(100), 100),
    "facets": _alike(lambda number: f"/shoes?brand=b{number % 20}&size=s{number // 20}", _once(400), 400),
    "lists that name twenty each": _alike(
        lambda number: f"/{'list' if number <= 20 else 'item'}/{number}",
        lambda number: range(20 * number + 1, 20 * number + 21) if number <= 20 else (),
        421,
    ),
    "a tree": _alike("/node/{}".format, lambda number: (3 * number + 1, 3 * number + 2, 3 * number + 3), 300),
    "a tree of words": _alike(
        lambda number: f"/node/{'x' * number}", lambda number: (3 * number + 1, 3 * number + 2, 3 * number + 3), 100
    ),
    "each links all": _alike("/shop/item-{}.html".format, lambda number: range(1, 200), 200),
    "each links some": _alike(
        "/item?id={}".format, lambda number: [1, *Random(number).choices(range(1, 300), k=10)], 250
    ),
}
"""Honest sites of pages with the same words: a list of them, or links among them that come to an end."""


def parked(url: str) -> Answer:
    """No trap: ten lists of 20 names each below one domain, all with the same page."""
    parts = urlsplit(url)
    if not (parts.hostname or "").startswith("www."):
        return "This domain is for sale.", ("http://www.park.test/",)
    number = int(parts.path.rpartition("/")[2] or 0)
    names = [f"http://name{number * 20 + each}.park.test/" for each in range(20)]
    return f"Domains of list {'x' * (number + 1)}", [*names, *([f"/list/{number + 1}"] if number < 9 else [])]


def mirrored(url: str) -> Answer:
    """No trap: a row of 400 pages at one host, and the same at another, which the last of them links."""
    parts = urlsplit(url)
    number = int(parts.path.rpartition("/")[2] or 0)
    after = f"/page/{number + 1}" if number < 399 else "http://b.test/page/0"
    return f"Page about {'x' * (number + 1)}", [after]

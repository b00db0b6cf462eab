"""Endless spaces of further shapes beside honest pages of further shapes: other names, places, alphabets and dates."""

from collections.abc import Callable
from datetime import date, timedelta
from hashlib import sha256
from random import Random
from urllib.parse import parse_qsl, urlsplit

from tests.unit.trap_sites import WORDS, Answer, Site

Space = Callable[[str, int], list[str]]
"""The links of a page of an endless space, by its target and about how many it has."""


def _drawn(target: str, number: int, letters: str, length: int) -> str:
    chance = Random(sha256(f"{target} {number}".encode()).digest())
    return "".join(chance.choices(letters, k=length))


def days(target: str, links: int) -> list[str]:
    """A calendar of files by day."""
    at = target.rpartition("/")[2].partition(".")[0]
    day = date(int(at[:4]), int(at[4:6]), int(at[6:]))
    steps = range(1, max(2, links // 2 + 1))
    return [f"/ev/{day + timedelta(step):%Y%m%d}.html" for way in steps for step in (way, -way)]


def months(target: str, links: int) -> list[str]:
    """A calendar by a parameter of another language."""
    year, month = map(int, dict(parse_qsl(urlsplit(target).query))["datum"].split("-"))
    at, steps = 12 * year + month - 1, range(1, max(2, links // 2 + 1))
    return [f"/termine?datum={to // 12}-{to % 12 + 1:02}" for way in steps for to in (at + way, at - way)]


def offsets(target: str, links: int) -> list[str]:
    """A calendar that counts from today."""
    at, steps = int(target.rpartition("/")[2]), range(1, max(2, links // 2 + 1))
    return [f"/shifts/offset/{to}" for way in steps for to in (at + way, at - way)]


def capitals(target: str, links: int) -> list[str]:
    """Session ids of capitals, some without a digit."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    pages = ("home", "help", "cart", "about")
    return [f"/go?SESSION={_drawn(target, number, letters, 26)}&v={pages[number % 4]}" for number in range(links)]


def tokens(target: str, links: int) -> list[str]:
    """Session ids at the end of a path."""
    pages = ("home", "help", "cart", "about")
    return [f"/konto/{pages[number % 4]}/{_drawn(target, number, '0123456789abcdef', 20)}" for number in range(links)]


def files(target: str, links: int) -> list[str]:
    """A script that answers under any path."""
    if target.count("index.php") > 3:
        return []
    return [f"{target}/index.php/a", f"{target}/index.php/b", *(f"{target}/p{number}" for number in range(links // 2))]


def filters(target: str, links: int) -> list[str]:
    """Filters in the path, by name and value."""
    chosen = dict(pair.split(":") for pair in target.removeprefix("/filter/").split(";"))
    names = [(name, f"{name[0]}{value}") for name in ("color", "brand", "size", "fit") for value in range(9)]
    Random(target).shuffle(names)
    further = [{**chosen, name: value} for name, value in names[: max(4, links)]]
    return ["/filter/" + ";".join(f"{name}:{value}" for name, value in pairs.items()) for pairs in further]


SPACES: dict[str, Space] = {
    "/ev/20240101.html": days,
    "/termine?datum=2024-01": months,
    "/shifts/offset/0": offsets,
    "/go?SESSION=ABCDEFGHJKLMNPQRSTUVWXYZ23&v=home": capitals,
    "/konto/home/0123456789abcdef0123": tokens,
    "/dir/index.php/a": files,
    "/filter/color:c0": filters,
}
"""Endless spaces by the first URL of each."""


def beside(entrances: list[str], honest: list[str], links: int, new_words: bool) -> Site:
    """A site of honest pages, of which each leads to the next, beside endless spaces. ``new_words``: those of them have
    words of their own on each page."""
    places = {target: place for place, target in enumerate(honest)}
    spaces = {entrance.split("/")[1].partition("?")[0]: SPACES[entrance] for entrance in entrances}

    def site(address: str) -> Answer | None:
        parts = urlsplit(address)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        if target in places or target == "/":
            place = places.get(target, -1)
            words = " ".join(f"{word}{place}" for word in WORDS[:4])
            return f"{'menu ' * 40} {words}", [*entrances, *honest[place + 1 : place + 2]]
        space = spaces.get(target.split("/")[1].partition("?")[0])
        if space is None:
            return None
        said = f"{WORDS[0]}{target}x {WORDS[1]}{len(target)}" if new_words else "the same"
        return f"{'menu ' * 40} {said.replace('/', '')}", ["/", *space(target, links)]

    return site

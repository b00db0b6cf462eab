"""Made-up sites of honest pages with endless spaces beside them, alike for the same seed.

A site is a function from the target of a request to an HTML page. `honest` are the targets that a crawl must fetch;
everything else that it fetches is waste. With `new_words` every page of an endless space has words of its own.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from hashlib import sha256
from html import escape
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

Layout = Callable[["TrapWeb", int], list[int]]
Trap = Callable[["TrapWeb", str], list[str] | None]
"""The links of a page of an endless space; None for a target that is none of its own."""

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ol")]


def chain(web: "TrapWeb", number: int) -> list[int]:
    """Each page links the next."""
    return [number + 1]


def tree(web: "TrapWeb", number: int) -> list[int]:
    """Each page links three others."""
    return [3 * number + 1, 3 * number + 2, 3 * number + 3]


def index(web: "TrapWeb", number: int) -> list[int]:
    """The start page links all."""
    return list(range(1, web.pages)) if number == 0 else []


def pager(web: "TrapWeb", number: int) -> list[int]:
    """Each tenth page links the next ten."""
    return list(range(number + 1, number + 11)) if number % 10 == 0 else []


LAYOUTS: dict[str, Layout] = {"chain": chain, "tree": tree, "index": index, "pager": pager}


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split("/") if part.lstrip("-").isdigit()]


def calendar(web: "TrapWeb", target: str) -> list[str] | None:
    """Months without end, in their path or in a parameter, backwards and forwards."""
    forms = [("/calendar/", "/calendar/{y}/{m:02}"), ("/cal?", "/cal?month={n}"), ("/events?", "/events?y={y}&m={m}")]
    start, form = forms[web.seed % len(forms)]
    if not target.startswith(start):
        return None
    if "{n}" in form:
        at = int(dict(parse_qsl(urlsplit(target).query)).get("month", "0"))
    else:
        found = _numbers(target) or [int(value) for _, value in parse_qsl(urlsplit(target).query)]
        at = (found[0] - 2024) * 12 + found[1] - 1 if len(found) == 2 else 0
    wide = max(1, web.links // 2)
    months = [at + step for step in (*range(1, wide + 1), *range(-1, -wide - 1, -1))]
    return [form.format(n=month, y=2024 + month // 12, m=month % 12 + 1) for month in months]


def session(web: "TrapWeb", target: str) -> list[str] | None:
    """A new session id in every link."""
    forms = ["/s/{token}/{page}", "/(S({token}))/{page}", "/{page};jsessionid={token}"]
    form = forms[web.seed % len(forms)]
    if not any(mark in target for mark in ("/s/", "/(S(", ";jsessionid=")):
        return None
    names = ["home", "help", "cart", "about"]
    made = [sha256(f"{web.seed} {target} {number}".encode()).hexdigest() for number in range(max(2, web.links))]
    return [form.format(token=token[:24], page=names[number % 4]) for number, token in enumerate(made)]


def loops(web: "TrapWeb", target: str) -> list[str] | None:
    """Relative links on a page that answers under any path."""
    if not target.startswith("/a/"):
        return None
    return ["a/", "b/", *(f"{name}{number}/" for name in "cd" for number in range(web.links // 4))]


def facets(web: "TrapWeb", target: str) -> list[str] | None:
    """Filters that combine."""
    if not target.startswith("/shop"):
        return None
    chosen = dict(parse_qsl(urlsplit(target).query))
    values = [f"{name}{n}" for n in range(max(3, web.links // 8)) for name in ("a", "b")]
    names = ["brand", "colour", "size", "material", "price", "heel", "lining", "season"]
    order = random.Random(f"{web.seed} {target}")
    picked = [(name, value) for name in names for value in values]
    order.shuffle(picked)
    more = [{**chosen, name: value} for name, value in picked[: max(4, web.links)]]
    return ["/shop?" + "&".join(f"{name}={value}" for name, value in one.items()) for one in more]


TRAPS: dict[str, Trap] = {"calendar": calendar, "session": session, "loops": loops, "facets": facets}
ENTRANCES = {
    "calendar": ("/calendar/2024/01", "/cal?month=0", "/events?y=2024&m=1"),
    "session": (
        "/s/start0000000000000000001/home",
        "/(S(start0000000000000000001))/home",
        "/home;jsessionid=0123456789abcdef01234567",
    ),
    "loops": ("/a/",) * 3,
    "facets": ("/shop?brand=a0",) * 3,
}


@dataclass(frozen=True)
class TrapWeb:
    """What a site is made of. `links`: how many each trap page has, about; `boilerplate`: the share of the words of an
    honest page that all have; `words`: how many it has of its own."""

    seed: int = 1
    pages: int = 300
    layout: str = "chain"
    form: str = "/page/{}"
    """Where an honest page is, by its number; with a ``%Y``, by the day of its number, the first being in 2019. Names
    that are drawn for it: ``{sha}``, ``{base64}``, ``{uuid}``."""
    traps: tuple[str, ...] = tuple(TRAPS)
    new_words: bool = False
    links: int = 2
    boilerplate: float = 0.5
    words: int = 40
    _cache: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def vocabulary(self) -> list[str]:
        """Words that texts are made of."""
        chance = random.Random(f"words {self.seed}")
        return ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(3000)]

    @cached_property
    def shared(self) -> str:
        """What all honest pages say."""
        share = min(self.boilerplate, 0.99)
        return " ".join(
            random.Random(f"shared {self.seed}").choices(self.vocabulary, k=int(self.words * share / (1 - share)))
        )

    @cached_property
    def honest(self) -> dict[str, int]:
        """The targets of the honest pages with their numbers; the first is the start page."""
        return {"/": 0} | {self._target(number): number for number in range(1, self.pages)}

    def _target(self, number: int) -> str:
        drawn = sha256(f"{self.seed} name {number}".encode())
        names = {
            "sha": drawn.hexdigest()[:40],
            "base64": urlsafe_b64encode(drawn.digest()[:16]).decode().rstrip("="),
            "uuid": str(UUID(bytes=drawn.digest()[:16], version=4)),
        }
        return (date(2019, 1, 1) + timedelta(number)).strftime(self.form).format(number, **names)

    def page(self, target: str) -> str | None:
        """The HTML at a target; None where there is nothing."""
        if (number := self.honest.get(target)) is not None:
            chance = random.Random(f"{self.seed} honest {number}")
            text = f"{self.shared} {' '.join(chance.choices(self.vocabulary, k=self.words))}"
            names = list(self.honest)
            links = [names[other] for other in LAYOUTS[self.layout](self, number) if other < self.pages]
            return _html(f"Page {number}", text, [*self.entrances(), *links])
        for name in self.traps:
            if (further := TRAPS[name](self, target)) is not None:
                return _html(name, self._said(name, target), ["/", *further])
        return None

    def entrances(self) -> Iterator[str]:
        """Where the endless spaces begin."""
        for name in self.traps:
            yield ENTRANCES[name][self.seed % 3]

    def _said(self, name: str, target: str) -> str:
        """What a page of an endless space says: its own number, and words that are the same everywhere, or new."""
        chance = random.Random(f"{self.seed} {name} {target if self.new_words else ''}")
        text = " ".join(chance.choices(self.vocabulary, k=self.words))
        return f"{self.shared} {target} {text}"


def _html(title: str, text: str, links: list[str]) -> str:
    anchors = "".join(f'<a href="{escape(link)}">more</a>\n' for link in links)
    return f"<!doctype html><title>{escape(title)}</title><p>{escape(text)}</p>\n{anchors}"

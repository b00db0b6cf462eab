"""Made-up webs of communities of hosts, with endless spaces beside the pages of some; alike for the same seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from benchmarks.ordering.webs import NOT_FOUND, Answer, LinkedWeb
from tests.web.trap_web import ENTRANCES, TRAPS, TrapWeb

HTML: Final = (("content-type", "text/html; charset=utf-8"),)
_WORDS: Final = tuple(a + b + c for a in "bdfglmnprst" for b in "aeiou" for c in ("n", "r", "lo", "ka", "ti"))


@dataclass(frozen=True)
class Shape:
    """What a web is like. ``local``: the share of a page's free links that stay on its host; ``near``: of the others
    those that stay in its community; ``copied``: how many follow earlier ones; ``traps``: the share of hosts with the
    four kinds of endless space."""

    pages: int = 100_000
    seed: int = 1
    local: float = 0.8
    near: float = 0.8
    copied: float = 0.5
    traps: float = 0.02
    seeds: int = 30


@dataclass
class _Hosts:
    """The hosts of a web: of each its pages, the number of its first one, and its community."""

    sizes: list[int]
    community: list[int]
    starts: list[int] = field(init=False)
    members: dict[int, list[int]] = field(default_factory=dict)
    fame: dict[int, list[float]] = field(default_factory=dict)
    """How often others link to each member of a community, added up."""

    def __post_init__(self) -> None:
        self.starts = [0, *accumulate(self.sizes)]
        for host, which in enumerate(self.community):
            self.members.setdefault(which, []).append(host)


def made(shape: Shape = Shape()) -> LinkedWeb:
    """A web of such a shape."""
    chance = random.Random(f"web {shape.seed}")
    hosts = _hosts(shape, chance)
    links = [
        [end for end in dict.fromkeys(ends) if end != page] for page, ends in enumerate(_links(shape, hosts, chance))
    ]
    names = [f"h{host}.made.example" for host in range(len(hosts.sizes))]
    trapped = set(chance.sample(range(len(names)), round(shape.traps * len(names))))
    keys = [
        f"http://{names[host]}/" + (f"s{page % _sections(size)}/p{page}" if page else "")
        for host, size in enumerate(hosts.sizes)
        for page in range(size)
    ]
    numbers = {key: number for number, key in enumerate(keys)}
    of_host = [host for host, size in enumerate(hosts.sizes) for _ in range(size)]
    endless = {names[host]: TrapWeb(seed=host) for host in trapped}

    def answer(key: str) -> Answer:
        number = numbers.get(key)
        if number is not None:
            entrances = (
                [] if number != hosts.starts[of_host[number]] else _entrances(endless.get(names[of_host[number]]))
            )
            return Answer(200, HTML, _html(number, [*(keys[end] for end in links[number]), *entrances]))
        _, _, host, path = key.split("/", 3)
        return _endless(endless[host], f"/{path}") if host in endless else NOT_FOUND

    starts = chance.sample(hosts.starts[:-1], min(shape.seeds, len(names)))
    return LinkedWeb(
        f"made {shape.seed}",
        keys,
        [names[host] for host in of_host],
        links,
        starts,
        [keys[at] for at in starts],
        answer,
    )


def _hosts(shape: Shape, chance: random.Random) -> _Hosts:
    count = max(20, shape.pages // 50)
    weights = [chance.paretovariate(1.1) for _ in range(count)]
    total = sum(weights)
    sizes = [max(1, min(shape.pages // 20, int(weight / total * shape.pages))) for weight in weights]
    while (lacking := shape.pages - sum(sizes)) > 0:
        sizes[chance.randrange(count)] += min(lacking, 50)
    hosts = _Hosts(sizes, [chance.randrange(max(4, count // 50)) for _ in range(count)])
    fame = [chance.paretovariate(1.2) * size**0.5 for size in sizes]
    hosts.fame = {which: list(accumulate(fame[host] for host in group)) for which, group in hosts.members.items()}
    return hosts


def _sections(size: int) -> int:
    return max(1, int(size**0.4))


def _links(shape: Shape, hosts: _Hosts, chance: random.Random) -> Iterator[list[int]]:
    """Where each page leads, page by page."""
    communities = sorted(hosts.members)
    for host, size in enumerate(hosts.sizes):
        first, followed = hosts.starts[host], list[int]()
        for page in range(size):
            ends = [first + end for end in _navigation(chance, page, size)]
            for _ in range(int(chance.expovariate(0.25))):
                if chance.random() < shape.local:
                    copies = followed and chance.random() < shape.copied
                    end = chance.choice(followed) if copies else int(size * chance.random() ** 2)
                    followed.append(end)
                    ends.append(first + end)
                else:
                    which = hosts.community[host] if chance.random() < shape.near else chance.choice(communities)
                    other = chance.choices(hosts.members[which], cum_weights=hosts.fame[which])[0]
                    deep = 0 if chance.random() < 0.6 else int(hosts.sizes[other] * chance.random() ** 3)
                    ends.append(hosts.starts[other] + deep)
            if page == 0:  # each host of a community leads to the next one, so that all are found
                ring = hosts.members[hosts.community[host]]
                ends.append(hosts.starts[ring[(ring.index(host) + 1) % len(ring)]])
            chance.shuffle(ends)
            yield ends


def _navigation(chance: random.Random, page: int, size: int) -> Iterator[int]:
    """What a page of a host links as its like do: the first page, sections, neighbours; that of a section a list."""
    sections = _sections(size)
    yield 0
    if chance.random() < 0.7:
        yield from range(1, min(sections, 8, size - 1) + 1)
    if 0 < page <= sections:
        yield from range(page + sections, size, sections)
    elif page:
        yield from (near for near in (page - sections, page + sections) if 0 < near < size)


def _entrances(endless: TrapWeb | None) -> list[str]:
    return [] if endless is None else [ENTRANCES[name][endless.seed % 3] for name in endless.traps]


def _endless(web: TrapWeb, target: str) -> Answer:
    for name in web.traps:
        if (further := TRAPS[name](web, target)) is not None:
            chance = random.Random(f"{web.seed} {name}")
            return Answer(200, HTML, _page(name, " ".join(chance.choices(_WORDS, k=40)), ["/", *further]))
    return NOT_FOUND


def _html(number: int, ends: list[str]) -> bytes:
    return _page(f"Page {number}", " ".join(random.Random(number).choices(_WORDS, k=30)), ends)


def _page(title: str, text: str, ends: list[str]) -> bytes:
    anchors = "".join(f'<a href="{end}">more</a>\n' for end in ends)
    return f"<!doctype html><title>{title}</title><p>{text}</p>\n{anchors}".encode()

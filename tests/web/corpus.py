"""Makes the web that speed is measured on: the same bytes for the same numbers, as files for a static server.

`python -m tests.web.corpus FOLDER [--hosts 60] [--pages 6000] [--seed 1]` writes FOLDER/www/HOST/… (pages and a
robots.txt for each host), seeds.txt and truth.json: {"pages": {URL: {"sha256", "links"}}, "links": total}. Pages have
5 to 150 KB of HTML (log-normal) and about 65 links each; every page is reached from the seeds, the hosts' start pages.

What fills a page is what fills pages of the recorded web (../shared/realweb, 1,781 pages): a seventh of it is text, a
tag comes every 50 bytes, the rest is attributes, scripts and style sheets.
"""

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MEDIAN_BYTES, SPREAD = 22_000, 0.8
MIN_BYTES, MAX_BYTES = 5_000, 150_000
MEAN_LINKS = 65
CODE_SHARE = 0.5
"""Of what is no link: scripts."""
FORM = 2
"""Changes when equal shapes give other bytes than before."""
OFF_HOST = 0.12
"""Share of a page's links that lead to another host."""

CHILDREN = 12
"""Every page links the next ones of its host in a tree of this width, so that all are reached."""

ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /\n"


@dataclass(frozen=True, slots=True)
class Shape:
    """What the web is made of; equal shapes give equal bytes."""

    hosts: int = 60
    pages: int = 6000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its host's name, its path, its HTML, and how many links it has."""

    host: str
    path: str
    html: bytes
    links: int

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


@dataclass(frozen=True, slots=True)
class Stock:
    """What pages are made of: phrases by topic, and lines of script."""

    topics: list[list[str]]
    code: list[str]


def pages(shape: Shape) -> Iterator[Page]:
    """All pages of the web, one at a time."""
    chance = random.Random(f"gregor corpus {shape}")
    sizes = _sites(shape, chance)
    stock = _stock(chance)
    for host in range(shape.hosts):
        for number in range(sizes[host]):
            yield _page(host, number, sizes, stock, chance)


def host_name(host: int) -> str:
    return f"site{host:03d}.bench.test"


def path(number: int) -> str:
    """The path of a host's page; the first is its start page."""
    return f"/section{number % 7}/page{number:05d}.html" if number else "/"


def _sites(shape: Shape, chance: random.Random) -> list[int]:
    """How many pages each host has: log-normal, at least one, as many in all as asked for."""
    weights = [chance.lognormvariate(0.0, 0.7) for _ in range(shape.hosts)]
    spare = shape.pages - shape.hosts
    sizes = [1 + int(spare * weight / sum(weights)) for weight in weights]
    sizes[0] += shape.pages - sum(sizes)
    return sizes


def _stock(chance: random.Random) -> Stock:
    """Words by Zipf's law, each topic with some of its own, so that fingerprints see different texts; and code."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ol")]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(20_000)]
    common, weights = words[:2000], [1 / rank for rank in range(1, 2001)]
    topics = []
    for _ in range(500):
        own = chance.sample(words, 60)
        topics.append([_phrase(own, common, weights, chance) for _ in range(40)])
    code = []
    for _ in range(500):
        name, first, second, third = chance.choices(words, k=4)
        body = f"var {first}=a.{second}[b%{chance.randrange(97)}];return {first}>0?{third}(b):null"
        code.append(f"function {name}(a,b){{{body}}}\n")
    return Stock(topics, code)


def _phrase(own: list[str], common: list[str], weights: list[float], chance: random.Random) -> str:
    words = chance.choices(own, k=chance.randint(3, 6)) + chance.choices(common, weights, k=chance.randint(4, 8))
    chance.shuffle(words)
    return " ".join(words).capitalize()


def _page(host: int, number: int, sizes: list[int], stock: Stock, chance: random.Random) -> Page:
    size = min(MAX_BYTES, max(MIN_BYTES, int(chance.lognormvariate(0.0, SPREAD) * MEDIAN_BYTES)))
    targets = _targets(host, number, sizes, chance)
    title = f"Page {number} of {host_name(host)}"
    phrases = [phrase for topic in chance.sample(stock.topics, 2) for phrase in topic]
    items = [f'<a class="more" href="{target}">{chance.choice(phrases)[:24]}</a>' for target in targets]
    menu = "".join(f'<li class="menu-item">{item}</li>\n' for item in items[: len(items) // 2])
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n<script>\n'
    top = f'</script></head>\n<body class="page">\n<nav class="menu"><ul>\n{menu}</ul></nav>\n<h1>{title}</h1>\n'
    left = items[len(items) // 2 :]
    room = size - len(head) - len(top) - sum(map(len, left))
    code = "".join(_filled(room * CODE_SHARE, lambda: chance.choice(stock.code)))
    cards = "".join(_filled(room - len(code), lambda: _card(chance.choice(phrases), left, chance)))
    rest = "".join(f"<li>{item}</li>\n" for item in left)
    html = f'{head}{code}{top}{cards}<ul class="rest">\n{rest}</ul>\n</body></html>\n'
    return Page(host_name(host), path(number), html.encode(), len(targets))


def _filled(size: float, piece: Callable[[], str]) -> Iterator[str]:
    """Pieces until there are so many characters."""
    while size > 0:
        made = piece()
        size -= len(made)
        yield made


def _card(phrase: str, left: list[str], chance: random.Random) -> str:
    """A block of a page, with one of the links that are left."""
    link = left.pop() if left else "<br>"
    return (
        f'<div class="card card--{chance.randrange(9)}" id="c{chance.randrange(10**6)}"><div class="card-body">'
        f'<span class="card-icon" aria-hidden="true"></span><p class="card-text">{phrase} {link}</p></div></div>\n'
    )


def _targets(host: int, number: int, sizes: list[int], chance: random.Random) -> list[str]:
    """What a page links: its children in the tree of its host, others of its host, some of other hosts; each once."""
    children = range(number * CHILDREN + 1, min((number + 1) * CHILDREN + 1, sizes[host]))
    targets = dict.fromkeys(path(child) for child in children)
    wanted = chance.randint(MEAN_LINKS // 2, MEAN_LINKS * 3 // 2)
    for _ in range(4 * wanted):  # a small host has too few pages for that many links to its own
        if len(targets) >= wanted:
            break
        if len(sizes) > 1 and chance.random() < OFF_HOST:
            other = (host + chance.randrange(1, len(sizes))) % len(sizes)
            targets[f"http://{host_name(other)}{path(chance.randrange(sizes[other]))}"] = None
        else:
            targets[path(chance.randrange(sizes[host]))] = None
    return list(targets)


def write(folder: Path, shape: Shape) -> int:
    """Writes the web to a folder (kept as it is if it holds the same web already); returns the number of links."""
    truth_file = folder / "truth.json"
    if truth_file.is_file():
        kept = json.loads(truth_file.read_text())
        if kept["shape"] == f"{FORM} {shape}":
            return int(kept["links"])
    folder.mkdir(parents=True, exist_ok=True)
    truth: dict[str, dict[str, str | int]] = {}
    for page in pages(shape):
        file = folder / "www" / page.host / (page.path.lstrip("/") or "index.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page.html)
        truth[page.url] = {"sha256": hashlib.sha256(page.html).hexdigest(), "links": page.links}
    for host in range(shape.hosts):
        (folder / "www" / host_name(host) / "robots.txt").write_text(ROBOTS)
    (folder / "seeds.txt").write_text("".join(f"http://{host_name(host)}/\n" for host in range(shape.hosts)))
    links = sum(int(page["links"]) for page in truth.values())
    truth_file.write_text(json.dumps({"shape": f"{FORM} {shape}", "links": links, "pages": truth}))
    return links


def main() -> int:
    default = Shape()
    parser = argparse.ArgumentParser(description="Write the benchmark web.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hosts", type=int, default=default.hosts)
    parser.add_argument("--pages", type=int, default=default.pages)
    parser.add_argument("--seed", type=int, default=default.seed)
    options = parser.parse_args()
    shape = Shape(options.hosts, options.pages, options.seed)
    print(f"{shape.pages} pages on {shape.hosts} hosts, {write(options.folder, shape)} links in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes the web that speed is measured on: the same bytes for the same numbers, as files for a static server.

`python -m tests.web.corpus FOLDER [--hosts 60] [--pages 6000] [--seed 1]` writes FOLDER/www/HOST/… (pages and a
robots.txt for each host), seeds.txt and truth.json: {"pages": {URL: {"sha256", "links"}}, "links": total}. Pages have
5 to 150 KB of HTML (log-normal) and about 65 links each; every page is reached from the seeds, the hosts' start pages.
"""

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEDIAN_BYTES, SPREAD = 22_000, 0.8
MIN_BYTES, MAX_BYTES = 5_000, 150_000
MEAN_LINKS = 65
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


def pages(shape: Shape) -> Iterator[Page]:
    """All pages of the web, one at a time."""
    chance = random.Random(f"gregor corpus {shape}")
    sizes = _sites(shape, chance)
    paragraphs = _paragraphs(chance)
    for host in range(shape.hosts):
        for number in range(sizes[host]):
            yield _page(host, number, sizes, paragraphs, chance)


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


def _paragraphs(chance: random.Random) -> list[str]:
    """A stock of text: words by Zipf's law, so that compression and fingerprints see something like language."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ol")]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(chance.choices(words, weights, k=chance.randint(30, 120))) for _ in range(3000)]


def _page(host: int, number: int, sizes: list[int], paragraphs: list[str], chance: random.Random) -> Page:
    size = min(MAX_BYTES, max(MIN_BYTES, int(chance.lognormvariate(0.0, SPREAD) * MEDIAN_BYTES)))
    targets = _targets(host, number, sizes, chance)
    title = f"Page {number} of {host_name(host)}"
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
    head += f"<body>\n<h1>{title}</h1>\n"
    items = [f'<a href="{target}" class="more">{chance.choice(paragraphs)[:30]}</a>' for target in targets]
    parts, length = [head], len(head) + sum(map(len, items))
    while length < size:
        text = chance.choice(paragraphs)
        parts.append(f'<p class="text">{text} {items.pop() if items else ""}</p>\n')
        length += len(text) + 28
    parts += [f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>\n</body></html>\n"]
    return Page(host_name(host), path(number), "".join(parts).encode(), len(targets))


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
        if kept["shape"] == repr(shape):
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
    truth_file.write_text(json.dumps({"shape": repr(shape), "links": links, "pages": truth}))
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

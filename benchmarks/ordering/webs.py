"""Webs whose links are all known, so that what a part of them is worth can be said: the recorded one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gregor.search.ranks import Edges, Floats, pagerank
from gregor.worker.base.spooled import SpooledBody
from gregor.worker.demo import warc
from gregor.worker.read.document import Document
from gregor.worker.read.html.references import base_url
from gregor.worker.read.processors import installed
from gregor.worker.read.read import read
from gregor.worker.web.urls import Urls
from tests.web.realweb import page_files, seeds

FOLLOWED: Final = frozenset({"a", "area", "iframe", "next"})
"""Kinds of links that count: those of the recorded web's truth."""


class Answer(NamedTuple):
    """What a server of the web says."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


NOT_FOUND: Final = Answer(404, (), b"")


@dataclass
class LinkedWeb:
    """Pages by number: their keys, their hosts, where each leads. ``moved``: those that only lead elsewhere."""

    name: str
    keys: list[str]
    hosts: list[str]
    links: list[list[int]]
    seeds: list[int]
    seed_urls: list[str]
    answer: Callable[[str], Answer]
    """By the key of a URL."""
    moved: frozenset[int] = frozenset()
    closed: bool = False
    """Whether what is no page of it is not followed: it was not recorded."""
    numbers: dict[str, int] = field(init=False)
    ranks: Floats = field(init=False)
    """PageRank of the whole web, those who only lead elsewhere left out."""

    def __post_init__(self) -> None:
        self.numbers = {key: number for number, key in enumerate(self.keys)}
        self.ranks = self._ranks()

    def _ranks(self) -> Floats:
        pages = [number for number in range(len(self.keys)) if number not in self.moved]
        place = {number: at for at, number in enumerate(pages)}
        pairs = [(place[page], place[end]) for page in pages for end in self._ends(page) if end in place]
        sources, targets = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
        ranks = np.zeros(len(self.keys))
        ranks[pages] = pagerank(Edges(len(pages), sources, targets, np.ones(len(pairs))).joined()).ranks
        return ranks

    def _ends(self, page: int) -> Iterator[int]:
        """Where the links of a page lead in the end."""
        for number in self.links[page]:
            for _ in range(10):
                if number not in self.moved or not self.links[number]:
                    break
                number = self.links[number][0]
            yield number


def recorded(folder: Path, sites: Sequence[str] = ()) -> LinkedWeb:
    """A recorded web, or some sites of it; links lead to what was recorded. Raises SystemExit for a site not there."""
    files = page_files(folder, sites)
    urls, processors, records = Urls(), installed(), warc.index(files)
    parsed = {url.key: (url, records[at]) for at in records if (url := urls.parse(at)) is not None}
    numbers = {key: number for number, key in enumerate(parsed)}
    links: list[list[int]] = []
    moved: set[int] = set()
    for number, (url, record) in enumerate(parsed.values()):
        answer = _answer(warc.load(record))
        targets = []
        if answer.status == 200:
            content_type = dict(answer.headers).get("content-type", "")
            with closing(SpooledBody(cap=64 << 20)) as body:
                body.write(answer.body)
                extract = read(processors, Document(url.href, body, content_type), False).extract
            base = base_url(extract.base, url.href, 4096)
            targets = [
                urls.resolve(link.url, base, extract.encoding) for link in extract.links if link.kind in FOLLOWED
            ]
        else:
            moved.add(number)
            if location := dict(answer.headers).get("location"):
                targets = [urls.resolve(location, url.href)]
        keys = dict.fromkeys(target.key for target in targets if target is not None)
        links.append([numbers[key] for key in keys if key in numbers and key != url.key])
    start = seeds(folder, files)
    return LinkedWeb(
        "recorded",
        list(parsed),
        [url.host for url, _ in parsed.values()],
        links,
        list(dict.fromkeys(numbers[url.key] for url in map(urls.parse, start) if url is not None)),
        start,
        lambda key: _answer(warc.load(parsed[key][1])) if key in parsed else NOT_FOUND,
        frozenset(moved),
        closed=True,
    )


def _answer(response: warc.RecordedResponse) -> Answer:
    pairs = (line.decode("latin-1").partition(":") for line in response.headers)
    return Answer(
        response.status, tuple((name.strip().lower(), value.strip()) for name, _, value in pairs), response.body
    )

"""What a crawl that is after a topic has after a part of its pages: `python -m benchmarks.ordering.topical`.

For made-up webs of topics, each with a vocabulary of its own, and for a recorded one, in which the pages of some sites
are relevant: the share of all relevant pages, and of relevant sites, among the first parts of the pages, breadth-first,
best-first (the links of a page are worth what it is) and by the policy ``topic``. The crawl is told some key words.
Figures go to standard output, one line each.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.ordering import reference, virtual_crawl
from benchmarks.ordering.made import HTML
from benchmarks.ordering.webs import NOT_FOUND, Answer, LinkedWeb, recorded
from gregor.worker.base.pieces import InPieces
from gregor.worker.links.found_link import FoundLink
from gregor.worker.links.ordering.policy import BroughtPage

PARTS: Final = (0.05, 0.1, 0.2, 0.5)
BOUND: Final[dict[str, object]] = {"concurrency": 4, "delay": 0.1}
"""Few requests at once: where each host could be asked all the time there would be nothing to choose between hosts."""


class _Subject(NamedTuple):
    """A topic of the recorded web: the sites that are relevant, and what a person would call it by."""

    name: str
    sites: frozenset[str]
    words: tuple[str, ...]


WHOLE_SITES: Final = ("ant", "dclaw", "flink", "glref", "httpd", "kissy", "maku77", "ocaml", "sakura")
SUBJECTS: Final = (
    _Subject("law", frozenset({"code.dccouncil.us"}), ("council", "statute*", "subchapter", "district of columbia")),
    _Subject("ocaml", frozenset({"v2.ocaml.org"}), ("ocaml", "functor*", "camlp4")),
    _Subject(
        "apache",
        frozenset({"httpd.apache.org", "ant.apache.org", "flink.apache.org"}),
        ("apache", "httpd", "flink", "directive*"),
    ),
)


class BestFirst:
    """The policy that the literature compares with: a link is worth what its page is."""

    name = "best-first"
    adds = False
    tax = 0.0
    compares_hosts = True
    failures: Sequence[str] = ()

    def worths(self, page: BroughtPage, links: Iterable[FoundLink]) -> InPieces[Sequence[float]]:
        yield
        return [page.relevance or 0.0] * page.links

    def kept(self) -> bytes:
        return b""

    def recall(self, kept: bytes) -> None:
        """Nothing is learnt."""


@dataclass(frozen=True)
class Topic:
    """A web with what is relevant in it, and what tells a crawl of that."""

    web: LinkedWeb
    relevant: frozenset[int]
    settings: dict[str, object]
    name: str
    part: float = 0.5
    """How much of it is crawled."""


@dataclass(frozen=True)
class TopicalShape:
    """``topics``: how many, of which the first is the crawl's; ``like``: how much more likely a link leads to a page of
    its topic than to any; ``own``: the share of a page's words that are its topic's; ``stray``: the share of a host's
    pages that are of another topic."""

    pages: int = 10_000
    seed: int = 1
    topics: int = 10
    like: float = 0.7
    own: float = 0.25
    stray: float = 0.2
    seeds: int = 10


class _Sites:
    """The hosts of a web, each of a topic, and their pages, of which some are of another."""

    def __init__(self, shape: TopicalShape, chance: random.Random) -> None:
        count = shape.pages // 25
        self.sizes = [max(3, int(25 * chance.paretovariate(1.3) / 4)) for _ in range(count)]
        self.topics = [chance.randrange(shape.topics) for _ in range(count)]
        self.of_pages = [host for host, size in enumerate(self.sizes) for _ in range(size)]
        self.starts = [0, *accumulate(self.sizes)]
        self.page_topics = [
            self.topics[host]
            if page == self.starts[host] or chance.random() > shape.stray
            else chance.randrange(shape.topics)
            for page, host in enumerate(self.of_pages)
        ]
        numbers = range(shape.topics)
        self.members = [[page for page, topic in enumerate(self.page_topics) if topic == which] for which in numbers]
        self.fronts = [
            [self.starts[host] for host, topic in enumerate(self.topics) if topic == which] for which in numbers
        ]

    def links(self, shape: TopicalShape, chance: random.Random) -> Iterator[list[int]]:
        """Where each page leads, page by page."""
        for page, host in enumerate(self.of_pages):
            first, size, topic = self.starts[host], self.sizes[host], self.page_topics[page]
            ends = [first, first + chance.randrange(size), first + (page - first + 1) % size]
            for _ in range(2 + int(chance.expovariate(0.25))):
                near = chance.random() < 0.5
                like = chance.random() < shape.like
                if near:
                    of_host = [end for end in range(first, first + size) if not like or self.page_topics[end] == topic]
                    ends.append(chance.choice(of_host or [first]))
                else:
                    which = topic if like else chance.randrange(shape.topics)
                    fronts = self.fronts[which]
                    ends.append(chance.choice(fronts if fronts and chance.random() < 0.5 else self.members[which]))
            if page == first:  # so that all are found
                ends.append(self.starts[(host + 1) % len(self.sizes)])
            yield [end for end in dict.fromkeys(ends) if end != page]

    def seeds(self, count: int, chance: random.Random) -> list[int]:
        """First pages: two of the first topic, if it has so many hosts, the others of other topics."""
        seeds = chance.sample(self.fronts[0], min(2, len(self.fronts[0])))
        others = [self.starts[host] for host, topic in enumerate(self.topics) if topic]
        return seeds + chance.sample(others, count - len(seeds))


class _Texts:
    """What pages say: words that all have, and those of their topic."""

    def __init__(self, shape: TopicalShape, page_topics: Sequence[int]) -> None:
        self._share, self._topics = shape.own, page_topics
        self._common = [f"c{number}" for number in range(3000)]
        self.own = [[f"t{which}w{number}" for number in range(500)] for which in range(shape.topics)]
        """Of each topic, the most frequent first."""
        self._weights = list(accumulate(1.0 / (rank + 5) for rank in range(3000)))
        self._own_weights = self._weights[:500]

    def page(self, page: int, links: Iterable[tuple[int, str]]) -> str:
        """Its HTML; ``links``: the pages that it leads to, each with its URL."""
        title, text = self._words(page, 4, self._share), self._words(page, 120, self._share)
        anchors = "".join(
            f'<p>{self._words(end + page, 4, 0.0)} <a href="{url}">{self._words(end, 2, self._share)}</a></p>'
            for end, url in links
        )
        return f"<title>{title}</title><p>{text}</p>{anchors}"

    def _words(self, page: int, size: int, share: float) -> str:
        """So many words, of which this share is of the topic of a page; the same each time."""
        pick = random.Random(page * 31 + size)
        return " ".join(
            pick.choices(self.own[self._topics[page]], cum_weights=self._own_weights)[0]
            if pick.random() < share
            else pick.choices(self._common, cum_weights=self._weights)[0]
            for _ in range(size)
        )


def topical_web(shape: TopicalShape) -> Topic:
    """A web of such a shape; the crawl's topic is told by twelve of its most frequent words."""
    chance = random.Random(f"topical {shape.seed}")
    sites = _Sites(shape, chance)
    links, seeds = list(sites.links(shape, chance)), sites.seeds(shape.seeds, chance)
    texts = _Texts(shape, sites.page_topics)
    hosts = [f"h{host}.topical.example" for host in sites.of_pages]
    keys = [f"http://{host}/p{page}" for page, host in enumerate(hosts)]
    numbers = {key: number for number, key in enumerate(keys)}

    def answer(key: str) -> Answer:
        page = numbers.get(key)
        if page is None:
            return NOT_FOUND
        return Answer(200, HTML, texts.page(page, ((end, keys[end]) for end in links[page])).encode())

    web = LinkedWeb(f"made {shape.seed}", keys, hosts, links, seeds, [keys[seed] for seed in seeds], answer)
    key_words = {"topic_words": tuple(texts.own[0][:12]), "topic_threshold": 0.5}
    return Topic(web, frozenset(sites.members[0]), key_words, web.name)


def recorded_topics(folder: Path) -> Iterator[Topic]:
    """The whole sites of a recorded web with each of the `SUBJECTS`."""
    web = recorded(folder, WHOLE_SITES)
    for name, sites, words in SUBJECTS:
        pages = frozenset(number for number, host in enumerate(web.hosts) if host in sites) - web.moved
        settings: dict[str, object] = {"topic_words": words, "topic_threshold": 0.5, "concurrency": 2}
        yield Topic(web, pages, settings, f"recorded, {name}", part=0.2)


def lines(topic: Topic, *, discover: int | None = None) -> Iterator[str]:
    """What becomes of a web, a line for each way to crawl it."""
    web = topic.web
    pages = len(reference.breadth_first(web, virtual_crawl.CONCURRENCY, virtual_crawl.LATENCY))
    sites = {web.hosts[page] for page in topic.relevant}
    yield f"{topic.name}: {len(topic.relevant)} of {pages} pages are relevant, on {len(sites)} hosts"
    ways: list[tuple[str, dict[str, object]]] = [("depth", {}), ("best-first", {}), ("topic", {"ordering": "topic"})]
    if discover is not None:
        ways.append((f"topic, discover {discover}", {"ordering": "topic", "topic_discover": discover}))
    for name, settings in ways:
        begun = time.process_time()
        policy = BestFirst() if name == "best-first" else None
        order, _ = virtual_crawl.crawl(
            web, round(topic.part * pages), policy=policy, **{**BOUND, **topic.settings, **settings}
        )
        spent = (time.process_time() - begun) * 1000 / max(1, len(order))
        shares = [
            len(topic.relevant.intersection(order[: round(part * pages)])) / len(topic.relevant)
            for part in PARTS
            if part <= topic.part
        ]
        hosts = [
            len({web.hosts[page] for page in order[: round(part * pages)] if page in topic.relevant}) / len(sites)
            for part in PARTS
            if part <= topic.part
        ]
        yield f"  {name:20}pages {_shares(shares)}   sites {_shares(hosts)}   {spent:.2f} ms of CPU a page"


def _shares(several: Sequence[float]) -> str:
    return " ".join(f"{share:.3f}" for share in several)


def main() -> int:
    """Print the table of each web."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordering.topical", description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000, help="of a made-up web")
    parser.add_argument("--seeds", default="1,2", help="of the made-up webs")
    parser.add_argument("--web", type=Path, help="folder of the recorded web, which is crawled too")
    options = parser.parse_args()
    print(
        f"share of relevant pages and sites among the first {', '.join(f'{part:.0%}' for part in PARTS)} of the pages"
    )
    for seed in map(int, filter(None, options.seeds.split(","))):
        for line in lines(topical_web(TopicalShape(options.pages, seed)), discover=3):
            print(line, flush=True)
    for topic in recorded_topics(options.web) if options.web is not None else ():
        for line in lines(topic):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares what a crawl of a recorded web stored with what its truth.json says."""

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from gregor.worker.demo import warc
from gregor.worker.web.canonical import canonical

_SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
STORED = ("fetched", "duplicate")
LINK_KINDS = frozenset({"a", "area", "iframe", "next"})
"""Kinds of links that truth.json counts."""


class Link(msgspec.Struct, frozen=True):
    url: str
    kind: str


class Stored(msgspec.Struct, frozen=True):
    """The fields of a line of `gregor pages --jsonl` that are compared."""

    url: str
    state: str
    status: int | None = None
    sha256: str | None = None
    charset: str | None = None
    links: list[Link] = []


class Indexed(msgspec.Struct, frozen=True):
    """The fields of a line of index.jsonl.gz that are used."""

    url: str
    file: str
    kind: str
    sha256: str


class Truth(msgspec.Struct, frozen=True):
    """truth.json: per page six fields, of which the third is the encoding, the fourth the number of links."""

    profiles: dict[str, dict[str, int | str] | str]
    page: dict[str, list[str | int | None]]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a crawl must store: URL → body, links and encoding; and every recorded URL, which is what links may name."""

    sha256: dict[str, str]
    links: dict[str, int]
    encoding: dict[str, str]
    recorded: frozenset[str]


@dataclass(slots=True)
class Found:
    """What it did store, reduced while reading: sizes follow the number of pages, not of links."""

    sha256: dict[str, str] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)
    encoding: dict[str, str] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)

    def without(self, urls: Iterable[str]) -> list[str]:
        """Takes documents out that are no pages; the ones that were there."""
        there = [url for url in urls if url in self.sha256]
        for url in there:
            del self.sha256[url], self.links[url], self.encoding[url]
        return there


def expected(folder: Path, profile: str, files: Iterable[str], named: Collection[str] = ()) -> Expected:
    """Reads the truth of a profile, as far as the pages lie in the given files. Raises KeyError for another profile.

    Recorded pages that are ``named`` elsewhere (in sitemaps) belong to it too, reached by links or not.
    """
    truth = msgspec.json.decode((folder / "truth.json").read_bytes(), type=Truth)
    rules = truth.profiles[profile]
    assert isinstance(rules, dict)
    reached = int(rules["page_field"]) - 1
    wanted, indexed = frozenset(files), list(recorded(folder))
    pages = [
        entry
        for entry in indexed
        if entry.file in wanted and entry.url in truth.page and (truth.page[entry.url][reached] or entry.url in named)
    ]
    return Expected(
        sha256={entry.url: entry.sha256 for entry in pages},
        links={entry.url: int(truth.page[entry.url][3] or 0) for entry in pages},
        encoding={entry.url: str(truth.page[entry.url][2]) for entry in pages},
        recorded=frozenset(entry.url for entry in indexed),
    )


def sitemaps(extras: Path) -> dict[str, list[str]]:
    """The recorded sitemaps and what each names, by a parser that is not the crawler's. Feeds are none."""
    found = {}
    for url, record in warc.index([extras]).items():
        if url.rpartition("/")[2] == "sitemap.xml":
            root = ElementTree.fromstring(warc.load(record).body)
            found[url] = [(loc.text or "").strip() for loc in root.iter(f"{_SITEMAP}loc")]
    return found


def recorded(folder: Path) -> Iterator[Indexed]:
    """The records of the page files: neither robots.txt and sitemaps nor second captures."""
    decoder = msgspec.json.Decoder(Indexed)
    with gzip.open(folder / "index.jsonl.gz") as lines:
        for line in lines:
            entry = decoder.decode(line)
            if entry.kind not in ("extra", "recapture"):
                yield entry


def read(lines: Iterable[bytes], known: frozenset[str]) -> Found:
    """Reduces the crawler's records in one pass. `known` are the URLs that count as targets of links.

    A record may name its page by the canonical form, which for a few recorded URLs is another string.
    """
    decoder, found = msgspec.json.Decoder(Stored), Found()
    by_key = {key: url for url in known if (key := canonical(url)) != url}
    for line in lines:
        page = decoder.decode(line)
        if page.state not in STORED or page.status != 200:
            continue
        url = page.url if page.url in known else by_key.get(page.url, page.url)
        if url in found.sha256:
            found.repeated.append(url)
        targets = {link.url.partition("#")[0] for link in page.links if link.kind in LINK_KINDS}
        found.sha256[url] = page.sha256 or ""
        found.links[url] = len((targets & known) - {url})
        found.encoding[url] = (page.charset or "").lower()
    return found


def groups(sha256: dict[str, str]) -> set[frozenset[str]]:
    """Sets of two or more URLs whose bodies are equal."""
    same: dict[str, set[str]] = defaultdict(set)
    for url, digest in sha256.items():
        same[digest].add(url)
    return {frozenset(urls) for urls in same.values() if len(urls) > 1}


def differences(want: Expected, have: Found, charsets: bool) -> Iterator[str]:
    """One line for each way in which the crawl differs from the truth."""
    for url in sorted(want.sha256.keys() - have.sha256.keys()):
        yield f"not stored: {url}"
    for url in sorted(have.sha256.keys() - want.sha256.keys()):
        yield f"stored but not expected: {url}"
    for url in have.repeated:
        yield f"stored twice: {url}"
    for url in sorted(want.sha256.keys() & have.sha256.keys()):
        if want.sha256[url] != have.sha256[url]:
            yield f"another body: {url}: {want.sha256[url]}, crawled {have.sha256[url]}"
        if want.links[url] != have.links[url]:
            yield f"links: {url}: {want.links[url]}, crawled {have.links[url]}"
        if charsets and want.encoding[url] != have.encoding[url]:
            yield f"charset: {url}: {want.encoding[url]}, crawled {have.encoding[url]}"
    wanted, had = groups(want.sha256), groups(have.sha256)
    for group in sorted(map(sorted, wanted - had)):
        yield f"no duplicate group of {len(group)}: {', '.join(group[:3])}"
    for group in sorted(map(sorted, had - wanted)):
        yield f"unexpected duplicate group of {len(group)}: {', '.join(group[:3])}"

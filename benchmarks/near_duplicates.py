"""How good near-duplicates are told: labelled pairs, addresses recorded twice, and all pages of the recorded web.

`python -m benchmarks.near_duplicates --conformance FOLDER --web FOLDER`. The truth is the share of runs of three words
that two texts have in common of all that either has (Jaccard); those that share half of them are near-duplicates.
"""

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Final

import xxhash
from warcio.archiveiterator import ArchiveIterator

from gregor.worker.config.settings import Config
from gregor.worker.read.fingerprints import sketch_of, words_of
from gregor.worker.read.html import parse
from gregor.worker.read.sketches import keys_of, share
from gregor.worker.web.encodings import sniff

LEAST: Final = Config().near_duplicate_share
HALF: Final = 0.5
LOOKED_AT: Final = 32
_WORD: Final = re.compile(r"\w+")


class Text:
    """A text with what is known and what is told of it."""

    def __init__(self, words: str) -> None:
        runs = _WORD.findall(words.lower())
        count = max(1, len(runs) - 2)
        self.runs = frozenset(xxhash.xxh3_64_intdigest(" ".join(runs[at : at + 3]).encode()) for at in range(count))
        self.sketch = sketch_of(words)
        self.keys = frozenset(keys_of(self.sketch))

    def truth(self, other: "Text") -> float:
        """The share of runs of three words."""
        return len(self.runs & other.runs) / len(self.runs | other.runs)

    def is_called(self, other: "Text") -> bool:
        """Whether they are called near-duplicates."""
        return not self.keys.isdisjoint(other.keys) and share(self.sketch, other.sketch) >= LEAST


def recorded(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """The pages of WARC files: their addresses, and their titles and texts."""
    for file in files:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    body = record.content_stream().read()
                    kind = record.http_headers.get_header("Content-Type") or ""
                    extract = parse.extract(sniff.decode(body, sniff.sniff(body, kind)))
                    yield record.rec_headers.get_header("WARC-Target-URI"), words_of(extract.title, extract.text)


def labelled(folder: Path) -> str:
    """What becomes of the labelled pairs."""
    lines = (folder / "simhash/labelled_corpus.jsonl").read_text().splitlines()
    texts = {line["id"]: Text(line["text"]) for line in map(json.loads, lines)}
    true = {
        frozenset((pair["a"], pair["b"]))
        for pair in map(json.loads, (folder / "simhash/labelled_corpus_pairs.jsonl").read_text().splitlines())
    }
    called = {frozenset(pair) for pair in combinations(texts, 2) if texts[pair[0]].is_called(texts[pair[1]])}
    return f"labelled pairs of {len(texts)} texts: {len(called & true)} of {len(true)}, {len(called - true)} others"


def twice(first: dict[str, str], again: Iterable[tuple[str, str]]) -> str:
    """What becomes of addresses that were recorded twice."""
    pairs = [(Text(first[url]), Text(words)) for url, words in again if url in first and first[url] != words]
    near = [(a, b) for a, b in pairs if a.truth(b) >= HALF]
    called = [(a, b) for a, b in pairs if a.is_called(b)]
    right = sum(a.is_called(b) for a, b in near)
    return (
        f"recorded twice, with another text: {len(pairs)}, of which {len(near)} share half: {right} called, "
        f"and {len(called) - right} others"
    )


def in_turn(words: Iterable[str]) -> list[str]:
    """What becomes of pages that come one after another, as a crawl stores them."""
    texts = [text for text in map(Text, dict.fromkeys(words)) if text.sketch]
    random.Random(7).shuffle(texts)
    by_key: dict[int, list[Text]] = defaultdict(list)
    true_by_run: dict[int, list[Text]] = defaultdict(list)
    called = right = like = like_called = looked = 0
    for text in texts:
        candidates = {id(other): other for key in text.keys for other in by_key[key][:LOOKED_AT]}.values()
        looked += len(candidates)
        best = max(candidates, key=lambda other: share(text.sketch, other.sketch), default=None)
        is_called = best is not None and share(text.sketch, best.sketch) >= LEAST
        called += is_called
        right += best is not None and is_called and text.truth(best) >= HALF
        few = sorted(text.runs)[: max(1, len(text.runs) * 3 // 10 + 1)]  # who shares .7 shares one of any three tenths
        earlier = {id(other): other for run in few for other in true_by_run[run]}.values()
        if any(text.truth(other) >= 0.7 for other in earlier):
            like += 1
            like_called += is_called
        for key in text.keys:
            by_key[key].append(text)
        for run in text.runs:
            true_by_run[run].append(text)
    return [
        f"{len(texts)} texts in turn: {called} called near-duplicates of one before, {right / called:.2%} rightly",
        f"{like} share 70 % and more with one before: {like_called / like:.2%} called",
        f"{looked / len(texts):.1f} looked at for each",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="How good near-duplicates are told.")
    parser.add_argument("--conformance", type=Path, required=True)
    parser.add_argument("--web", type=Path, required=True)
    options = parser.parse_args()
    print(labelled(options.conformance))
    files = sorted(options.web.glob("*.warc.gz"))
    pages = dict(recorded(file for file in files if file.name.startswith(("web-", "site-"))))
    print(twice(pages, recorded([options.web / "recaptures.warc.gz"])))
    print("\n".join(in_turn(pages.values())))


if __name__ == "__main__":
    main()

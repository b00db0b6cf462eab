"""Simhash: distances, majority bits, neighbours and clusters, pairs of texts, and a labelled corpus."""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from gmpy2 import mpz

from gregor.worker.config.settings import Config
from gregor.worker.read import fingerprints, simhashing, sketches
from tests.neighbours import BITS, Neighbours
from tests.web.suites import Line, Suite, Verdict, equal

_SHARE = Config().near_duplicate_share
_CORPUS_BITS = 6
"""The published scores of the corpus hold for 3, 6 and 10 bits alike; a pair more or less at the edge is chance."""


def _majority(hashes: list[int]) -> int:
    parts = [hashes[start : start + simhashing.NUMBERS] for start in range(0, len(hashes), simhashing.NUMBERS)]
    packed = (int.from_bytes(b"".join(number.to_bytes(8, "little") for number in part), "little") for part in parts)
    return simhashing.majority(([mpz(number)] for number in packed), len(hashes))


def _vector(case: Line) -> Verdict:
    return _OPERATIONS[case["op"]](case)


def _hamming(case: Line) -> Verdict:
    return equal(fingerprints.distance(int(case["a"], 16), int(case["b"], 16)), case["distance"])


def _compute(case: Line) -> Verdict:
    hashes = [int(value, 16) for value in case["hashes"]] * case.get("repeat", 1)
    return equal(f"{_majority(hashes):016x}", case["simhash"])


def _pairs(case: Line) -> list[tuple[str, str]]:
    """All pairs within the case's distance: by the bands where it is theirs, else one by one."""
    bits, values = case["max_distance"], [int(value, 16) for value in case["hashes"]]
    if bits == BITS:
        tables = Neighbours(values)
        found = {(a, b) for a in values for b in tables.near(a) if a != b}
    else:
        found = {(a, b) for a in values for b in values if a != b and fingerprints.distance(a, b) <= bits}
    return sorted({(f"{min(pair):016x}", f"{max(pair):016x}") for pair in found})


def _find_all(case: Line) -> Verdict:
    return equal(_pairs(case), sorted(tuple(sorted(pair)) for pair in case["pairs"]))


def _find_clusters(case: Line) -> Verdict:
    clusters = {value: {value} for value in case["hashes"]}
    for a, b in _pairs(case):
        merged = clusters[a] | clusters[b]
        clusters.update(dict.fromkeys(merged, merged))
    found = {tuple(sorted(cluster)) for cluster in clusters.values() if len(cluster) > 1}
    return equal(sorted(found), sorted(tuple(sorted(cluster)) for cluster in case["clusters"]))


def _md5(case: Line) -> Verdict:
    features = case.get("features") or [str(number) for number in range(*case["features_range"])]
    digests = [hashlib.md5(feature.encode(), usedforsecurity=False).digest()[-8:] for feature in features]
    hashes = [int.from_bytes(digest, "big") for digest in digests]
    return equal(_majority(hashes), int(case["simhash_decimal"]))


_OPERATIONS = {
    "hamming": _hamming,
    "compute": _compute,
    "find_all": _find_all,
    "find_clusters": _find_clusters,
    "simhash_md5": _md5,
}


def _text_pair(case: Line) -> Verdict:
    a, b = case["a"], case["b"]
    bits = fingerprints.distance(*(fingerprints.simhash_and_sketch(text)[0] for text in (a, b)))
    same = fingerprints.text_fingerprint(a) == fingerprints.text_fingerprint(b)
    relation = case["relation"]
    if relation == "not identical":
        return Verdict(not same, "their fingerprints are equal")
    if relation.startswith("identical"):
        return Verdict(same or bits == 0, f"{bits} bits apart")
    stated = re.search(r"(<|within|<=) ?(\d+)", case.get("note", "within 10"))
    bound = int(stated[2]) - (stated[1] == "<") if stated else 10
    return Verdict((bits <= bound) == (relation == "near-duplicate"), f"{relation}, but {bits} bits apart")


def _corpus(folder: Path) -> Iterator[Line]:
    """One case for each pair of texts that is near-duplicate, or found to be."""
    file = folder
    with file.open(encoding="utf-8") as lines, file.with_name("labelled_corpus_pairs.jsonl").open() as labels:
        hashes = {text["id"]: fingerprints.simhash_and_sketch(text["text"])[0] for text in map(json.loads, lines)}
        true = {tuple(sorted((pair["a"], pair["b"]))) for pair in map(json.loads, labels)}
    for pair in itertools.combinations(sorted(hashes), 2):
        bits = fingerprints.distance(hashes[pair[0]], hashes[pair[1]])
        if pair in true or bits <= _CORPUS_BITS:
            yield {"id": "-".join(pair), "bits": bits, "near": pair in true}


def _labelled(case: Line) -> Verdict:
    return Verdict((case["bits"] <= _CORPUS_BITS) == case["near"], f"near: {case['near']}, {case['bits']} bits apart")


def _sketched(folder: Path) -> Iterator[Line]:
    """One case for each pair of texts that is near-duplicate, or found to be, by keys and shares of sketches."""
    with folder.open(encoding="utf-8") as lines, folder.with_name("labelled_corpus_pairs.jsonl").open() as labels:
        made = {text["id"]: fingerprints.sketch_of(text["text"]) for text in map(json.loads, lines)}
        true = {tuple(sorted((pair["a"], pair["b"]))) for pair in map(json.loads, labels)}
    for pair in itertools.combinations(sorted(made), 2):
        a, b = made[pair[0]], made[pair[1]]
        much = sketches.share(a, b) if set(sketches.keys_of(a)) & set(sketches.keys_of(b)) else 0.0
        if pair in true or much >= _SHARE:
            yield {"id": "-".join(pair), "share": much, "near": pair in true}


def _told(case: Line) -> Verdict:
    return Verdict((case["share"] >= _SHARE) == case["near"], f"near: {case['near']}, {case['share']:.2f} in common")


def _is_ours(case: Line) -> bool:
    """How a sequence is cut into shingles is not a function of its own here."""
    return bool(case["op"] != "shingle")


def _keeps_order(case: Line) -> bool:
    """A simhash of shingles depends on the order of the words; the word profile of one source does not (optional)."""
    return bool(case["relation"] != "same word profile")


SUITES = [
    Suite("simhash/vectors", "simhash/vectors.jsonl", "", _vector, _is_ours),
    Suite("simhash/text_pairs", "simhash/text_pairs.jsonl", "", _text_pair, _keeps_order),
    Suite("simhash/corpus", "simhash/labelled_corpus.jsonl", "simhash 10 of 10 pairs", _labelled, cases=_corpus),
    Suite("sketches/corpus", "simhash/labelled_corpus.jsonl", "simhash 10 of 10 pairs", _told, cases=_sketched),
]

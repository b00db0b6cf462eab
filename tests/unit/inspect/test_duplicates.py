"""Which pages belong together, which of them speaks for the others, and what an export of one of each leaves out."""

import asyncio
from typing import Any

import pytest

from gregor.schemas.messages import Link, Page
from gregor.worker.inspect import selection
from gregor.worker.inspect.duplicates import Candidate, DuplicateCluster, best_of, clusters, lines
from gregor.worker.inspect.selection import Selection
from gregor.worker.web.urls import Urls
from tests.reading import MemoryReader, page
from tests.sketches import sketch

A, B, C, D = "http://a.test/", "http://b.test/long", "http://c.test/x", "http://a.test/other"


def stored(url: str, **fields: Any) -> Page:
    return page(url, **fields)


def found(*pages: Page, least: float = 0.65, host: str | None = None) -> list[DuplicateCluster]:
    async def all_of() -> list[DuplicateCluster]:
        return [cluster async for cluster in clusters(MemoryReader(pages=pages), Urls(), least, host)]

    return asyncio.run(all_of())


@pytest.mark.parametrize(
    ("candidates", "best", "because"),
    [
        ([("a", 0, 0), ("bb", 1, 0)], "bb", "canonical"),
        ([("a", 1, 0), ("bb", 2, 0)], "bb", "canonical"),
        ([("a", 1, 0), ("bb", 1, 9)], "a", "shortest"),
        ([("aaa", 0, 9), ("bb", 0, 1)], "bb", "shortest"),
        ([("aa", 0, 1), ("bb", 0, 2)], "bb", "most linked"),
        ([("bb", 0, 2), ("aa", 0, 2)], "aa", "first by name"),
    ],
)
def test_the_best_page_is_the_canonical_the_shortest_the_most_linked(
    candidates: list[tuple[str, int, int]], best: str, because: str
) -> None:
    told, why = best_of([Candidate(url, url, named, links) for url, named, links in candidates])
    assert (told.url, why) == (best, because)


def test_pages_that_are_alike_come_together_however_they_were_met() -> None:
    pages = [
        stored(A, sketch=sketch(1)),
        stored(B, sketch=sketch(1, 5), canonical=B, near_duplicate_of="http://gone.test/"),
        stored(C, sketch=sketch(1), state="duplicate", duplicate_of=A),
        stored(D, sketch=sketch(2), links=[Link(A, "a"), Link(A, "a"), Link(C, "canonical")]),
    ]
    (cluster,) = found(*pages)
    assert (cluster.best, cluster.because) == (B, "canonical")
    assert [(member.url, member.links) for member in cluster.pages] == [(A, 1), (B, 0), (C, 0)]
    assert [round(member.share, 1) for member in cluster.pages] == [0.9, 1.0, 0.9]
    assert next(lines(cluster)) == f"{B}  (canonical; 3 pages)"
    assert found(*pages, host="c.test") == [cluster]
    assert found(*pages, host="d.test") == []
    (exact,) = found(*pages, least=1.0)
    assert [member.url for member in exact.pages] == [A, C]


def test_the_largest_cluster_comes_first_and_pages_alone_and_requisites_are_none() -> None:
    two = [stored(f"http://two.test/{number}", sketch=sketch(1)) for number in range(2)]
    three = [stored(f"http://three.test/{number}", sketch=sketch(2, number)) for number in range(3)]
    needed = [stored(f"http://four.test/{number}", sketch=sketch(3), requisite=True) for number in range(4)]
    told = found(*two, *three, *needed, stored("http://alone.test/", sketch=sketch(4)))
    assert [len(cluster.pages) for cluster in told] == [3, 2]


def test_an_export_of_one_of_each_leaves_out_what_another_page_tells() -> None:
    pages = [
        stored(A, near_duplicate_of=B),  # they name each other: after a new version of one
        stored(B, near_duplicate_of=A),
        stored(C, state="duplicate", duplicate_of=A),
        stored(D, near_duplicate_of="http://gone.test/"),
    ]

    async def urls(wanted: Selection) -> list[str]:
        return [kept.href async for kept, _ in selection.pages(MemoryReader(pages=pages), wanted)]

    assert asyncio.run(urls(Selection(unique=True))) == [A, D]
    assert asyncio.run(urls(Selection())) == [A, B, C, D]

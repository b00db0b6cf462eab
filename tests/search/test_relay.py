"""What index workers take in, on a shelf in memory: in any order, again and again, by old owners."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count

import msgspec
import pytest

from gregor.schemas.messages import Page, Row
from gregor.search.documents import IndexedDocument
from gregor.search.relay import Relay
from gregor.worker.borders.shelf import Held, IndexedUrl, LinkWords, Post, UrlToIndex
from tests.search.stored import link, page, row

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"


class Shelf:
    """`Shelf` in memory: what has the highest stamp holds."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, ...], tuple[int, object]] = {}

    def put(self, name: tuple[str, ...], value: object, stamp: int) -> None:
        if stamp >= self.cells.get(name, (0, None))[0]:
            self.cells[name] = (stamp, value)

    def found(self, *name: str) -> list[tuple[tuple[str, ...], object]]:
        size = len(name)
        return [
            (place, value) for place, (_, value) in self.cells.items() if place[:size] == name and value is not None
        ]

    async def noted(self, key: str) -> IndexedUrl | None:
        return next((value for _, value in self.found("page", key) if isinstance(value, IndexedUrl)), None)

    async def contents_of(self, keys: Sequence[str]) -> list[str]:
        noted = [await self.noted(key) for key in keys]
        return list(dict.fromkeys(one.content for one in noted if one is not None))

    async def note(self, key: str, noted: IndexedUrl, stamp: int) -> None:
        self.put(("page", key), noted if noted.content else None, stamp)

    async def hold(self, content: str, held: Held, stamp: int) -> None:
        self.put(("content", content, held.key), held, stamp)

    async def let_go(self, content: str, key: str, stamp: int) -> None:
        self.put(("content", content, key), None, stamp)

    async def held(self, content: str) -> list[Held]:
        return [value for _, value in self.found("content", content) if isinstance(value, Held)]

    async def link(self, source: str, host: str, added: Mapping[tuple[str, int], str], stamp: int) -> None:
        for (target, words), text in added.items():
            self.put(("anchor", target, host, str(words), source), LinkWords(host, text), stamp)

    async def unlink(self, source: str, host: str, removed: Sequence[tuple[str, int]], stamp: int) -> None:
        for target, words in removed:
            self.put(("anchor", target, host, str(words), source), None, stamp)

    async def anchors(self, keys: Sequence[str], limit: int) -> list[LinkWords]:
        return [value for key in keys for _, value in self.found("anchor", key) if isinstance(value, LinkWords)]

    async def bucket(self, content: str) -> int:
        return next((value for _, value in self.found("bucket", content) if isinstance(value, int)), 0)

    async def epoch(self, partition: int) -> int:
        return 0

    async def own(self, partition: int, epoch: int) -> None:
        """Nobody else is there."""

    async def close(self) -> None:
        """Nothing is open."""


class Crawl:
    """What a crawl stored, and the documents that were made of it."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.rows: dict[str, Row] = {}
        self.shelf = Shelf()
        self.documents: dict[str, IndexedDocument] = {}
        self.dies = False  # whether who notes is killed before it tells of it
        self._stamps = count(1)

    def store(self, *pages: Page) -> list[UrlToIndex]:
        for one in pages:
            self.pages[one.key] = one
            self.rows[one.key] = msgspec.structs.replace(row(one.key, one.visit, one.state), requisite=one.requisite)
        return [UrlToIndex(one.key, one.visit, requisite=one.requisite) for one in pages]

    def relay(self) -> Relay:
        async def page_of(key: str, visit: int | None) -> Page | None:
            stored = self.pages.get(key)
            return stored if stored is not None and visit in (None, stored.visit) else None

        async def row_of(key: str) -> Row | None:
            return self.rows.get(key)

        return Relay(self.shelf, page_of, row_of, lambda url: url)

    def take_in(self, *heard: UrlToIndex, relay: Relay | None = None) -> list[Post]:
        async def whole() -> list[Post]:
            posts: list[Post] = []

            async def post(told: list[Post]) -> None:
                if self.dies:
                    raise ConnectionError
                posts.extend(told)

            await (relay or self.relay()).note(heard, lambda: next(self._stamps), post)
            await self.relay().write([post.write for post in posts], self._put)
            return posts

        return asyncio.run(whole())

    def _put(self, content: str, document: IndexedDocument | None) -> None:
        self.documents.pop(content, None)
        if document is not None:
            self.documents[content] = document

    def texts(self) -> dict[str, tuple[str, ...]]:
        return {made.text: tuple(key for key, _ in made.keys) for made in self.documents.values()}


def test_duplicates_are_one_document_and_words_of_links_come_in_any_order() -> None:
    crawl = Crawl()
    heard = crawl.store(page(A, "one", 1, link(B, "to b")), page(B, "two"), page(C, "one", 1, state="duplicate"))
    for order in (heard, heard[::-1], heard):
        for told in order:
            crawl.take_in(told)
    assert crawl.texts() == {"one": (A, C), "two": (B,)}
    (linked,) = (made for made in crawl.documents.values() if made.text == "two")
    assert [(anchor.text, anchor.host) for anchor in linked.anchors] == [("to b", "a.org")]
    crawl.take_in(*crawl.store(page(A, "three", 2)))
    assert crawl.texts() == {"one": (C,), "two": (B,), "three": (A,)}
    assert not any(made.anchors for made in crawl.documents.values())


@pytest.mark.parametrize("change", ["gone", "redirected", "denied", "dead", "refused"])
def test_what_is_told_before_the_row_is_written_counts(change: str) -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "one"), page(B, "two")))
    crawl.take_in(UrlToIndex(A, 2, change))
    assert crawl.texts() == {"two": (B,)}
    crawl.rows[A] = msgspec.structs.replace(row(A, 2, "gone"), page=1)
    crawl.pages[A] = page(A, "again", 3)
    crawl.take_in(UrlToIndex(A, 3))  # it is back; its row still says that it is gone
    assert crawl.texts() == {"two": (B,), "again": (A,)}


def test_a_page_that_is_erased_takes_the_words_of_its_links_with_it() -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "one", 1, link(B, "to b")), page(B, "two")))
    del crawl.pages[A]
    crawl.take_in(UrlToIndex(A, 1, "erased"))
    assert crawl.texts() == {"two": (B,)} and not any(made.anchors for made in crawl.documents.values())


def test_what_asks_to_be_left_out_and_what_only_pages_show_is_left_out() -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "one", directives=("noindex",)), page(B, "two", requisite=True)))
    assert crawl.texts() == {}
    crawl.take_in(UrlToIndex(B, 1, "fetched"))  # a link made a page of it; its row does not say so yet
    assert crawl.texts() == {"two": (B,)}


def test_an_event_that_is_older_than_the_row_changes_nothing() -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "one", 5)))
    crawl.take_in(UrlToIndex(A, 3, "gone"), UrlToIndex(A, 2))
    assert crawl.texts() == {"one": (A,)}


def test_a_row_of_a_later_visit_stands() -> None:
    later = row(A, 2, "fetched")
    assert UrlToIndex(A, 1, "gone").settled(later) is later


def test_a_document_has_the_rank_that_its_content_is_on() -> None:
    crawl = Crawl()
    crawl.shelf.put(("bucket", b"one".hex()), 5, 1)
    crawl.take_in(*crawl.store(page(A, "one"), page(B, "two")))
    assert {made.key: made.rank for made in crawl.documents.values()} == {A: 5 / 15, B: 0.0}


def test_what_is_cut_short_before_it_is_told_is_told_by_the_repeat() -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "old", 1, link(B, "to b")), page(B, "two")))
    heard = crawl.store(page(A, "new", 2))
    crawl.dies = True
    with pytest.raises(ConnectionError):
        crawl.take_in(*heard)
    crawl.dies = False
    crawl.take_in(*heard)
    assert set(crawl.texts()) == {"new", "two"}  # the old document is not left over
    assert all(not document.anchors for document in crawl.documents.values())

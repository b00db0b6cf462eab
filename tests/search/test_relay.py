"""What index workers take in, on a shelf in memory: in any order, again and again, by old owners."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from itertools import count

import msgspec
import pytest

from gregor.schemas.messages import Page, Row
from gregor.search.documents import IndexedDocument
from gregor.search.relay import Relay
from gregor.worker.borders.shelf import Held, IndexedUrl, LinkWords, Post, UrlToIndex
from tests.search.stored import link, page, row

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"


class Killed(Exception):
    """Whoever takes in does nothing more."""


class Shelf:
    """`Shelf` in memory: what has the highest stamp holds."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, ...], tuple[int, object]] = {}
        self.left: int | None = None  # steps until whoever takes in is killed; None: that is not to be
        self.steps = 0

    def step(self) -> None:
        """Before each cell that is written, and each post: any of them may be the first that is not done."""
        if self.left is not None and self.steps >= self.left:
            raise Killed
        self.steps += 1

    def put(self, name: tuple[str, ...], value: object, stamp: int) -> None:
        self.step()
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
        return list(dict.fromkeys(content for url in noted if url is not None for content in url.contents()))

    async def note(self, key: str, noted: IndexedUrl, stamp: int) -> None:
        self.put(("page", key), noted if noted.contents() else None, stamp)

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
        return asyncio.run(self.taken_in(*heard, relay=relay))

    async def taken_in(self, *heard: UrlToIndex, relay: Relay | None = None) -> list[Post]:
        """Note, and write what was posted, as another does also where whoever notes is killed."""
        posts: list[Post] = []

        async def post(told: list[Post]) -> None:
            self.shelf.step()
            posts.extend(told)

        try:
            await (relay or self.relay()).note(heard, self.stamp, post)
        finally:
            await self.write(posts)
        return posts

    async def write(self, posts: Sequence[Post]) -> None:
        await self.relay().write([post.write for post in posts], self._put)

    def stamp(self) -> int:
        return next(self._stamps)

    def _put(self, content: str, document: IndexedDocument | None) -> None:
        self.documents.pop(content, None)
        if document is not None:
            self.documents[content] = document

    def remembered(self) -> dict[tuple[str, ...], object]:
        return {name: value for name, (_, value) in self.shelf.cells.items() if value is not None}

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


def begun(*, is_known: bool, left: int | None) -> tuple[Crawl, bool]:
    """A crawl that takes in a page of A, over an older one if it is known; and whether it was killed at that step."""
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(B, "two"), page(C, "three"), page(D, "four")))
    if is_known:
        crawl.take_in(*crawl.store(page(A, "old", 1, link(B, "once to b"), link(C, "to c"))))
    crawl.shelf.steps, crawl.shelf.left = 0, left
    try:
        crawl.take_in(*crawl.store(page(A, "new", 2, link(C, "to c"), link(D, "now to d"))))
    except Killed:
        return crawl, True
    finally:
        crawl.shelf.left = None
    return crawl, False


def repeated(crawl: Crawl, then: str) -> None:
    """Take in A once more, as it is by then."""
    if then == "gone":
        del crawl.pages[A], crawl.rows[A]
    elif then == "hidden":
        crawl.store(page(A, "new", 3, link(D, "now to d"), directives=("noindex",)))
    elif then == "replaced":
        crawl.store(page(A, "newest", 3, link(B, "at last to b")))
    elif then == "as before":
        crawl.store(page(A, "old", 3, link(C, "to c")))
    crawl.take_in(UrlToIndex(A, 2))


@pytest.mark.parametrize("then", ["unchanged", "gone", "hidden", "replaced", "as before"])
@pytest.mark.parametrize("is_known", [False, True])
def test_whoever_is_killed_at_any_step_leaves_what_the_repeat_sets_right(then: str, is_known: bool) -> None:
    undisturbed, _ = begun(is_known=is_known, left=None)
    most = undisturbed.shelf.steps
    repeated(undisturbed, then)
    assert most > 5 and len(undisturbed.documents) == 3 + (then not in ("gone", "hidden"))
    for left in range(most):
        crawl, was_killed = begun(is_known=is_known, left=left)
        assert was_killed
        repeated(crawl, then)
        assert crawl.documents == undisturbed.documents, f"killed after {left} steps"
        assert crawl.remembered() == undisturbed.remembered(), f"killed after {left} steps"


@pytest.mark.parametrize("first", range(1, 6))
@pytest.mark.parametrize("second", range(1, 6))
def test_whoever_is_killed_twice_leaves_nothing_over(first: int, second: int) -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(B, "two")))
    for visit, steps in enumerate((first, second, second), start=1):
        heard = crawl.store(page(A, f"text {visit}", visit, link(B, f"words {visit}")))
        crawl.shelf.steps, crawl.shelf.left = 0, steps
        with contextlib.suppress(Killed):
            crawl.take_in(*heard)
        crawl.shelf.left = None
    del crawl.pages[A], crawl.rows[A]
    crawl.take_in(UrlToIndex(A, 4, "erased"))
    assert crawl.texts() == {"two": (B,)} and not any(made.anchors for made in crawl.documents.values())
    assert not crawl.shelf.found("page", A)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_link_to_a_url_whose_document_is_written_just_now_reaches_it(is_known: bool) -> None:
    crawl = Crawl()
    if is_known:
        crawl.take_in(*crawl.store(page(B, "one")))

    async def raced() -> None:
        async def post(told: list[Post]) -> None:
            await crawl.write(told)
            await crawl.taken_in(*linking)  # by the owner of another partition

        await crawl.relay().note(heard, crawl.stamp, post)

    heard, linking = crawl.store(page(B, "two", 2)), crawl.store(page(A, "links", 1, link(B, "to b")))
    asyncio.run(raced())
    (linked,) = (made for made in crawl.documents.values() if made.text == "two")
    assert [anchor.text for anchor in linked.anchors] == ["to b"] and set(crawl.texts()) == {"links", "two"}


def test_a_page_that_is_the_same_again_is_remembered_once() -> None:
    crawl = Crawl()
    crawl.take_in(*crawl.store(page(A, "one", 1, link(B, "to b"))))
    heard, crawl.shelf.steps = crawl.store(page(A, "one", 2, link(B, "to b"))), 0
    crawl.take_in(*heard)
    assert crawl.shelf.steps == 4  # held, linked, posted, remembered

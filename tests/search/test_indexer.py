"""From changes to documents: what is found after them, whatever was cut short on the way."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from gregor.schemas.messages import Page, Row, State
from gregor.search import indexer
from gregor.search.adapters.book import PageBook
from gregor.search.adapters.tantivy_index import TantivyIndex
from gregor.search.indexer import Indexer
from gregor.search.query import parse
from gregor.worker.borders.changes import UrlChange
from tests.search.stored import link, page, row

A, B, C, D = (f"http://{name}.example.org/" for name in "abcd")


class Crashed(Exception):
    """The process was killed here."""


class Crawl:
    """A feed in memory, and the pages that it tells of."""

    def __init__(self) -> None:
        self.now: dict[str, tuple[int, Page | None, Row | None]] = {}
        self._position = 0

    def put(self, *pages: Page, state: State = "fetched") -> None:
        for one in pages:
            self._mark(one.key, one, row(one.key, one.visit, state))

    def state(self, key: str, state: State) -> None:
        self._mark(key, self.now[key][1], row(key, 2, state))

    def erase(self, key: str) -> None:
        self._mark(key, None, None)

    def _mark(self, key: str, stored: Page | None, settled: Row | None) -> None:
        self._position += 1
        self.now[key] = (self._position, stored, settled)

    async def changes(self, after: int, limit: int) -> list[UrlChange]:
        found = [UrlChange(at, key, stored, kept) for key, (at, stored, kept) in self.now.items() if at > after]
        return sorted(found, key=lambda one: one.position)[: min(limit, 3)]

    async def end(self) -> int:
        return self._position

    async def close(self) -> None:
        pass

    async def page(self, key: str, visit: int | None = None) -> Page | None:
        stored = self.now[key][1]
        return stored if stored is not None and stored.visit == visit else None


class Killing:
    """Passes calls on, until so many of those that write were made: then the process is killed, before or after it."""

    def __init__(self, held: object, budget: list[int], after: bool) -> None:
        self._held, self._budget, self._after = held, budget, after

    def __getattr__(self, name: str) -> object:
        method = getattr(self._held, name)
        if name not in ("put", "remove", "commit", "take_in", "settled"):
            return method

        def call(*words: object) -> object:
            self._budget[0] -= 1
            if self._budget[0] < 0 and not self._after:
                raise Crashed
            answer = method(*words)
            if self._budget[0] < 0:
                raise Crashed
            return answer

        return call


def index_all(folder: Path, crawl: Crawl, budget: int = 10**9, after: bool = False) -> int:
    """Index until nothing is left or the budget of writes is used up; what is left of that."""
    left = [budget]
    index, book = TantivyIndex(folder / "tantivy", writable=True), PageBook(folder / "book.db", lambda url: url)

    async def run() -> None:
        wrapped = Killing(book, left, after), Killing(index, left, after)
        indexer = Indexer(crawl, crawl.page, *wrapped)  # type: ignore[arg-type]
        while await indexer.step():
            pass

    try:
        asyncio.run(run())
    finally:
        book.close()
        index.close()
    return left[0]


def found(folder: Path, query: str) -> dict[str, tuple[str, ...]]:
    """The documents that a query finds: their URLs by the one that they are shown by."""
    index = TantivyIndex(folder / "tantivy")
    return {hit.key: hit.keys for hit in index.search(parse(query), 100).hits}


def everything(folder: Path) -> dict[str, tuple[str, ...]]:
    return found(folder, "site:example.org")


def test_a_content_is_one_document_with_all_its_urls(tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.put(page(A, "same words", depth=2), page(B, "same words", state="duplicate"), page(C, "other words"))
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {A: (A, B), C: (C,)}
    crawl.put(page(A, "changed words", 2))
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {A: (A,), B: (B,), C: (C,)}
    assert found(tmp_path, "same") == {B: (B,)} and found(tmp_path, "changed") == {A: (A,)}
    crawl.state(B, "gone")
    crawl.erase(C)
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {A: (A,)}


@pytest.mark.parametrize("state", ["gone", "redirected", "denied", "refused", "dead"])
def test_what_is_there_no_more_vanishes_and_comes_back(tmp_path: Path, state: State) -> None:
    crawl = Crawl()
    crawl.put(page(A, "words"))
    index_all(tmp_path, crawl)
    crawl.state(A, "waiting")
    index_all(tmp_path, crawl)
    assert list(everything(tmp_path)) == [A]
    crawl.state(A, state)
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {}
    crawl.put(page(A, "words", 3))
    index_all(tmp_path, crawl)
    assert list(everything(tmp_path)) == [A]


def test_noindex_is_obeyed_also_when_it_comes_later(tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.put(page(A, "words"), page(B, "hidden", 1, directives=("noindex",)))
    index_all(tmp_path, crawl)
    assert list(everything(tmp_path)) == [A]
    crawl.put(page(A, "words", 2, directives=("noindex", "nofollow")))
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {}


def test_a_page_is_found_by_the_words_of_links_to_it(tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.put(page(A, "a", 1, link(B, "wonderful fruit"), link(C, "spam", nofollow=True)))
    index_all(tmp_path, crawl)
    assert found(tmp_path, "wonderful") == {}
    crawl.put(page(B, "b"), page(C, "c"))
    index_all(tmp_path, crawl)
    assert list(found(tmp_path, "wonderful")) == [B] and found(tmp_path, "spam") == {}
    crawl.put(page(D, "d", 1, link(B, "wonderful fruit"), link(B, "sour"), link(D, "myself")))
    index_all(tmp_path, crawl)
    assert list(found(tmp_path, "sour")) == [B] and found(tmp_path, "myself") == {}
    crawl.erase(D)
    crawl.put(page(A, "a2", 2, link(B, "fruit")))
    index_all(tmp_path, crawl)
    assert found(tmp_path, "sour") == found(tmp_path, "wonderful") == {} and list(found(tmp_path, "fruit")) == [B]


def story(crawl: Crawl) -> Iterator[None]:
    """A crawl in three parts, after each of which the index is brought up to date."""
    crawl.put(page(A, "same", 1, link(B, "anchored")), page(B, "same", state="duplicate"), page(C, "third"))
    crawl.put(page(D, "fourth", 1, link(A, "inbound")), page("http://e.example.org/", "fifth"))
    yield
    crawl.put(page(A, "moved", 2, link(C, "anchored")), page(D, "fourth again", 2))
    crawl.erase(C)
    yield
    crawl.state("http://e.example.org/", "gone")
    crawl.put(page(C, "third", 2))
    yield


def outcome(folder: Path) -> Sequence[dict[str, tuple[str, ...]]]:
    return [everything(folder), *(found(folder, query) for query in ("anchored", "inbound", "same", "third", "fourth"))]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_write_loses_and_doubles_nothing(tmp_path: Path, after: bool) -> None:
    def told(folder: Path, index: Callable[[Crawl, int], int], budget: int) -> tuple[Sequence[object], int]:
        crawl = Crawl()
        for _ in story(crawl):
            try:
                budget = index(crawl, budget)
            except Crashed:
                budget = 10**6
                index_all(folder, crawl)
        return outcome(folder), budget

    (tmp_path / "whole").mkdir()
    expected, left = told(tmp_path / "whole", lambda crawl, budget: index_all(tmp_path / "whole", crawl, budget), 10**5)
    writes = 10**5 - left
    assert writes > 20
    for budget in range(0, writes, 5):
        folder = tmp_path / f"{after}{budget}"
        folder.mkdir()
        run = lambda crawl, budget, folder=folder: index_all(folder, crawl, budget, after)  # noqa: E731
        assert told(folder, run, budget)[0] == expected, budget


class Counting:
    """Passes calls on, and counts the documents that are put."""

    def __init__(self, held: object) -> None:
        self._held, self.puts = held, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._held, name)

    def put(self, documents: Sequence[object]) -> None:
        self.puts += len(documents)
        self._held.put(documents)  # type: ignore[attr-defined]


def test_who_is_far_behind_writes_each_document_once_whatever_links_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [f"http://p{number:02}.example.org/" for number in range(20)]
    crawl = Crawl()
    crawl.put(*(page(key, key, 1, *(link(other, f"to {other}") for other in keys)) for key in keys))

    def puts(batch: int, gathered: int, folder: Path) -> int:
        monkeypatch.setattr(indexer, "BATCH", batch)
        monkeypatch.setattr(indexer, "GATHERED", gathered)
        monkeypatch.setattr(indexer, "FEW", 0)
        with closing(TantivyIndex(folder / "tantivy", writable=True)) as held:
            index, book = Counting(held), PageBook(folder / "book.db", lambda url: url)

            async def run() -> None:
                following = Indexer(crawl, crawl.page, book, index)  # type: ignore[arg-type]
                while await following.step():
                    pass

            asyncio.run(run())
            book.close()
        assert len(everything(folder)) == 20
        assert set(found(folder, '"to http p07"')) == {keys[7]}
        return index.puts

    assert puts(2, 100, tmp_path / "whole") == 20
    assert puts(2, 5, tmp_path / "in parts") > 20  # what is taken in is bounded: some are written again


class Refusing(Counting):
    """Fails at the first call of a method, as an engine that is away."""

    def __init__(self, held: object, method: str) -> None:
        super().__init__(held)
        self._refused = [method]

    def put(self, documents: Sequence[object]) -> None:
        self._fail("put")
        super().put(documents)

    def commit(self, position: int) -> None:
        self._fail("commit")
        self._held.commit(position)  # type: ignore[attr-defined]

    def _fail(self, method: str) -> None:
        if method in self._refused:
            self._refused.clear()
            raise Crashed


@pytest.mark.parametrize("method", ["put", "commit"])
def test_what_an_engine_does_not_take_is_written_later(tmp_path: Path, method: str) -> None:
    crawl = Crawl()
    crawl.put(page(A, "a"), page(B, "b"))
    with closing(TantivyIndex(tmp_path / "tantivy", writable=True)) as held:
        index, book = Refusing(held, method), PageBook(tmp_path / "book.db", lambda url: url)

        async def run() -> None:
            following = Indexer(crawl, crawl.page, book, index)  # type: ignore[arg-type]
            with pytest.raises(Crashed):
                await following.step()
            while await following.step():
                pass

        asyncio.run(run())
        book.close()
        assert held.position() == 2
    assert everything(tmp_path) == {A: (A,), B: (B,)}


def test_the_position_waits_for_all_that_was_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for what an opt-out deleted asks for the position alone."""
    monkeypatch.setattr(indexer, "GATHERED", 2)
    crawl = Crawl()
    crawl.put(page(A, "a"), page(B, "b"), page(C, "c"))
    with closing(TantivyIndex(tmp_path / "tantivy", writable=True)) as held:
        book = PageBook(tmp_path / "book.db", lambda url: url)
        seen: list[tuple[int, int]] = []

        async def run() -> None:
            following = Indexer(crawl, crawl.page, book, held)
            while await following.step():
                seen.append((held.count(), held.position()))

        asyncio.run(run())
        book.close()
    assert seen == [(2, 0), (3, 3)]


def test_a_book_that_was_lost_is_made_anew(tmp_path: Path) -> None:
    crawl = Crawl()
    crawl.put(page(A, "a", 1, link(B, "anchored")), page(B, "b"))
    index_all(tmp_path, crawl)
    (tmp_path / "book.db").unlink()
    for rest in tmp_path.glob("book.db-*"):
        rest.unlink()
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {A: (A,), B: (B,)} and list(found(tmp_path, "anchored")) == [B]
    crawl.erase(A)
    index_all(tmp_path, crawl)
    assert everything(tmp_path) == {B: (B,)} and found(tmp_path, "anchored") == {}

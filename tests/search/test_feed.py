"""What every `ChangeFeed` keeps."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from gregor.schemas.messages import Row
from gregor.worker.adapters.embedded import EmbeddedFeed, FolderError
from gregor.worker.adapters.embedded.erasing import erase
from gregor.worker.borders.changes import ChangeFeed, UrlChange
from gregor.worker.borders.errors import Damaged
from gregor.worker.config.settings import Config
from gregor.worker.library.follow import StoredPages
from gregor.worker.operate.erase import Whose
from gregor.worker.web.urls import Urls
from tests.search.stored import crawl, page, row, store

A, B, C = (f"http://{name}.example.org/" for name in "abc")


def refuse(damage: Damaged) -> None:
    raise damage


async def changes(feed: ChangeFeed, after: int = 0) -> list[UrlChange]:
    return await feed.changes(after, 1000)


def followed(folder: Path, use: Callable[[ChangeFeed], Awaitable[None]]) -> None:
    async def run() -> None:
        feed = EmbeddedFeed(folder, refuse)
        try:
            await use(feed)
        finally:
            await feed.close()

    asyncio.run(run())


@pytest.mark.parametrize("followed_first", [True, False])
def test_every_page_is_there_whenever_it_was_stored(tmp_path: Path, followed_first: bool) -> None:
    async def run() -> list[UrlChange]:
        async with crawl(tmp_path / "d") as engine:
            feed = EmbeddedFeed(tmp_path / "d", refuse) if followed_first else None
            await store(engine, page(A, "one"), page(B, "two"))
            feed = feed or EmbeddedFeed(tmp_path / "d", refuse)
            await store(engine, page(C, "three"))
            try:
                assert await feed.end() == (await changes(feed))[-1].position
                assert [one.key for one in await feed.changes(0, 2)] == [A, B]
                return await changes(feed)
            finally:
                await feed.close()

    found = asyncio.run(run())
    assert [(one.key, one.page and one.page.text, one.row) for one in found] == [
        (A, "one", row(A)),
        (B, "two", row(B)),
        (C, "three", row(C)),
    ]


def test_a_change_moves_a_url_to_the_end_as_it_stands(tmp_path: Path) -> None:
    async def run() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(A, "old"), page(B, "two"), page(C, "three"))
            feed = EmbeddedFeed(tmp_path / "d", refuse)
            end = await feed.end()
            assert await changes(feed, end) == []
            await store(engine, page(A, "new", 2))
            await store(engine, page(B, visit=2), state="gone")
            await store(engine, page(C, visit=2), state="fetched")  # the same as before: nothing is new
            await store(engine, page("http://d.example.org/"), state="gone")  # nothing was ever kept of it
            found = await changes(feed, end)
            assert [(one.key, one.page and one.page.visit, one.row and one.row.state) for one in found] == [
                (A, 2, "fetched"),
                (B, 1, "gone"),
            ]
            assert [one.key for one in await changes(feed)] == [C, A, B]
            await feed.close()

    asyncio.run(run())


@pytest.mark.parametrize("followed_before", [True, False])
def test_what_becomes_a_page_is_a_change(tmp_path: Path, followed_before: bool) -> None:
    async def run() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(B, "two"))
            await engine.store.put_page(page(A, "old", requisite=True), None, None, 1)
            shown = msgspec.structs.replace(row(A), requisite=True)
            await engine.store.put_rows([shown], 2)
            if followed_before:  # by a version that did not know of it
                await EmbeddedFeed(tmp_path / "d", refuse).close()
                with sqlite3.connect(tmp_path / "d" / "crawl.db") as connection:
                    connection.execute("DROP TRIGGER feed_linked")
                    connection.execute("UPDATE meta SET value = 'whole' WHERE name = 'feed'")
            feed = EmbeddedFeed(tmp_path / "d", refuse)
            end = await feed.end()
            await engine.store.put_rows([msgspec.structs.replace(shown, depth=1, label="x", unchanged=3)], 3)
            assert await changes(feed, end) == []
            await engine.store.put_rows([row(A)], 4)
            assert [(one.key, one.row) for one in await changes(feed, end)] == [(A, row(A))]
            await feed.close()

    asyncio.run(run())


def test_a_program_is_given_what_becomes_a_page_then(tmp_path: Path) -> None:
    shown = msgspec.structs.replace(row(A), requisite=True)

    async def write(*rows: Row) -> None:
        async with crawl(tmp_path / "d") as engine:
            if not rows:
                await engine.store.put_page(page(A, "shown", requisite=True), None, None, 1)
            await engine.store.put_rows(rows or [shown], 2)

    async def make() -> None:
        async with crawl(tmp_path / "d"):
            pass

    asyncio.run(make())
    stored = StoredPages(Config(data=str(tmp_path / "d")))
    try:
        asyncio.run(write())
        assert stored.next() == []
        asyncio.run(write(row(A)))
        assert [given.url for given in stored.next()] == [A] and stored.next() == []
    finally:
        stored.close()


def test_what_an_opt_out_deletes_is_a_change_and_no_position_comes_twice(tmp_path: Path) -> None:
    async def run() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(A, "one"), page(B, "two"))
        feed = EmbeddedFeed(tmp_path / "d", refuse)
        end = await feed.end()
        erase(tmp_path / "d", Whose.of("b.example.org", Urls()))
        found = await changes(feed, end)
        assert {(one.key, one.page) for one in found} == {(B, None)}
        end = await feed.end()
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(C, "three"))
        assert [one.key for one in await changes(feed, end)] == [C]
        await feed.close()

    asyncio.run(run())


def test_following_that_was_begun_and_cut_short_is_made_whole(tmp_path: Path) -> None:
    async def fill() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(A, "one"), page(B, "two"), page(C, "three"))

    async def all_there(feed: ChangeFeed) -> None:
        assert sorted(one.key for one in await changes(feed)) == [A, B, C]

    asyncio.run(fill())
    followed(tmp_path / "d", all_there)
    with sqlite3.connect(tmp_path / "d" / "crawl.db") as connection:
        connection.execute("DELETE FROM meta WHERE name = 'feed'")
        connection.execute("DELETE FROM feed WHERE key <> ?", (B,))
    followed(tmp_path / "d", all_there)


def test_a_damaged_page_is_told_and_holds_up_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(A, "one"), page(B, "two"))
        with sqlite3.connect(tmp_path / "d" / "crawl.db") as connection:
            connection.execute("UPDATE pages SET data = x'00' WHERE key = ?", (A,))
        told: list[Damaged] = []
        feed = EmbeddedFeed(tmp_path / "d", told.append)
        assert [(one.key, one.page is None) for one in await changes(feed)] == [(A, True), (B, False)]
        assert [damage.name for damage in told] == [A]
        await feed.close()

    asyncio.run(run())


def test_large_pages_come_a_few_at_a_time(tmp_path: Path) -> None:
    async def run() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, *(page(key, key * 1_000_000) for key in (A, B, C)))
        feed = EmbeddedFeed(tmp_path / "d", refuse)
        assert [one.key for one in await changes(feed)] == [A, B]
        await feed.close()

    asyncio.run(run())


def test_a_folder_without_a_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError):
        EmbeddedFeed(tmp_path, refuse)

"""Bodies of pages that were dropped go once no page names them, and no others."""

import asyncio
import hashlib
import io
import os
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from gregor.schemas.messages import Page, Row, stamp
from gregor.worker.adapters.embedded import EmbeddedEngine, dropping, folder, open_engine, open_reader
from gregor.worker.adapters.embedded.bodies import body_path
from gregor.worker.adapters.embedded.dropping import collect
from gregor.worker.borders.errors import Unavailable
from gregor.worker.compose.process import SystemClock

SMALL, LARGE, SHARED = b"small", os.urandom(1 << 21), b"shared" * 300_000
A, B = "http://a/", "http://b/"


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


async def put(engine: EmbeddedEngine, key: str, body: bytes, wire: bytes, number: int) -> None:
    page = Page(key, key, key[7:8], 1, "new", 200, 1.0, body=sha256(body), wire=sha256(wire))
    await engine.store.put_page(page, io.BytesIO(body), io.BytesIO(wire), stamp(1, number))
    await engine.store.put_rows([Row(key, key, key[7:8], 1, "fetched", "", page=1)], stamp(1, number))


async def there(path: Path) -> set[bytes]:
    reader = await open_reader(path)
    try:
        return {body for body in (SMALL, LARGE, SHARED) if await reader.body(sha256(body)) is not None}
    finally:
        await reader.close()


async def dropped(path: Path) -> EmbeddedEngine:
    engine = await open_engine(path, 1, "", SystemClock(), 1.0)
    await put(engine, A, LARGE, SHARED, 1)
    await put(engine, "http://c/", SMALL, SMALL, 2)
    await put(engine, B, SHARED, SHARED, 3)
    for key in (A, "http://c/"):
        await engine.store.drop(key, stamp(1, 9))
    return engine


@pytest.mark.parametrize("twice", [False, True])
def test_what_no_page_names_goes(tmp_path: Path, twice: bool) -> None:
    async def scenario() -> None:
        engine = await dropped(tmp_path)
        assert collect(tmp_path, 3600.0) == 0, "they came loose just now"
        assert await there(tmp_path) == {SMALL, LARGE, SHARED}
        assert collect(tmp_path, -1.0) == 2
        if twice:
            assert collect(tmp_path, -1.0) == 0
        assert await there(tmp_path) == {SHARED}
        await engine.close()

    asyncio.run(scenario())


def test_what_is_stored_again_meanwhile_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = await dropped(tmp_path)
        await put(engine, A, LARGE, SMALL, 20)
        assert collect(tmp_path, -1.0) == 0
        assert await there(tmp_path) == {SMALL, LARGE, SHARED}
        await engine.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("newest_goes", [False, True])
def test_what_a_page_names_that_came_while_the_others_were_looked_at_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newest_goes: bool
) -> None:
    """Also where the newest page is dropped meanwhile, so that SQLite gives its number to the one that came."""
    looked, stored = threading.Event(), threading.Event()
    keep_named = dropping._Collector._keep_named

    def keep(collector: dropping._Collector) -> None:
        keep_named(collector)
        if not looked.is_set():
            looked.set()
            stored.wait(30)

    async def scenario() -> None:
        engine = await dropped(tmp_path)
        collecting = asyncio.create_task(asyncio.to_thread(collect, tmp_path, -1.0))
        await asyncio.to_thread(looked.wait, 30)
        if newest_goes:
            await engine.store.drop(B, stamp(1, 19))
        await put(engine, A, SMALL, SMALL, 20)
        if not newest_goes:  # another page that named it, too, went between the body and the page
            with closing(folder.connect_writable(tmp_path)) as connection:
                connection.execute("INSERT INTO loose_bodies VALUES (?, 1.0)", (sha256(SMALL),))
        stored.set()
        assert await collecting == 1 + newest_goes
        assert await there(tmp_path) == ({SMALL} if newest_goes else {SMALL, SHARED})
        await engine.close()

    monkeypatch.setattr(dropping._Collector, "_keep_named", keep)
    asyncio.run(scenario())


def test_what_a_page_named_that_is_dropped_while_it_is_looked_at_is_loose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, gone = threading.Event(), threading.Event()
    readable = dropping.readable

    def read(key: str, data: bytes) -> Page | None:
        if not looked.is_set():
            looked.set()
            gone.wait(30)
        return readable(key, data)

    async def scenario() -> None:
        engine = await dropped(tmp_path)
        with monkeypatch.context() as patched:
            patched.setattr(dropping, "readable", read)
            collecting = asyncio.create_task(asyncio.to_thread(collect, tmp_path, 0.0))
            await asyncio.to_thread(looked.wait, 30)
            patched.setattr(dropping, "readable", readable)
            await engine.store.drop(B, stamp(1, 19))
            gone.set()
            assert await collecting == 2
        assert collect(tmp_path, 0.0) == 1
        assert await there(tmp_path) == set()
        await engine.close()

    asyncio.run(scenario())


def test_a_large_body_that_a_page_is_about_to_name_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = await dropped(tmp_path)
        later = time.time() + 5
        os.utime(body_path(tmp_path, sha256(LARGE)), (later, later))  # as whoever stores it again does first
        assert collect(tmp_path, -1.0) == 1
        assert await there(tmp_path) == {LARGE, SHARED}
        await engine.close()

    asyncio.run(scenario())


def test_a_folder_in_which_nothing_was_dropped_has_nothing_to_collect(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = await open_engine(tmp_path, 1, "", SystemClock(), 1.0)
        assert collect(tmp_path, -1.0) == 0
        await engine.close()

    asyncio.run(scenario())


def test_what_cannot_be_written_now_is_told_in_words_of_the_border(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever collects goes on later then."""
    monkeypatch.setattr(folder, "_BUSY_SECONDS", 0.01)

    async def scenario() -> None:
        engine = await dropped(tmp_path)
        with closing(folder.connect_writable(tmp_path)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable):
                collect(tmp_path, -1.0)
        assert collect(tmp_path, -1.0) == 2
        await engine.close()

    asyncio.run(scenario())

"""Index and store are compared by key and version, and made the same again; what is told is what is wrong."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import tantivy

from gregor.search.adapters import generations
from gregor.search.adapters.tantivy_index import TantivyIndex
from gregor.search.documents import IndexedDocument
from gregor.worker.commands.cli import main
from gregor.worker.compose import comparing
from tests.search.stored import crawl, page, store
from tests.search.test_index import document

A, B, C = "http://a.example.org/", "http://b.example.org/", "http://c.example.org/"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder whose index is as it should be."""

    async def make() -> None:
        async with crawl(tmp_path / "d") as engine:
            await store(engine, page(A, "one"), page(f"{A}2", "one", state="duplicate"), page(B, "two"))
            await store(engine, page(C, "three"), page(C, "four", 2), page(f"{C}x", "x", directives=("noindex",)))
            await store(engine, page(f"{B}gone", "was there"))
            await store(engine, page(f"{B}gone", "was there"), state="gone")

    asyncio.run(make())
    assert main(["index", "--once", "--data", str(tmp_path / "d")]) == 0
    return tmp_path / "d"


def check(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[tuple[str, str]], str]:
    """The exit code, what differs, and what is said."""
    capsys.readouterr()
    code = main(["check", "--index", "--json", "--data", str(data), *words])
    captured = capsys.readouterr()
    places = [json.loads(line)["place"] for line in captured.out.splitlines()]
    return code, sorted((kind, key) for kind, key in places), captured.err


@contextmanager
def written(data: Path) -> Iterator[TantivyIndex]:
    """The index in use, written past all that keeps it right."""
    generation = generations.current(data / "index")
    assert generation is not None
    index = TantivyIndex(generation / "tantivy", writable=True)
    yield index
    index.commit(index.position())
    index.close()


def lost(index: TantivyIndex) -> None:
    index.remove([b"two".hex()])


def strange(index: TantivyIndex) -> None:
    index.put([document("strange", "Strange")])


def forgot_a_url(index: TantivyIndex) -> None:
    index.put([IndexedDocument(b"one".hex(), ((A, 1),), A, "a.example.org", "", "one")])


def of_before(index: TantivyIndex) -> None:
    index.put([IndexedDocument(b"four".hex(), ((C, 1),), C, "c.example.org", "", "three")])


def twice(index: TantivyIndex) -> None:
    other = IndexedDocument("other", ((B, 1),), B, "b.example.org", "", "two")
    index.put([other])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lost, [("missing", B)]),
        (strange, [("foreign", "http://strange.example.org/strange")]),
        (forgot_a_url, [("missing", f"{A}2")]),
        (of_before, [("stale", C)]),
        (twice, [("foreign", B)]),
    ],
)
def test_what_is_wrong_is_told_and_mended(
    data: Path, capsys: pytest.CaptureFixture[str], wrong: Callable[[TantivyIndex], None], told: list[tuple[str, str]]
) -> None:
    assert check(data, capsys)[:2] == (0, [])
    with written(data) as index:
        wrong(index)
    code, differing, said = check(data, capsys)
    assert (code, differing) == (1, told) and "1 can be mended: `gregor check --index --mend`" in said
    code, differing, said = check(data, capsys, "--mend")
    assert (code, differing) == (0, told) and "1 mended" in said
    assert check(data, capsys)[:2] == (0, [])


def test_a_document_that_is_there_twice_is_told_and_mended(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with written(data) as index:
        index._writing().add_document(_copy(index, b"two".hex()))
    assert check(data, capsys)[:2] == (1, [("doubled", B)])
    assert check(data, capsys, "--mend")[0] == 0
    assert check(data, capsys)[:2] == (0, [])


def test_what_nobody_took_in_is_missing_and_that_is_said(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_IDLE", 0.3)
    asyncio.run(_more(data))
    code, differing, said = check(data, capsys)
    assert (code, differing) == (1, [("missing", f"{C}new")])
    assert "1 change behind the crawl, and nobody takes them in" in said


def test_where_there_is_no_index_that_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(_more(tmp_path / "d"))
    code, _, said = check(tmp_path / "d", capsys)
    assert code == 2 and "holds no index: make one with `gregor index`" in said and said.count("\n") == 1


async def _more(data: Path) -> None:
    async with crawl(data) as engine:
        await store(engine, page(f"{C}new", "new"))


def _copy(index: TantivyIndex, name: str) -> "tantivy.Document":
    hit = index.document(name)
    return tantivy.Document(id=name, shown=msgspec.msgpack.encode(hit))

"""Ranks by Spark, of tables that the exporter writes: those of one machine."""

import asyncio
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gregor.search.adapters import spark_ranks
from gregor.search.adapters.book import PageBook
from gregor.search.adapters.link_rows import number_of
from gregor.search.ranking import LinkRules, ranked
from gregor.worker.commands.cli import main
from gregor.worker.compose.ranks import KeyOf
from gregor.worker.web.urls import Urls
from tests.search.stored import crawl, link, page, store

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="Spark runs on a Java")
RULES = LinkRules(0.5, 0.25, True, frozenset({"h1.example.org", "h7.example.org"}))


def web() -> Iterator[Any]:
    """Pages that link to each other unevenly, within hosts and between, with duplicates and what is not found."""
    chance = np.random.default_rng(7)
    urls = [f"http://h{number % 11}.example.org/{number}" for number in range(160)]
    for number, url in enumerate(urls):
        targets = (len(urls) * chance.random(chance.integers(0, 12)) ** 2).astype(int)
        links = [link(urls[at], f"text {at % 3}", nofollow=bool(at % 7 == 0)) for at in targets]
        links += [link(f"{urls[0]}#part", "again"), link("http://nowhere.example.org/", "lost"), link(url, "itself")]
        copied = number >= 150
        yield page(
            url,
            f"text {number - 10 if copied else number}",
            1,
            *links,
            state="duplicate" if copied else "fetched",
            duplicate_of=urls[number - 10] if copied else "",
            directives=("noindex",) if number % 40 == 39 else (),
        )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with an index, and its tables beside it."""
    folder = tmp_path_factory.mktemp("spark") / "data"

    async def fill() -> None:
        async with crawl(folder) as engine:
            await store(engine, *web())

    asyncio.run(fill())
    assert main(["index", "--once", "--data", str(folder)]) == 0
    for table in ("pages", "links"):
        to = ["--output", str(folder.parent / f"{table}.parquet")]
        assert main(["export", "parquet", table, *to, "--data", str(folder)]) == 0
    return folder


@pytest.fixture
def book(data: Path) -> Iterator[PageBook]:
    opened = PageBook(next((data / "index").glob("[0-9]*")) / "book.db", lambda url: None)
    yield opened
    opened.close()


@needs_java
def test_ranks_are_those_of_one_machine(data: Path, book: PageBook) -> None:
    here = ranked(book.nodes(), book.links(), RULES, {})
    with spark_ranks.session("local[2]") as session:
        there = spark_ranks.ranked(session, data.parent, KeyOf(Urls()), RULES, {})
    contents = book.contents()
    by_content = {contents[number_of(document.content)]: document for document in there.documents}
    assert len(by_content) == len(here.documents) > 140 and here.links == there.links > 300
    for document in here.documents:
        assert by_content[document.content].rank == pytest.approx(document.rank, abs=1e-9)
        assert by_content[document.content].bucket == document.bucket
    assert [host.host for host in here.hosts] == [host.host for host in there.hosts]
    for ours, theirs in zip(here.hosts, there.hosts, strict=True):
        assert ours.rank == pytest.approx(theirs.rank, abs=1e-9)
        assert (ours.harmonic, ours.documents) == (theirs.harmonic, theirs.documents)


def test_what_spark_computed_goes_into_the_index(
    data: Path, book: PageBook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ranked(book.nodes(), book.links(), LinkRules(), {})
    keys = {content: number for number, content in book.contents().items()}
    urls = {number_of(page.key): page.key for page in web()}
    named = [msgspec.structs.replace(document, content=urls[keys[document.content]]) for document in here.documents]
    computed = msgspec.structs.replace(here, documents=named)
    monkeypatch.setattr(spark_ranks, "session", lambda master: contextlib.nullcontext())
    monkeypatch.setattr(spark_ranks, "ranked", lambda *_: computed)
    words = ["rank", "--spark", "local[2]", "--tables", str(data.parent), "--data", str(data), "--top", "1"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "documents of 11 hosts ranked" in captured.err and len(captured.out.splitlines()) == 1
    assert book.ranks() == pytest.approx({document.content: document.rank for document in here.documents})
    assert main([*words[:4], str(data), *words[5:]]) == 2
    assert "gregor export parquet pages" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--spark", "local[1]"], ["--tables", "."]])
def test_a_master_and_tables_go_together(data: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", "--data", str(data), *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
